import { createModel, openBuiltIn } from '../app/codebases.ts';
import { type CodebaseData, openCodebase } from '../app/threads.ts';
import { serveThread } from '../base/process/thread.ts';

/** Reads and searches the code of a project, in a thread beside the server. */
serveThread(async (data: CodebaseData, log, renew) => {
  const model = createModel(data.model === undefined ? undefined : openBuiltIn(data.model), log);
  const { search, ready, stop } = await openCodebase({ ...data, onWritten: renew }, log, model);
  return { work: search, ready, stop };
});
