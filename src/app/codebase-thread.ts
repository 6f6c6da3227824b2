import { fileURLToPath } from 'node:url';
import type { Log } from '../base/log.ts';
import { pathExists } from '../base/files/files.ts';
import { Thread } from '../base/process/thread.ts';
import type { CodeAnswer, Codebase, CodeQuery } from '../services/codebase/codebase.ts';
import type { CodebaseData } from './open-codebase.ts';

/** An index takes memory, and is read again in a moment. */
const IDLE_MS = 10 * 60_000;

/**
 * A codebase in a thread of its own: reading 21,000 files takes the processor for half a minute, parts of it without a pause.
 * Nothing where the sources run as they are: there is no file for the thread then.
 */
export async function codebaseThread(data: CodebaseData, log: Log): Promise<Codebase | undefined> {
  const file = new URL('./code-thread.cjs', import.meta.url);
  if (!(await pathExists(fileURLToPath(file)))) return undefined;
  log.debug('Code is searched in a separate thread');
  // One that is not written would be lost.
  const idleMs = data.writes === false ? undefined : IDLE_MS;
  const thread = new Thread<CodeQuery, CodeAnswer>({ file, data, log, idleMs });
  return {
    search: (query, signal, tell) => thread.ask(query, signal, tell),
    stop: () => thread.stop(),
  };
}
