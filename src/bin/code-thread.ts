import type { CodebaseData } from '../app/codebases.ts';
import { openCodebase } from '../app/open-codebase.ts';
import { serveThread } from '../base/process/thread.ts';

/** Reads and searches the code of a project, in a thread beside the server. */
serveThread(async (data: CodebaseData, log, renew) => {
  const { search, ready, stop } = await openCodebase({ ...data, onWritten: renew }, log);
  return { work: search, ready, stop };
});
