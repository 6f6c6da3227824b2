import * as z from 'zod';
import { meta, settingMeta } from './setting-meta.ts';

/** What a server does between calls. */
export const liveSettings = {
  watch: z
    .enum(['auto', 'poll', 'off'])
    .default('auto')
    .describe(
      'How a server notices changes between calls: auto (the system reports them; network folders are polled for clients that listen), poll (look every second or so) or off, also --no-watch. Answers are current either way.',
    )
    .register(settingMeta, meta('mode', 'Notice changes: auto, poll, off', { rare: true, off: 'off' })),
  prewarm: z
    .boolean()
    .default(true)
    .describe('After listing its tools, have a server load what a first call needs while it is idle.')
    .register(settingMeta, { rare: true, off: 'false', summary: 'Load nothing ahead of calls' }),
};
