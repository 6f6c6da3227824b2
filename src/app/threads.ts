import { fileURLToPath } from 'node:url';
import { keepPrivate } from '../base/files/file-modes.ts';
import { pathExists } from '../base/files/files.ts';
import type { Log } from '../base/log.ts';
import { Thread } from '../base/process/thread.ts';
import type { Embedder } from '../meaning/vectors.ts';
import type {
  CodeAnswer,
  Codebase,
  CodebaseParts,
  CodeQuery,
  OpenedCodebase,
} from '../services/codebase/codebase.ts';
import type { IndexData, IndexThread } from '../services/memory/open.ts';
import type { Settings } from './settings.ts';

/** An index takes memory, and is read again in a moment. */
const CODE_IDLE_MS = 10 * 60_000;
/** It is asked for once in a long while, and its memory is better given back. */
const INDEX_IDLE_MS = 1_000;

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

/**
 * A codebase in a thread of its own: reading 21,000 files takes the processor for half a minute, parts of it without a pause.
 * Nothing where the sources run as they are: there is no file for the thread then.
 */
export async function codebaseThread(data: CodebaseData, log: Log): Promise<Codebase | undefined> {
  const file = new URL('./code-thread.cjs', import.meta.url);
  if (!(await pathExists(fileURLToPath(file)))) return undefined;
  log.debug('Code is searched in a separate thread');
  // One that is not written would be lost.
  const idleMs = data.writes === false ? undefined : CODE_IDLE_MS;
  const thread = new Thread<CodeQuery, CodeAnswer>({ file, data, log, idleMs });
  return {
    search: (query, signal, tell) => thread.ask(query, signal, tell),
    stop: () => thread.stop(),
  };
}

/** What a thread begins with: it knows only what it is handed. */
type IndexMakerData = Pick<Settings, 'privateFolders'>;

/**
 * Makes indexes of memories in a thread of its own: a hundred thousand lines take the processor for a quarter of a minute. Where the
 * sources run as they are, there is no file for the thread, and it is done page by page among the calls.
 */
export async function indexThread({ privateFolders, log }: Settings): Promise<IndexThread> {
  const file = new URL('./memory-thread.cjs', import.meta.url);
  if (!(await pathExists(fileURLToPath(file)))) return (await openIndexMaker({ privateFolders })).work;
  log.debug('Indexes of memories are made in a separate thread');
  const data: IndexMakerData = { privateFolders };
  const thread = new Thread<IndexData, void>({ file, data, log, idleMs: INDEX_IDLE_MS });
  return (ask, signal, tell) => thread.ask(ask, signal, tell);
}

/** The other side of it. */
export async function openIndexMaker({ privateFolders }: IndexMakerData) {
  await keepPrivate(privateFolders);
  const { makeIndex } = await import('../services/memory/memory.ts');
  return { work: makeIndex, ready: () => Promise.resolve(), stop: () => undefined };
}
