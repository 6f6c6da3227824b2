import { fileURLToPath } from 'node:url';
import { keepPrivate } from '../base/files/file-modes.ts';
import { pathExists } from '../base/files/files.ts';
import { Thread } from '../base/process/thread.ts';
import type { IndexData, IndexThread } from '../services/memory/open.ts';
import type { Settings } from './settings.ts';

/** It is asked for once in a long while, and its memory is better given back. */
const IDLE_MS = 1_000;

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
  const thread = new Thread<IndexData, void>({ file, data, log, idleMs: IDLE_MS });
  return (ask, signal, tell) => thread.ask(ask, signal, tell);
}

/** The other side of it. */
export async function openIndexMaker({ privateFolders }: IndexMakerData) {
  await keepPrivate(privateFolders);
  const { makeIndex } = await import('../services/memory/memory.ts');
  return { work: makeIndex, ready: () => Promise.resolve(), stop: () => undefined };
}
