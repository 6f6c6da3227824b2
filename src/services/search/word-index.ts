import { analyse } from '../../meaning/analyse.ts';
import { FIELDS, type Field, type RecordText } from './record-text.ts';
import { push } from '../../base/grouped.ts';
import { pace } from '../../base/pace.ts';
import { lettersApart } from '../../base/text/letters-apart.ts';
import { lengthNorm, rarity } from '../../meaning/bm25.ts';

/** One word of a question as the terms that may stand for it, each with what it counts. */
export type Slot = ReadonlyMap<string, number>;

export interface WordHit {
  /** Position of the record in what was indexed. */
  at: number;
  score: number;
  /** From 0 to 1: how much of what was asked it has. */
  covers: number;
  /** Where the words were found, what counted most first. */
  matched: readonly { field: Field; term: string; part: number }[];
}

/** Chosen on the tuning half of the labelled sentences; see docs/decisions/0023. Small changes change little. */
const WEIGHTS: Record<Field, number> = {
  name: 2,
  'full name': 4,
  alias: 1,
  title: 3,
  role: 1,
  description: 1.5,
  phase: 0.5,
  menu: 1,
  help: 1,
};
const K1 = 1.2;
const B = 0.25;
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

interface Posting {
  at: number;
  /** How often the term is there, weighed by field and length. */
  weight: number;
  /** Where it counts most. */
  field: Field;
}

/** The terms of each field of a record. */
type Terms = readonly (readonly string[])[];

const termsOf = ({ fields }: RecordText): Terms =>
  FIELDS.map((field) => fields[field].flatMap((text) => analyse(text)));

/** How many records are done before others get their turn. */
const RECORDS_AT_ONCE = 100;

/** The terms of many records; it lets others have their turn, and ends when it is not wanted any more. */
export async function termsOfAll(texts: readonly RecordText[], signal?: AbortSignal): Promise<Terms[]> {
  const terms: Terms[] = [];
  for (const text of texts) {
    if (terms.length % RECORDS_AT_ONCE === RECORDS_AT_ONCE - 1) await pace();
    signal?.throwIfAborted();
    terms.push(termsOf(text));
  }
  return terms;
}

/** The words of records, and which records a question's words lead to: BM25 over weighed fields. */
export class WordIndex {
  readonly #postings = new Map<string, Posting[]>();
  readonly #byLength = new Map<number, string[]>();
  readonly #sorted: readonly string[];
  readonly #count: number;

  constructor(texts: readonly RecordText[], terms: readonly Terms[] = texts.map(termsOf)) {
    this.#count = texts.length;
    const average = FIELDS.map((_, index) =>
      Math.max(1, terms.reduce((sum, ofRecord) => sum + (ofRecord[index]?.length ?? 0), 0) / texts.length),
    );
    terms.forEach((ofRecord, at) => this.#add(at, ofRecord, average));
    this.#sorted = [...this.#postings.keys()].sort();
    for (const term of this.#sorted) push(this.#byLength, term.length, term);
  }

  #add(at: number, ofRecord: Terms, average: readonly number[]): void {
    const found = new Map<string, Posting & { most: number }>();
    ofRecord.forEach((terms, index) => {
      const field = FIELDS[index] as Field;
      const weight = WEIGHTS[field] / lengthNorm(terms.length, average[index] ?? 1, B);
      for (const term of terms) {
        const known = found.get(term);
        if (known === undefined) found.set(term, { at, weight, field, most: weight });
        else {
          known.weight += weight;
          if (weight > known.most) Object.assign(known, { field, most: weight });
        }
      }
    });
    for (const [term, { weight, field }] of found) push(this.#postings, term, { at, weight, field });
  }

  /**
   * The terms that begin with this one, and, for a word that is not in the index, those a typo or two away from it.
   * Words that express a wish are not typos.
   */
  near(term: string, mayBeSlip = true): Map<string, number> {
    const found = new Map<string, number>();
    if (term.length >= SHORTEST_PREFIX) {
      const chance = term.length < SHORT_PREFIX && !this.#postings.has(term);
      const share = chance ? SHORT_PREFIX_SHARE : PREFIX_SHARE;
      for (let at = firstFrom(this.#sorted, term); found.size < MOST_NEAR; at++) {
        const other = this.#sorted[at];
        if (other?.startsWith(term) !== true) break;
        if (other !== term) found.set(other, (share * term.length) / other.length);
      }
    }
    const slips = slipsIn(term);
    if (!mayBeSlip || slips === 0 || this.#postings.has(term)) return found;
    for (let length = term.length - slips; length <= term.length + slips; length++) {
      for (const other of this.#byLength.get(length) ?? []) {
        if (term.length < FIRST_LETTER_SLIPS && other[0] !== term[0]) continue;
        const apart = lettersApart(term, other, slips);
        const weight = TYPO_SHARE * (1 - apart / term.length);
        if (apart <= slips && weight > (found.get(other) ?? 0)) found.set(other, weight);
      }
    }
    return found;
  }

  /** Best first; equal ones in the order of what was indexed. */
  find(slots: readonly Slot[]): WordHit[] {
    const hits = new Map<number, { score: number; matched: WordHit['matched'][number][] }>();
    for (const slot of slots) {
      for (const [at, match] of this.#bestOf(slot)) {
        const hit = hits.get(at) ?? { score: 0, matched: [] };
        hit.score += match.part;
        hit.matched.push(match);
        hits.set(at, hit);
      }
    }
    const whole = slots.reduce((sum, slot) => sum + this.#most(slot), 0);
    return [...hits]
      .map(([at, { score, matched }]) => ({
        at,
        score,
        covers: score / whole,
        matched: matched.sort((a, b) => b.part - a.part),
      }))
      .sort((a, b) => b.score - a.score || a.at - b.at);
  }

  /** The most a word could count; one that is not in the index is as rare as can be. */
  #most(slot: Slot): number {
    const [[term, share] = ['', 0]] = slot;
    return share * rarity(this.#postings.get(term)?.length ?? 0, this.#count);
  }

  /** However many of its terms a record has, a word counts once. */
  #bestOf(slot: Slot): Map<number, WordHit['matched'][number]> {
    const best = new Map<number, WordHit['matched'][number]>();
    for (const [term, share] of slot) {
      const postings = this.#postings.get(term) ?? [];
      const worth = share * rarity(postings.length, this.#count);
      for (const { at, weight, field } of postings) {
        const part = (worth * weight) / (weight + K1);
        if (part > (best.get(at)?.part ?? 0)) best.set(at, { part, field, term });
      }
    }
    return best;
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
