import { appendLine } from '../../base/files/file-shared.ts';
import { modifiedInside } from '../../base/files/files.ts';
import { localTime } from '../../base/text/local-time.ts';
import { cut } from '../../base/text/text.ts';

export const ACTIVITY_FILE = 'activity.jsonl';
const QUERY_LENGTH = 80;

/** A line of the kit's log of what was done with its memory, without the time. */
export interface Activity {
  cmd: 'remember' | 'recall';
  agent: string;
  mode: 'semantic' | 'local';
  query: string;
  [more: string]: string | number;
}

export async function hasActivity(memory: string): Promise<boolean> {
  return (await modifiedInside(memory, ACTIVITY_FILE)) !== undefined;
}

export async function logActivity(
  memory: string,
  { cmd, agent, mode, query, ...more }: Activity,
): Promise<void> {
  const ts = localTime(new Date());
  const asked = cut(query.replace(/\s+/g, ' '), QUERY_LENGTH);
  await appendLine(memory, ACTIVITY_FILE, JSON.stringify({ ts, cmd, agent, mode, query: asked, ...more }));
}
