import type { MemoryEntry, MemoryHit } from '../../../model/memory.ts';
import type { MemoryQuery } from '../engine.ts';
import {
  type Candidate,
  candidatesFor,
  fused,
  mostFrom,
  passes,
  type QueryWords,
  ranked,
  rarest,
  type ReadyFilter,
  readyFilter,
  weighed,
  type Words,
  wordsIn,
} from '../rank.ts';
import { Database, type SqlValue } from './database.ts';
import { Matrix, type Nearest, type Passing } from './matrix.ts';
import { condition, entryOf, indexed, type MemoryRow, metaText, numberIn, ROW, termsOf } from './rows.ts';

/** Rows that the word index may look through for one query: words that are in more memories tell little. */
const ROWS_BY_WORDS = 20_000;
/** Where there are vectors, what common words lead to has mostly been found by them. */
const ROWS_BESIDE_VECTORS = 3_000;
const WORDS_ASKED = 48;

/** The best by words and the best by vector, each under the filter, weighed exactly. Inside one transaction. */
export function searched(database: Database, matrix: Matrix | undefined, query: MemoryQuery): MemoryHit[] {
  const { terms, ways, vector: wanted, filter, limit, minScore } = query;
  const ready = readyFilter(filter);
  const count = candidatesFor(limit);
  const known = frequenciesIn(database);
  const frequencies = new Map<string, number>();
  for (const term of new Set(terms)) frequencies.set(term, known.of(term));
  const words = weighed(terms, (term) => frequencies.get(term) ?? 0, known.total, ways);
  const asked = rarest(frequencies, matrix === undefined ? ROWS_BY_WORDS : ROWS_BESIDE_VECTORS, WORDS_ASKED);
  const passing: Passing = {
    of: (rids, most) => {
      const taken: number[] = [];
      for (let from = 0; taken.length < most && from < rids.length; from += most)
        for (const [rid, { entry }] of rowsOf(database, rids.slice(from, from + most), known.rev))
          if (passes(entry, ready)) taken.push(rid);
      return taken.slice(0, most);
    },
    all: () => allPassing(database, ready),
  };
  const weigh = createWeighing({
    words,
    limit,
    minScore,
    rows: (rids) => rowsOf(database, rids, known.rev),
    ...(wanted === undefined ? {} : { cosines: (rids) => matrix?.cosines(database, rids, wanted) ?? NONE }),
  });
  if (wanted === undefined || matrix === undefined) return weigh(byWords(database, asked, ready, count));
  const near = matrix.nearest(wanted, passing, count);
  const first = weigh(near.rids, near.bounds);
  // Where the best by vector leave no room for any other, whatever words that has, the words need not be asked for.
  const least = first.length < limit ? minScore : first.at(-1)?.score;
  if (least !== undefined && least > mostFrom(near.others)) return first;
  return weigh(byWords(database, asked, ready, count), near.bounds);
}

const NONE: ReadonlyMap<number, number> = new Map();

function byWords(
  database: Database,
  asked: readonly string[],
  filter: ReadyFilter,
  count: number,
): readonly number[] {
  if (asked.length === 0) return [];
  const where = condition(database, filter);
  const rows = database.all<{ rid: number }>(
    // A file may ask for another order, which may not exist.
    `SELECT m.rid FROM words JOIN memory m ON m.rid = words.rowid
     WHERE words MATCH ? AND words.rank MATCH 'bm25()' AND m.rid BETWEEN 1 AND ${Number.MAX_SAFE_INTEGER}
       AND ${where.sql} ORDER BY words.rank LIMIT ?`,
    asked.map((term) => `"${indexed(term)}"`).join(' OR '),
    ...where.values,
    count,
  );
  return rows.map(({ rid }) => rid);
}

/** Words whose number is kept: some hundred kilobytes. */
const MOST_WORDS = 5_000;
/** A number may be behind by a hundredth. To find it takes as long as it is large, so small ones are never behind. */
const BEHIND = 100;

/** How many memories there are, and how many of them have a word. */
class Frequencies {
  readonly #database: Database;
  readonly #having = new Map<string, { count: number; changes: number }>();
  #changes = 0;
  rev = '';
  total = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /** As of now. Inside a transaction. */
  follow(): this {
    const rev = metaText(this.#database, 'rev') ?? '';
    if (rev === this.rev) return this;
    const changed = 'SELECT count(*) AS n FROM memory WHERE rev > ?';
    this.#changes += numberIn(this.#database, changed, Number(this.rev));
    this.total = numberIn(this.#database, 'SELECT count(*) AS n FROM memory');
    this.rev = rev;
    return this;
  }

  of(term: string): number {
    const kept = this.#having.get(term);
    if (kept !== undefined && (this.#changes - kept.changes) * BEHIND <= kept.count) return kept.count;
    const sql = 'SELECT doc FROM temp.vocabulary WHERE term = ?';
    const count = this.#database.get<{ doc: number }>(sql, indexed(term))?.doc ?? 0;
    if (this.#having.size < MOST_WORDS) this.#having.set(term, { count, changes: this.#changes });
    return count;
  }
}

const frequenciesOf = new WeakMap<Database, Frequencies>();

function frequenciesIn(database: Database): Frequencies {
  const known = frequenciesOf.get(database) ?? new Frequencies(database);
  frequenciesOf.set(database, known);
  return known.follow();
}

interface Taken {
  /** The filter, and the last change that was looked at. */
  filter: string;
  rev: number;
  rids: Uint8Array;
}

/** For rows that come after the last one. */
const ROOM = 1_000;

const taken = new WeakMap<Database, Taken>();

/** Looks at every row, and later, under the same filter, at what has changed since: rows that are gone are no hits. */
function allPassing(database: Database, wanted: ReadyFilter): (rid: number) => boolean {
  const filter = JSON.stringify(wanted, (_, value: unknown) => (value instanceof Set ? [...value] : value));
  const before = taken.get(database);
  const known = before?.filter === filter ? before : { filter, rev: -1, rids: new Uint8Array() };
  const rev = Number(metaText(database, 'rev') ?? 0);
  if (rev !== known.rev) {
    const where = condition(database, wanted);
    // As one text: to take it apart is several times as fast as to receive a hundred thousand rows one by one.
    const sql = (more: string): string =>
      `SELECT json_group_array(rid) AS rids FROM memory WHERE rev > ? AND ${more}`;
    const changed = (more: string, ...values: SqlValue[]): number[] =>
      JSON.parse(database.get<{ rids: string }>(sql(more), known.rev, ...values)?.rids ?? '[]') as number[];
    const most = numberIn(database, 'SELECT max(rid) AS n FROM memory');
    const rids = known.rids.length > most ? known.rids : new Uint8Array(most + ROOM);
    if (rids !== known.rids) rids.set(known.rids);
    if (known.rev >= 0) for (const rid of changed('TRUE')) rids[rid] = 0;
    for (const rid of changed(where.sql, ...where.values)) rids[rid] = 1;
    Object.assign(known, { rev, rids });
    taken.set(database, known);
  }
  const { rids } = known;
  return (rid) => rids[rid] === 1;
}

interface Weighing {
  words: QueryWords;
  limit: number;
  minScore: number | undefined;
  /** Memories by their row. */
  rows(rids: readonly number[]): ReadonlyMap<number, KeptRow>;
  /** How near they are, exactly; only where vectors are compared. */
  cosines?: ((rids: readonly number[]) => ReadonlyMap<number, number>) | undefined;
}

interface Bounded {
  rid: number;
  row: KeptRow;
  words: Words;
  least: number;
  most: number;
}

/**
 * The best of the rows so far. To read a vector takes longer than to weigh words, and how near it is, is roughly known: it is read
 * only where the memory may be among the best.
 */
function createWeighing({ words, limit, minScore, rows, cosines }: Weighing) {
  const seen = new Set<number>();
  const candidates: Candidate[] = [];
  /** What a memory scores at least which is among the best so far. */
  let bar = -Infinity;

  function bounded(rid: number, row: KeptRow, bounds: Nearest['bounds'] | undefined): Bounded {
    const own = wordsIn(words, row.terms);
    const near = bounds?.(rid);
    const score = (cosine: number | undefined): number => fused(cosine, own.coverage, own.numbers);
    // With neither words nor a vector it is no hit at all.
    const least = near === undefined && own.matched.length === 0 ? -Infinity : score(near?.least);
    return { rid, row, words: own, least, most: score(near?.most) };
  }

  /** Weighs these beside those from before. */
  return (rids: readonly number[], bounds?: Nearest['bounds']): MemoryHit[] => {
    const fresh: Bounded[] = [];
    for (const [rid, row] of rows(rids.filter((each) => !seen.has(each)))) {
      seen.add(rid);
      fresh.push(bounded(rid, row, bounds));
    }
    if (bounds !== undefined && fresh.length > limit) {
      const least = Float64Array.from(fresh, (each) => each.least).sort();
      bar = Math.max(bar, least[least.length - limit] ?? -Infinity);
    }
    const hopeful = bounds === undefined ? fresh : fresh.filter(({ most }) => most >= bar);
    const near = cosines?.(hopeful.map(({ rid }) => rid));
    for (const { rid, row, words: own } of hopeful)
      candidates.push({ ...row, words: own, cosine: near?.get(rid) });
    return ranked(words, candidates, { compared: cosines !== undefined, limit, minScore });
  };
}

/** A memory that was looked at closely. */
interface KeptRow {
  entry: MemoryEntry;
  terms: readonly string[];
}

interface Kept {
  rev: string;
  rows: Map<number, KeptRow>;
  characters: number;
}

/** Some megabytes. */
const MOST_CHARACTERS = 4_000_000;

const known = new WeakMap<Database, Kept>();

/**
 * Those of these rows that are memories, in their order. They are kept as long as nothing changes: one question is asked in several
 * wordings, which find much of the same.
 */
function rowsOf(database: Database, rids: readonly number[], rev: string): Map<number, KeptRow> {
  let kept = known.get(database);
  if (kept?.rev !== rev || kept.characters > MOST_CHARACTERS) {
    kept = { rev, rows: new Map(), characters: 0 };
    known.set(database, kept);
  }
  const { rows } = kept;
  const missing = rids.filter((rid) => !rows.has(rid));
  for (const row of missing.length === 0 ? [] : read(database, missing)) {
    rows.set(row.rid, { entry: entryOf(row), terms: termsOf(row.terms) });
    kept.characters += row.body.length + row.terms.length;
  }
  const found = new Map<number, KeptRow>();
  for (const rid of rids) {
    const row = rows.get(rid);
    if (row !== undefined) found.set(rid, row);
  }
  return found;
}

/** Drivers take a list as one value only as JSON. */
function read(database: Database, rids: readonly number[]): MemoryRow[] {
  const sql = `SELECT ${ROW} FROM memory WHERE rid IN (SELECT value FROM json_each(?))`;
  return database.all<MemoryRow>(sql, JSON.stringify(rids));
}
