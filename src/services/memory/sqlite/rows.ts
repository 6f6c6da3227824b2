import { randomBytes } from 'node:crypto';
import { MEMORY_TYPES, type MemoryEntry } from '../../../model/memory.ts';
import { type MemoryStats, spaceText, type VectorSpace } from '../engine.ts';
import { type Group, type Position, type ReadyFilter, tally } from '../rank.ts';
import { Database, jsonInRow, type SqlValue, strangeIndex } from './database.ts';

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
export function makeTables(database: Database): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    if (numberIn(database, 'SELECT count(*) AS n FROM sqlite_schema') === 0) {
      database.exec(TABLES);
      const note = "INSERT INTO meta VALUES ('file', ?), ('tables', ?)";
      database.run(note, randomBytes(12).toString('hex'), tablesIn(database));
    }
    if (metaText(database, 'tables') !== tablesIn(database)) throw strangeIndex(database.path);
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
  database.exec(LOOKS);
}

/** A number that rises with each change of the tables. */
const tablesIn = (database: Database): string =>
  String(database.get<{ schema_version: number }>('PRAGMA schema_version')?.schema_version);

/** A name by chance that the file has had since it was made, for as long as its tables are the same. */
export const fileName = (database: Database): string | undefined =>
  `${metaText(database, 'file')} ${tablesIn(database)}`;

export interface MemoryRow {
  rid: number;
  /** The memory as JSON; what is filtered and sorted by has columns of its own. */
  body: string;
  terms: string;
}

/** What a row is read by. */
export const ROW = 'rid, body, terms';

export const entryOf = ({ body }: MemoryRow): MemoryEntry => jsonInRow(body);

/** Words as one column: none of them has a space. */
export function termsText(terms: readonly string[]): string {
  return terms.map((term) => term.replace(/\s+/g, '')).join(' ');
}

export const termsOf = (text: string): string[] => (text === '' ? [] : text.split(' '));

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

/** What the index notes about itself. */
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
      `SELECT type, agent, superseded_at IS NOT NULL AS superseded, forgotten_at IS NOT NULL AS forgotten, count(*) AS n,
              min(created_at) AS oldest, max(updated_at) AS newest
       FROM memory GROUP BY 1, 2, 3, 4`,
    ),
  );
}
