import { keepPrivate } from '../base/files/file-modes.ts';
import type { Log } from '../base/log.ts';
import { type CodebaseData, createModel, openBuiltIn } from './codebases.ts';
import type { CodebaseParts, OpenedCodebase } from '../services/codebase/codebase.ts';

export async function openCodebase(
  { model, privateFolders, ...data }: CodebaseData & Pick<CodebaseParts, 'onWritten'>,
  log: Log,
  embedder = createModel(model === undefined ? undefined : openBuiltIn(model), log),
): Promise<OpenedCodebase> {
  await keepPrivate(privateFolders);
  const [{ createCodebase }, { analyse, ANALYSER_VERSION }] = await Promise.all([
    import('../services/codebase/codebase.ts'),
    import('../meaning/analyse.ts'),
  ]);
  return createCodebase({
    ...data,
    log,
    analyser: { id: `words-${ANALYSER_VERSION}`, terms: analyse },
    embedder: await embedder(),
  });
}
