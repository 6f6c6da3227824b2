import { shownText } from '../../base/secrets/masking.ts';
import type { OpenMemory } from './opened.ts';
import { recall } from './recall.ts';

/** Lets others in between two pieces of work; throws when there is nobody left to do it for. */
type Pause = () => Promise<void>;

/** Hardly in any text: what takes time is code that runs for the first time, not what is found. */
const NOWHERE = 'xqzvkw database';

/**
 * Does what the first recall of a process spends most of its time with: opens the store to read, loads its vectors, and asks it
 * a question. The vectors are left for the next one who opens the same file.
 */
export async function rehearseRecall(opened: OpenMemory, pause: Pause): Promise<void> {
  const { store } = await opened.session();
  await pause();
  await store.prepare(pause);
  shownText('The word for the database', opened.hide);
  await pause();
  await recall(opened, {
    query: NOWHERE,
    alternatives: [],
    types: [],
    tags: [],
    limit: 1,
    superseded: false,
  });
  await store.handOn();
}
