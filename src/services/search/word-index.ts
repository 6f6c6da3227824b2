import { push } from '../../base/values.ts';
import { lettersApart } from '../../base/text/suggest.ts';
import { rarity } from '../../meaning/words.ts';
import { type Field, FIELDS } from './record-text.ts';
import type { WordTable } from './word-table.ts';

/** One word of a question as the terms that may stand for it, each with what it counts. */
export type Slot = ReadonlyMap<string, number>;

/** A word of a question in a record. */
interface Matched {
  field: Field;
  term: string;
  part: number;
}

/** What a question's words lead to. */
export interface WordHits {
  /** The score of each record, 0 where it has none of the words. */
  scores: Float64Array;
  /** The highest of them. */
  best: number;
  /** From 0 to 1: how much of what was asked the record at a position has. */
  covers(at: number): number;
  /** Where the words were found in it, what counted most first. */
  matched(at: number): Matched[];
}

const K1 = 1.2;
const PREFIX_SHARE = 0.7;
const TYPO_SHARE = 0.7;
const SHORTEST_PREFIX = 3;
/** Shorter words that are not in the index happen to be the beginning of others: `chat` is not `chatgpt`. */
const SHORT_PREFIX = 5;
const SHORT_PREFIX_SHARE = 0.25;
/** In shorter words the first letter is seldom the wrong one: `port` is not what `dort` was meant to be. */
const FIRST_LETTER_SLIPS = 7;
/** A prefix of everything says nothing. */
const MOST_NEAR = 200;

/** Which records a question's words lead to: BM25 over weighed fields. */
export class WordIndex {
  readonly #table: WordTable;
  #byLength: Map<number, string[]> | undefined;

  constructor(table: WordTable) {
    this.#table = table;
  }

  /**
   * The terms that begin with this one, and, for a word that is not in the index, those a typo or two away from it.
   * Words that express a wish are not typos.
   */
  near(term: string, mayBeSlip = true): Map<string, number> {
    const { terms } = this.#table;
    const found = new Map<string, number>();
    const start = firstFrom(terms, term);
    const isKnown = terms[start] === term;
    if (term.length >= SHORTEST_PREFIX) {
      const chance = term.length < SHORT_PREFIX && !isKnown;
      const share = chance ? SHORT_PREFIX_SHARE : PREFIX_SHARE;
      for (let at = start; found.size < MOST_NEAR; at++) {
        const other = terms[at];
        if (other?.startsWith(term) !== true) break;
        if (other !== term) found.set(other, (share * term.length) / other.length);
      }
    }
    const slips = slipsIn(term);
    if (!mayBeSlip || slips === 0 || isKnown) return found;
    for (let length = term.length - slips; length <= term.length + slips; length++) {
      for (const other of this.#ofLength(length)) {
        if (term.length < FIRST_LETTER_SLIPS && other[0] !== term[0]) continue;
        const apart = lettersApart(term, other, slips);
        const weight = TYPO_SHARE * (1 - apart / term.length);
        if (apart <= slips && weight > (found.get(other) ?? 0)) found.set(other, weight);
      }
    }
    return found;
  }

  #ofLength(length: number): readonly string[] {
    if (this.#byLength === undefined) {
      this.#byLength = new Map();
      for (const term of this.#table.terms) push(this.#byLength, term.length, term);
    }
    return this.#byLength.get(length) ?? [];
  }

  /** However many of its terms a record has, a word counts once: with the one that counts most. */
  find(slots: readonly Slot[]): WordHits {
    const { count, at, weights } = this.#table;
    const scores = new Float64Array(count);
    const parts = new Float64Array(count);
    for (const slot of slots) {
      for (const [term, share] of slot) {
        const { from, to } = this.#postings(term);
        const worth = share * rarity(to - from, count);
        for (let index = from; index < to; index++) {
          const weight = weights[index] as number;
          const part = (worth * weight) / (weight + K1);
          const record = at[index] as number;
          if (part > (parts[record] as number)) parts[record] = part;
        }
      }
      for (const [term] of slot) {
        const { from, to } = this.#postings(term);
        for (let index = from; index < to; index++) {
          const record = at[index] as number;
          scores[record] = (scores[record] as number) + (parts[record] as number);
          parts[record] = 0;
        }
      }
    }
    let best = 0;
    for (let record = 0; record < count; record++)
      if ((scores[record] as number) > best) best = scores[record] as number;
    const whole = slots.reduce((sum, slot) => sum + this.#most(slot), 0);
    return {
      scores,
      best,
      covers: (record) => (scores[record] === 0 ? 0 : (scores[record] ?? 0) / whole),
      matched: (record) => this.#matched(slots, record),
    };
  }

  /** The most a word could count; one that is not in the index is as rare as can be. */
  #most(slot: Slot): number {
    const [[term, share] = ['', 0]] = slot;
    const { from, to } = this.#postings(term);
    return share * rarity(to - from, this.#table.count);
  }

  /** Put together for the few records that are shown. */
  #matched(slots: readonly Slot[], record: number): Matched[] {
    const { count, weights, fields } = this.#table;
    const matched = slots.flatMap((slot) => {
      let best: Matched | undefined;
      for (const [term, share] of slot) {
        const { from, to } = this.#postings(term);
        const index = this.#placeOf(record, from, to);
        if (index === undefined) continue;
        const weight = weights[index] as number;
        const part = (share * rarity(to - from, count) * weight) / (weight + K1);
        if (part > (best?.part ?? 0)) best = { part, field: FIELDS[fields[index] as number] as Field, term };
      }
      return best ?? [];
    });
    return matched.sort((a, b) => b.part - a.part);
  }

  #placeOf(record: number, from: number, to: number): number | undefined {
    const { at } = this.#table;
    let [low, high] = [from, to];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((at[middle] as number) < record) low = middle + 1;
      else high = middle;
    }
    return low < to && at[low] === record ? low : undefined;
  }

  #postings(term: string): { from: number; to: number } {
    const { terms, starts } = this.#table;
    const index = firstFrom(terms, term);
    return terms[index] === term
      ? { from: starts[index] as number, to: starts[index + 1] as number }
      : { from: 0, to: 0 };
  }
}

export function slipsIn(word: string): number {
  return word.length >= 8 ? 2 : word.length >= 4 ? 1 : 0;
}

function firstFrom(sorted: readonly string[], term: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') < term) low = middle + 1;
    else high = middle;
  }
  return low;
}
