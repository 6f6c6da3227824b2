import { push } from '../../../base/values.ts';
import type { MemoryEntry, MemoryKey, MemoryRevision } from '../../../model/memory.ts';
import { type Happened, happenedIn, onceEach, type Page } from '../../../lines/line.ts';
import {
  type Heads,
  keyText,
  spaceText,
  type Stored,
  type StoreOptions,
  type Taken,
  type VectorFor,
  type VectorSpace,
} from '../engine.ts';
import { coveredBy, entityOf, headsAmong, isErased, keyOfEntity, memoryOf } from '../fold.ts';
import { termsOf } from '../rank.ts';
import { Database, jsonInRow } from './database.ts';
import { entryOf, indexed, IS_CHANGED, type MemoryRow, metaText, numberIn, ROW, termsText } from './rows.ts';

interface StoredRow extends Stored {
  rid: number;
  terms: string;
}

/** Those of these memories that there are; asked for together, because each question has its price. */
export function readStored(database: Database, keys: readonly MemoryKey[]): Map<string, StoredRow> {
  const asked = JSON.stringify(keys.map(({ type, id }) => [type, id]));
  const sql = `SELECT ${ROW}, revisions FROM json_each(?) k CROSS JOIN memory m ON m.type = k.value ->> 0 AND m.id = k.value ->> 1`;
  return new Map(
    database
      .all<WholeRow>(sql, asked)
      .map(storedOf)
      .map((row) => [keyText(row.entry), row]),
  );
}

export function readChanged(database: Database): Stored[] {
  const sql = `SELECT ${ROW}, revisions FROM memory INDEXED BY memory_changed WHERE ${IS_CHANGED}`;
  return database.all<WholeRow>(sql).map(storedOf);
}

type WholeRow = MemoryRow & { revisions: string | null };

function storedOf({ revisions, ...row }: WholeRow): StoredRow {
  const earlier = revisions === null ? [] : jsonInRow<MemoryRevision[]>(revisions);
  return { rid: row.rid, terms: row.terms, entry: entryOf(row), revisions: earlier };
}

/** The number of this transaction; every row that it changes carries it. */
function nextRev(database: Database): number {
  const rev = Number(metaText(database, 'rev') ?? 0) + 1;
  database.run("INSERT OR REPLACE INTO meta VALUES ('rev', ?)", String(rev));
  return rev;
}

const COLUMNS =
  'type id agent tags created_at updated_at forgotten_at superseded_at body revisions terms rev rid'.split(
    ' ',
  );
const PUT = `INSERT OR REPLACE INTO memory (${COLUMNS.join()}) VALUES (${COLUMNS.map(() => '?').join()})`;

/** Brings the row of a memory to what its lines say now; inside a transaction of the caller, who writes the words. */
function writeStored(
  database: Database,
  current: StoredRow | undefined,
  { entry, revisions }: Stored,
  { analyser }: StoreOptions,
  { rev, fresh }: { rev: number; fresh: number },
): { rid: number; words: string } | undefined {
  const isReworded = current === undefined || wordsIn(current.entry) !== wordsIn(entry);
  const terms = isReworded ? termsOf(analyser, entry) : [];
  const rid = current?.rid ?? fresh;
  database.run(
    PUT,
    entry.type,
    entry.id,
    entry.agent,
    JSON.stringify(entry.tags),
    entry.createdAt,
    entry.updatedAt,
    entry.forgottenAt ?? null,
    entry.supersededAt ?? null,
    JSON.stringify(entry),
    revisions.length === 0 ? null : JSON.stringify(revisions),
    isReworded ? termsText(terms) : current.terms,
    rev,
    rid,
  );
  if (current !== undefined && current.entry.text !== entry.text)
    database.run('DELETE FROM vector WHERE rid = ?', rid);
  return isReworded ? { rid, words: terms.map(indexed).join(' ') } : undefined;
}

const wordsIn = ({ text, tags, others = [] }: MemoryEntry): string => [text, ...others, ...tags].join('\0');

/** Removes a row with all that belongs to it. */
function removeStored(database: Database, { rid }: StoredRow): void {
  for (const table of ['vector', 'memory']) database.run(`DELETE FROM ${table} WHERE rid = ?`, rid);
  database.run('DELETE FROM words WHERE rowid = ?', rid);
}

/** Vectors for memories that are otherwise left alone; one that has changed meanwhile is left out. Answers how many were taken. */
export function addVectors(database: Database, space: VectorSpace, vectors: readonly VectorFor[]): number {
  const current = readStored(
    database,
    vectors.map(({ key }) => key),
  );
  const rids: number[] = [];
  for (const { key, revision, vector } of vectors) {
    const row = current.get(keyText(key));
    if (row?.entry.revision !== revision) continue;
    const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
    const sql = 'INSERT OR REPLACE INTO vector (rid, space, vector) VALUES (?, ?, ?)';
    database.run(sql, row.rid, spaceText(space), bytes);
    rids.push(row.rid);
  }
  const changed = 'UPDATE memory SET rev = ? WHERE rid IN (SELECT value FROM json_each(?))';
  if (rids.length > 0) database.run(changed, nextRev(database), JSON.stringify(rids));
  return rids.length;
}

/** How far the lines were taken in; with the number of the last taking. */
export function markIn(database: Database): { taken: string; mark: Map<string, string> } {
  const rows = database.all<{ name: string; value: string }>('SELECT name, value FROM mark');
  return {
    taken: metaText(database, 'taken') ?? '',
    mark: new Map(rows.map(({ name, value }) => [name, value])),
  };
}

/**
 * Takes a page of lines in, with all that follows from it; inside a transaction. Answers with nothing where another
 * process has taken something in since the mark was read.
 */
export function takePage(
  database: Database,
  taken: string,
  { lines, gone, marks }: Page,
  options: StoreOptions,
): Taken | undefined {
  if (metaText(database, 'taken') !== taken) return undefined;
  const touched = new Map<string, MemoryKey>();
  const touch = (of: string): boolean => {
    const key = keyOfEntity(of);
    if (key !== undefined) touched.set(of, key);
    return key !== undefined;
  };
  for (const file of gone) {
    for (const { of } of database.all<{ of: string }>('SELECT DISTINCT of FROM event WHERE file = ?', file))
      touch(of);
    database.run('DELETE FROM event WHERE file = ?', file);
  }
  const said = lines.flatMap(({ line, file }) =>
    happenedIn(line).flatMap((happened) => (touch(happened.of) ? { file, happened } : [])),
  );
  const events = eventsOf(database, [...touched.keys()]);
  for (const { file, happened } of said) {
    const { of, id } = happened;
    push(events, of, happened);
    // Where a long file was not read to its end, the next reader begins it again.
    database.run('INSERT OR REPLACE INTO event VALUES (?, ?, ?, ?)', of, id, file, JSON.stringify(happened));
  }
  const covered = new Map<string, Set<string>>();
  const before = readStored(database, [...touched.values()]);
  const rev = touched.size === 0 ? 0 : nextRev(database);
  let fresh = numberIn(database, 'SELECT max(rid) AS n FROM memory');
  const reworded: { rid: number; words: string }[] = [];
  for (const [of, key] of touched) {
    const happened = onceEach(events.get(of) ?? []);
    const current = before.get(keyText(key));
    const next = memoryOf(key, options.project, happened);
    const ids = coveredBy(happened);
    if (ids.length > 0) covered.set(of, new Set(ids));
    if (next === undefined && isErased(happened))
      database.run('INSERT OR REPLACE INTO removed VALUES (?, ?, ?)', key.type, key.id, rev);
    const words =
      next === undefined ? undefined : writeStored(database, current, next, options, { rev, fresh: ++fresh });
    if (words !== undefined) reworded.push(words);
    else if (next === undefined && current !== undefined) removeStored(database, current);
  }
  // After all others: SQLite writes the words to the file whenever a row of another table follows them, which takes as long as the rest.
  for (const { rid, words } of reworded)
    database.run('INSERT OR REPLACE INTO words (rowid, terms) VALUES (?, ?)', rid, words);
  // The word index keeps words of removed rows until it is rewritten, which takes a while.
  const isRewritten = lines.some(({ line }) => line.events.some(({ erased }) => erased === true));
  if (isRewritten) database.run("INSERT INTO words (words) VALUES ('optimize')");
  for (const [name, value] of marks)
    if (value === undefined) database.run('DELETE FROM mark WHERE name = ?', name);
    else database.run('INSERT OR REPLACE INTO mark VALUES (?, ?)', name, value);
  const next = String(Number(taken) + (marks.size + touched.size > 0 ? 1 : 0));
  if (next !== taken) database.run("UPDATE meta SET value = ? WHERE key = 'taken'", next);
  return { taken: next, covered };
}

/** What a server was last told, by the number of a change. */
const toldTo = (server: string): string => `heard ${server}`;

export function owedIn(database: Database, server: string): { rev: string; keys: MemoryKey[] } {
  const told = Number(metaText(database, toldTo(server)) ?? 0);
  const sql =
    'SELECT type, id FROM memory WHERE rev > ? UNION ALL SELECT type, id FROM removed WHERE rev > ?';
  return { rev: metaText(database, 'rev') ?? '0', keys: database.all<MemoryKey>(sql, told, told) };
}

export function settleIn(database: Database, server: string, rev: string): void {
  database.run('INSERT OR REPLACE INTO meta VALUES (?, ?)', toldTo(server), rev);
  database.run('DELETE FROM removed WHERE rev <= ?', Number(rev));
}

export function headsIn(database: Database, keys: readonly MemoryKey[]): Heads[] {
  const events = eventsOf(database, keys.map(entityOf));
  return keys.map((key) => headsAmong(onceEach(events.get(entityOf(key)) ?? [])));
}

function eventsOf(database: Database, entities: readonly string[]): Map<string, Happened[]> {
  const found = new Map<string, Happened[]>();
  const sql = 'SELECT e.of, e.body FROM json_each(?) k CROSS JOIN event e ON e.of = k.value';
  for (const { of, body } of database.all<{ of: string; body: string }>(sql, JSON.stringify(entities)))
    push(found, of, jsonInRow<Happened>(body));
  return found;
}
