import { push } from '../../base/values.ts';
import { lettersApart } from '../../base/text/suggest.ts';
import { rarity, lengthNorm } from '../../meaning/words.ts';
import { type Field, FIELDS, type RecordText, type TextAt } from './record-text.ts';
import { breath } from '../../base/async.ts';
import { analyse } from '../../meaning/analyse.ts';

/**
 * Which records have which terms. Numbers in a few long rows, because tens of thousands of small objects would take longer
 * to load and to walk.
 */
export interface WordTable {
  /** How many records were indexed. */
  count: number;
  /** All terms, sorted. */
  terms: readonly string[];
  /** Where the records of each term begin in the following rows; one more for the end. */
  starts: Uint32Array;
  /** The positions of records, rising for each term. */
  at: Uint32Array;
  /** How often the term is there, weighed by field and length. */
  weights: Float64Array;
  /** Where it counts most, as a position in `FIELDS`. */
  fields: Uint8Array;
}

/** Chosen on the tuning half of the labelled sentences; see docs/measurements/search.md. Small changes change little. */
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
const B = 0.25;

/** The terms of each field of a record. */
export type Terms = readonly (readonly string[])[];

const termsOf = ({ fields }: RecordText, analysed: Analyse = analyse): Terms =>
  FIELDS.map((field) => fields[field].flatMap((text) => analysed(text)));

/** The terms of many records; it lets others have their turn, and ends when it is not wanted any more. */
export async function termsOfAll(
  count: number,
  textAt: TextAt,
  analysed: Analyse | undefined,
  /** Those of a record whose text has not changed. */
  before: (at: number) => Terms | undefined,
  signal?: AbortSignal,
): Promise<Terms[]> {
  const terms: Terms[] = [];
  for (let at = 0; at < count; at++) {
    await breath();
    signal?.throwIfAborted();
    terms.push(before(at) ?? termsOf(textAt(at), analysed));
  }
  return terms;
}

/** The terms of all records in two rows of numbers: how many each field of each has, and which of the table they are. */
export function termRows(
  terms: readonly Terms[],
  table: WordTable,
): [lengths: Uint32Array, ids: Uint32Array] {
  const numbers = new Map(table.terms.map((term, number) => [term, number]));
  const lengths = terms.flatMap((fields) => fields.map(({ length }) => length));
  const ids = new Uint32Array(lengths.reduce((sum, length) => sum + length, 0));
  let next = 0;
  for (const fields of terms)
    for (const field of fields) for (const term of field) ids[next++] = numbers.get(term) ?? 0;
  return [Uint32Array.from(lengths), ids];
}

/** The terms of each record, from such rows. */
export function termsFromRows(
  terms: readonly string[],
  lengths: Uint32Array,
  ids: Uint32Array,
): (at: number) => Terms {
  const starts = new Uint32Array(lengths.length + 1);
  lengths.forEach((length, field) => (starts[field + 1] = (starts[field] as number) + length));
  return (at) =>
    FIELDS.map((_, index) => {
      const field = at * FIELDS.length + index;
      return Array.from(ids.subarray(starts[field], starts[field + 1]), (id) => terms[id] ?? '');
    });
}

/** The same for a few. */
export function smallWordTable(texts: readonly RecordText[]): WordTable {
  return tableOf(texts.map((text) => termsOf(text)));
}

interface Posting {
  at: number;
  weight: number;
  field: number;
}

/** Indexes records by their terms. */
export function tableOf(terms: readonly Terms[]): WordTable {
  const average = FIELDS.map((_, index) =>
    Math.max(1, terms.reduce((sum, ofRecord) => sum + (ofRecord[index]?.length ?? 0), 0) / terms.length),
  );
  const postings = new Map<string, Posting[]>();
  let size = 0;
  terms.forEach((ofRecord, at) => {
    for (const [term, posting] of postingsOf(at, ofRecord, average)) {
      const known = postings.get(term);
      if (known === undefined) postings.set(term, [posting]);
      else known.push(posting);
      size += 1;
    }
  });
  const table = {
    count: terms.length,
    terms: [...postings.keys()].sort(),
    starts: new Uint32Array(postings.size + 1),
    at: new Uint32Array(size),
    weights: new Float64Array(size),
    fields: new Uint8Array(size),
  };
  let next = 0;
  for (const [index, term] of table.terms.entries()) {
    for (const { at, weight, field } of postings.get(term) ?? []) {
      table.at[next] = at;
      table.weights[next] = weight;
      table.fields[next] = field;
      next += 1;
    }
    table.starts[index + 1] = next;
  }
  return table;
}

function postingsOf(at: number, ofRecord: Terms, average: readonly number[]): Map<string, Posting> {
  const found = new Map<string, Posting & { most: number }>();
  ofRecord.forEach((terms, field) => {
    const weight = WEIGHTS[FIELDS[field] as Field] / lengthNorm(terms.length, average[field] ?? 1, B);
    for (const term of terms) {
      const known = found.get(term);
      if (known === undefined) found.set(term, { at, weight, field, most: weight });
      else {
        known.weight += weight;
        if (weight > known.most) Object.assign(known, { field, most: weight });
      }
    }
  });
  return found;
}

/** The terms of what is built in, made when the server was built: to find them took a third of the first search. */
export const TERMS_FILE = 'search-terms.json';

export type Analyse = (text: string) => readonly string[];

/** The file for these texts. No term has a space in it. */
export function prepareTerms(texts: readonly RecordText[]): string {
  const all = texts.flatMap(({ fields }) => FIELDS.flatMap((field) => fields[field]));
  return JSON.stringify(Object.fromEntries(all.map((text) => [text, analyse(text).join(' ')])));
}

/** Looks up what was prepared; other texts, and all of them without a file that can be read, are analysed. */
export function withTerms(file: Buffer | undefined): Analyse {
  const known = prepared(file);
  return (text) => {
    const terms = known.get(text);
    return terms === undefined ? analyse(text) : terms === '' ? [] : terms.split(' ');
  };
}

function prepared(file: Buffer | undefined): Map<string, string> {
  try {
    return new Map(Object.entries(JSON.parse(file?.toString('utf8') ?? '{}') as Record<string, string>));
  } catch {
    return new Map();
  }
}

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
