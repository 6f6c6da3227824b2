import { breath } from '../../base/async.ts';
import { analyse } from '../../meaning/analyse.ts';
import { lengthNorm } from '../../meaning/words.ts';
import { type Field, FIELDS, type RecordText, type TextAt } from './record-text.ts';

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
