import { say, t } from '../../base/text/message.ts';
import type { WatchReport } from '../context.ts';

interface WatchFinding {
  level: 'notice';
  about: 'watching';
  text: string;
}

type Why = WatchReport['polled'][number]['why'];

const REASONS: Record<Exclude<Why, 'asked'>, (code: string) => string> = {
  far: (system) => t`it is on a network or shared disk (${system})`,
  many: () => t`it holds too many folders to watch`,
  limit: (code) => t`the system cannot watch more folders (${code})`,
};

/** What a person can do about the limits of Linux. */
const REMEDIES: Record<string, string> = {
  ENOSPC: ' Raise fs.inotify.max_user_watches to have changes reported immediately.',
  EMFILE:
    ' Raise fs.inotify.max_user_instances, or the limit of open files, to have changes reported immediately.',
};

/** Folders whose changes are found by looking now and then, though nobody has asked for that. */
export function watchFindings(report: WatchReport | undefined): WatchFinding[] {
  return (report?.polled ?? []).flatMap(({ path, why, code = '' }) =>
    why === 'asked'
      ? []
      : [
          {
            level: 'notice' as const,
            about: 'watching' as const,
            text: t`Changes in ${path} are polled: ${REASONS[why](code)}.${say(REMEDIES[code] ?? '')}`,
          },
        ],
  );
}
