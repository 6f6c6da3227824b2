import { randomBytes } from 'node:crypto';
import { madeOnce } from '../../../base/values.ts';
import { MEMORY_TYPES, type MemoryEntry, type MemoryHit } from '../../../model/memory.ts';
import { type MemoryQuery, type MemoryStats, spaceText, type VectorSpace } from '../engine.ts';
import {
  type Group,
  type Position,
  ranked,
  rarest,
  type ReadyFilter,
  readyFilter,
  tally,
  weighed,
} from '../rank.ts';
import { damaged, Database, jsonInRow, type SqlValue } from './database.ts';
import { Matrix } from './matrix.ts';

/** The order of lists by type. */
const TYPE_NUMBER =
  "(CASE type WHEN 'shared-context' THEN 0 WHEN 'decisions' THEN 1 WHEN 'agent-learnings' THEN 2 WHEN 'failures' THEN 3 ELSE 4 END)";

/** Whether a memory was reworded, forgotten or superseded. */
export const IS_CHANGED = '(revision > 1 OR forgotten_at IS NOT NULL OR superseded_at IS NOT NULL)';

/** Part of the file's name: a program with other tables has a file of its own, so that two do not rebuild in turns. */
export const SCHEMA = 7;

const TABLES = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  INSERT INTO meta VALUES ('rev', '0'), ('taken', '0');
  CREATE TABLE mark (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE event (seq INTEGER PRIMARY KEY AUTOINCREMENT, of TEXT NOT NULL, line TEXT NOT NULL, file TEXT NOT NULL, body TEXT NOT NULL);
  CREATE UNIQUE INDEX event_of ON event (of, line, file);
  CREATE INDEX event_file ON event (file);
  CREATE TABLE memory (
    rid INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    id TEXT NOT NULL,
    agent TEXT NOT NULL,
    agent_key TEXT NOT NULL,
    tags TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    forgotten_at TEXT,
    superseded_at TEXT,
    revision INTEGER NOT NULL,
    body TEXT NOT NULL,
    terms TEXT NOT NULL,
    rev INTEGER NOT NULL,
    UNIQUE (type, id)
  );
  CREATE INDEX memory_order ON memory (created_at DESC, ${TYPE_NUMBER}, id);
  CREATE INDEX memory_rev ON memory (rev);
  CREATE INDEX memory_filter ON memory (agent_key, type, updated_at, forgotten_at, superseded_at);
  CREATE INDEX memory_changed ON memory (rid) WHERE ${IS_CHANGED};
  CREATE TABLE vector (
    rid INTEGER NOT NULL, space TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (rid, space)
  );
  CREATE VIRTUAL TABLE words USING fts5(terms, content='', contentless_delete=1, tokenize='ascii');`;

/** What the words are looked up by; each opening of the file has its own. */
const LOOKS = `
  CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab('main', 'words', 'row');`;

/** Makes the tables of a new file; several processes may try at once. One whose tables somebody has changed is no use. */
export function makeTables(database: Database): string {
  if (numberIn(database, 'SELECT count(*) AS n FROM sqlite_schema') === 0) {
    database.exec(TABLES);
    const note = "INSERT INTO meta VALUES ('file', ?), ('tables', ?)";
    database.run(note, randomBytes(12).toString('hex'), tablesIn(database));
  }
  if (metaText(database, 'tables') !== tablesIn(database)) throw damaged('its tables are others');
  database.exec(LOOKS);
  return fileName(database);
}

/** A number that rises with each change of the tables. */
const tablesIn = (database: Database): string =>
  String(database.get<{ schema_version: number }>('PRAGMA schema_version')?.schema_version);

/** A name by chance that the file has had since it was made, for as long as its tables are the same. */
export const fileName = (database: Database): string => `${metaText(database, 'file')} ${tablesIn(database)}`;

export interface MemoryRow {
  rid: number;
  /** The memory as JSON; what is filtered and sorted by has columns of its own. */
  body: string;
  terms: string;
}

export const ROW = 'rid, body, terms';

export const entryOf = ({ body }: MemoryRow): MemoryEntry => jsonInRow(body);

/** Words as one column: none of them has a space. */
export const termsText = (terms: readonly string[]): string =>
  terms.map((term) => term.replace(/\s+/g, '')).join(' ');

/** A word as the index sees it: letters and digits of ASCII, so that its tokenizer neither splits nor folds it. */
export function indexed(term: string): string {
  return /^[a-z0-9]+$/.test(term) ? term : `0x${Buffer.from(term, 'utf8').toString('hex')}`;
}

export interface Condition {
  sql: string;
  values: SqlValue[];
}

/** The filter as a condition on the table `memory`. */
export function condition(filter: ReadyFilter): Condition {
  const parts: string[] = [];
  const values: SqlValue[] = [];
  const add = (sql: string, ...more: SqlValue[]): void => {
    parts.push(sql);
    values.push(...more);
  };
  const list = (items: Iterable<string>): string => JSON.stringify([...items]);
  if (filter.types !== undefined) add('type IN (SELECT value FROM json_each(?))', list(filter.types));
  if (filter.agents !== undefined) add('agent_key IN (SELECT value FROM json_each(?))', list(filter.agents));
  for (const tag of filter.tagsAll)
    add('EXISTS (SELECT 1 FROM json_each(tags) AS tag WHERE tag.value = ?)', tag);
  if (filter.since !== undefined) add('updated_at >= ?', filter.since);
  if (filter.until !== undefined) add('updated_at <= ?', filter.until);
  if (!filter.superseded) add('superseded_at IS NULL');
  if (!filter.forgotten) add('forgotten_at IS NULL');
  return { sql: parts.length === 0 ? 'TRUE' : parts.join(' AND '), values };
}

export const IN_ORDER = `ORDER BY created_at DESC, ${TYPE_NUMBER}, id`;

export function after({ createdAt, type, id }: Position): Condition {
  const number = MEMORY_TYPES.indexOf(type);
  return {
    sql: `created_at <= ? AND (created_at < ? OR ${TYPE_NUMBER} > ? OR (${TYPE_NUMBER} = ? AND id > ?))`,
    values: [createdAt, createdAt, number, number, id],
  };
}

export function numberIn(database: Database, sql: string, ...values: SqlValue[]): number {
  return database.get<{ n: number }>(sql, ...values)?.n ?? 0;
}

export function metaText(database: Database, key: string): string | undefined {
  return database.get<{ value: string }>('SELECT value FROM meta WHERE key = ?', key)?.value;
}

/** Mostly they are, which two numbers tell in a tenth of the time that a look at each memory takes. */
export function areAllEmbedded(database: Database, space: VectorSpace): boolean {
  const vectors = 'SELECT count(*) AS n FROM vector WHERE space = ?';
  const memories = 'SELECT count(*) AS n FROM memory';
  return numberIn(database, memories) === numberIn(database, vectors, spaceText(space));
}

/** One look at all rows: each takes its time where there are a hundred thousand. */
export function statsIn(database: Database): MemoryStats {
  return tally(
    database.all<Group>(
      `SELECT type, agent, max(superseded_at) AS supersededAt, max(forgotten_at) AS forgottenAt, count(*) AS n,
              min(created_at) AS createdAt, max(updated_at) AS updatedAt
       FROM memory GROUP BY type, agent, superseded_at IS NULL, forgotten_at IS NULL`,
    ),
  );
}

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
  known.follow();
  const frequencies = new Map(Array.from(new Set(terms), (term) => [term, known.of(term)]));
  const words = weighed(terms, (term) => frequencies.get(term) ?? 0, known.total, ways);
  const asked = rarest(frequencies, matrix === undefined ? ROWS_BY_WORDS : ROWS_BESIDE_VECTORS, WORDS_ASKED);
  // Tags are not in it.
  const isKnown = ready.tagsAll.length === 0;
  const near =
    vector === undefined
      ? []
      : matrix?.nearest(vector, (rids) => passing(database, ready, rids), count, isKnown);
  const alike = new Set([...(near ?? []), ...byWords(database, asked, ready, count)]);
  const rids = [...alike, ...(all && alike.size < limit ? newest(database, ready, limit, alike) : [])];
  const cosines = vector === undefined ? undefined : matrix?.cosines(database, rids, vector);
  // Drivers take a list as one value only as JSON.
  const rows = `SELECT ${ROW} FROM memory WHERE rid IN (SELECT value FROM json_each(?))`;
  const candidates = database.all<MemoryRow>(rows, JSON.stringify(rids)).map((row) => ({
    entry: entryOf(row),
    terms: row.terms.split(' '),
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

  /** Takes in what has changed since the last time. */
  follow(): void {
    const rev = metaText(this.#database, 'rev') ?? '';
    if (rev === this.#rev) return;
    const changed = 'SELECT count(*) AS n FROM memory WHERE rev > ?';
    this.#changes += numberIn(this.#database, changed, Number(this.#rev));
    this.total = numberIn(this.#database, 'SELECT count(*) AS n FROM memory');
    this.#rev = rev;
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

const frequenciesIn = madeOnce((database: Database) => new Frequencies(database));
