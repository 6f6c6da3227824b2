import { shownText } from '../../base/secrets/masking.ts';
import type { OpenMemory } from './opened.ts';
import { recall } from './recall.ts';
import { relationOf } from './relation.ts';

/** Lets others in between two pieces of work; throws when there is nobody left to do it for. */
type Pause = () => Promise<void>;

/** Hardly in any text: what takes time is code that runs for the first time, not what is found. */
const NOWHERE = 'xqzvkw database';

/** Pairs for which one part more of the rules for contradictions is needed each time. */
const PAIRS = [
  ['Invoices are sent by post', 'We keep orders in PostgreSQL'],
  ['We drop PostgreSQL for MongoDB', 'PostgreSQL keeps the orders'],
  ['Story 1.3: /health no longer asks PostgreSQL', 'Story 1.3: /health asks PostgreSQL'],
] as const;
/** Patterns are compiled when they are used for the second time. */
const ROUNDS = ['once', 'twice'];

/**
 * Does what the first recall of a process spends most of its time with: opens the store to read, loads its vectors, and asks it
 * a question. The vectors are left for the next one who opens the same file.
 */
export async function rehearseRecall(opened: OpenMemory, pause: Pause): Promise<void> {
  const { store } = await opened.session();
  await pause();
  await store.prepare(pause);
  for (const round of ROUNDS) {
    for (const pair of PAIRS) {
      await pause();
      const [one, other] = pair.map((each) => {
        const text = `${each} ${round}`;
        return { type: 'decisions', text, terms: opened.analyser.terms(text) };
      });
      if (one !== undefined && other !== undefined) relationOf(one, other, undefined);
    }
    await pause();
    shownText(`The word for the database, ${round}`, opened.hide);
  }
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
