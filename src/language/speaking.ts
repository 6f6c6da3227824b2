import { AsyncLocalStorage } from 'node:async_hooks';
import { speakAs, type Catalogue } from '../base/text/message.ts';

/** The programs consist of several files, each with its own copy of this one. */
const STORAGE = Symbol.for('bmad-mcp-server: for whom something is done');
const state = globalThis as { [STORAGE]?: AsyncLocalStorage<Catalogue> };

/** Does something for a person, in their words; without words, in English. What runs beside it is not concerned. */
export function speaking<T>(words: Catalogue | undefined, work: () => T): T {
  if (words === undefined) return work();
  const storage = (state[STORAGE] ??= new AsyncLocalStorage());
  speakAs(() => storage.getStore());
  return storage.run(words, work);
}
