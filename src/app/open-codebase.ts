import { keepPrivate } from '../base/files/file-modes.ts';
import type { Log } from '../base/log.ts';
import type { Embedder } from '../meaning/vectors.ts';
import type { CodebaseParts, OpenedCodebase } from '../services/codebase/codebase.ts';

/** What a codebase is opened with, here or in a thread: everything in it can be copied. */
export interface CodebaseData extends Pick<
  CodebaseParts,
  'root' | 'cache' | 'writes' | 'budgetMs' | 'background' | 'watch' | 'env'
> {
  /** The folder of the built-in model; nothing where meaning is switched off. */
  model: string | undefined;
  /** The user's folders: a thread knows only what it is handed. */
  privateFolders: readonly string[];
}

export async function openCodebase(
  { privateFolders, ...data }: CodebaseData & Pick<CodebaseParts, 'onWritten'>,
  log: Log,
  embedder: () => Promise<Embedder | undefined>,
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
