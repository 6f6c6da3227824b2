import type { MemoryHit } from '../../../model/memory.ts';
import type { MemoryQuery } from '../engine.ts';
import { ranked, rarest, type ReadyFilter, readyFilter, weighed } from '../rank.ts';
import { Database } from './database.ts';
import { Matrix } from './matrix.ts';
import {
  condition,
  entryOf,
  IN_ORDER,
  indexed,
  type MemoryRow,
  metaText,
  numberIn,
  ROW,
  termsOf,
} from './rows.ts';

/** Rows that the word index may look through for one query: words that are in more memories tell little. */
const ROWS_BY_WORDS = 20_000;
/** Where there are vectors, what common words lead to has mostly been found by them. */
const ROWS_BESIDE_VECTORS = 3_000;
const WORDS_ASKED = 48;
/** Weighed exactly for each that is shown. */
const CANDIDATES = 4;

/** The best by words and the best by vector, each under the filter, weighed exactly. Inside one transaction. */
export function searched(database: Database, matrix: Matrix | undefined, query: MemoryQuery): MemoryHit[] {
  const { terms, ways, vector, filter, limit, all = false } = query;
  const ready = readyFilter(filter);
  const count = limit * CANDIDATES;
  const known = frequenciesIn(database);
  const frequencies = new Map(Array.from(new Set(terms), (term) => [term, known.of(term)]));
  const words = weighed(terms, (term) => frequencies.get(term) ?? 0, known.total, ways);
  const asked = rarest(frequencies, matrix === undefined ? ROWS_BY_WORDS : ROWS_BESIDE_VECTORS, WORDS_ASKED);
  const near =
    vector === undefined ? [] : matrix?.nearest(vector, (rids) => passing(database, ready, rids), count);
  const alike = new Set([...(near ?? []), ...byWords(database, asked, ready, count)]);
  const rids = [...alike, ...(all && alike.size < limit ? newest(database, ready, limit, alike) : [])];
  const cosines = vector === undefined ? undefined : matrix?.cosines(database, rids, vector);
  // Drivers take a list as one value only as JSON.
  const rows = `SELECT ${ROW} FROM memory WHERE rid IN (SELECT value FROM json_each(?))`;
  const candidates = database.all<MemoryRow>(rows, JSON.stringify(rids)).map((row) => ({
    entry: entryOf(row),
    terms: termsOf(row.terms),
    cosine: cosines?.get(row.rid),
  }));
  return ranked(words, candidates, query);
}

function newest(database: Database, filter: ReadyFilter, count: number, but: ReadonlySet<number>): number[] {
  const where = condition(filter);
  const sql = `SELECT rid FROM memory WHERE +(${where.sql}) ${IN_ORDER} LIMIT ?`;
  const rows = database.all<{ rid: number }>(sql, ...where.values, count);
  return rows.map(({ rid }) => rid).filter((rid) => !but.has(rid));
}

function byWords(
  database: Database,
  asked: readonly string[],
  filter: ReadyFilter,
  count: number,
): readonly number[] {
  if (asked.length === 0) return [];
  const where = condition(filter);
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

/** What a filter takes of some rows, or of all. As one text: to receive a hundred thousand rows takes several times as long. */
function passing(database: Database, wanted: ReadyFilter, rids?: readonly number[]): ReadonlySet<number> {
  const where = condition(wanted);
  const among = rids === undefined ? '' : 'rid IN (SELECT value FROM json_each(?)) AND';
  const found = database.get<{ rids: string }>(
    `SELECT json_group_array(rid) AS rids FROM memory WHERE ${among} ${where.sql}`,
    ...(rids === undefined ? [] : [JSON.stringify(rids)]),
    ...where.values,
  );
  return new Set(JSON.parse(found?.rids ?? '[]') as number[]);
}

const MOST_WORDS = 5_000;
/** A number may be behind by a hundredth. To find it takes as long as it is large, so small ones are never behind. */
const BEHIND = 100;

class Frequencies {
  readonly #database: Database;
  readonly #having = new Map<string, { count: number; changes: number }>();
  #changes = 0;
  #rev = '';
  total = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  follow(): this {
    const rev = metaText(this.#database, 'rev') ?? '';
    if (rev === this.#rev) return this;
    const changed = 'SELECT count(*) AS n FROM memory WHERE rev > ?';
    this.#changes += numberIn(this.#database, changed, Number(this.#rev));
    this.total = numberIn(this.#database, 'SELECT count(*) AS n FROM memory');
    this.#rev = rev;
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
