import type { Database } from './database.ts';
import type { MemoryEntry, MemoryKey, MemoryRevision } from '../../../model/memory.ts';
import type { Stored, StoreOptions, Taken, VectorSpace } from '../engine.ts';
import { spaceText, termsOf } from '../rank.ts';
import {
  entryOf,
  indexed,
  type MemoryRow,
  metaText,
  revisionOf,
  type RevisionRow,
  termsText,
} from './rows.ts';
import { type Happened, happenedIn, headsOf, onceEach } from '../../../lines/line.ts';
import type { Page } from '../../../lines/log.ts';
import { jsonObject } from '../../../base/parse/json.ts';
import { coveredBy, entityOf, keyOfEntity, memoryOf } from '../lines/fold.ts';

export interface StoredRow extends Stored {
  rid: number;
}

export function readStored(database: Database, { type, id }: MemoryKey): StoredRow | undefined {
  const row = database.get<MemoryRow>(`SELECT * FROM memory WHERE type = ? AND id = ?`, type, id);
  if (row === undefined) return undefined;
  const earlier =
    row.revision === 1
      ? []
      : database.all<RevisionRow>(`SELECT * FROM revision WHERE rid = ? ORDER BY revision DESC`, row.rid);
  return { rid: row.rid, entry: entryOf(row), revisions: earlier.map(revisionOf) };
}

export function readReworded(database: Database): Stored[] {
  const found = new Map<number, { entry: MemoryEntry; revisions: MemoryRevision[] }>();
  for (const row of database.all<MemoryRow>(
    `SELECT * FROM memory WHERE rid IN (SELECT rid FROM revision) ORDER BY rid`,
  ))
    found.set(row.rid, { entry: entryOf(row), revisions: [] });
  for (const row of database.all<RevisionRow & { rid: number }>(
    `SELECT * FROM revision ORDER BY rid, revision DESC`,
  ))
    found.get(row.rid)?.revisions.push(revisionOf(row));
  return [...found.values()];
}

/** The number of this transaction; every row that it changes carries it. */
export function nextRev(database: Database): number {
  const rev = Number(metaText(database, 'rev') ?? 0) + 1;
  database.run("INSERT OR REPLACE INTO meta VALUES ('rev', ?)", String(rev));
  return rev;
}

/** Brings the row of a memory to what its lines say now; inside a transaction of the caller. */
function writeStored(
  database: Database,
  current: StoredRow | undefined,
  { entry, revisions }: Stored,
  { analyser }: StoreOptions,
  rev: number,
): void {
  const others = entry.others === undefined ? null : JSON.stringify(entry.others);
  const rid =
    database.get<{ rid: number }>(
      `INSERT INTO memory (type, id, agent, text, tags, others, project, created_at, updated_at, revision,
                           forgotten_at, superseded_by, superseded_at, terms, rev)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?)
       ON CONFLICT (type, id) DO UPDATE SET agent = excluded.agent, text = excluded.text, tags = excluded.tags,
         others = excluded.others, created_at = excluded.created_at, updated_at = excluded.updated_at,
         revision = excluded.revision, forgotten_at = excluded.forgotten_at,
         superseded_by = excluded.superseded_by, superseded_at = excluded.superseded_at, rev = excluded.rev
       RETURNING rid`,
      entry.type,
      entry.id,
      entry.agent,
      entry.text,
      JSON.stringify(entry.tags),
      others,
      entry.project,
      entry.createdAt,
      entry.updatedAt,
      entry.revision,
      entry.forgottenAt ?? null,
      entry.supersededBy ?? null,
      entry.supersededAt ?? null,
      rev,
    )?.rid ?? 0;
  if (current !== undefined) database.run('DELETE FROM revision WHERE rid = ?', rid);
  for (const { revision, text, tags, agent, at } of revisions)
    database.run(
      'INSERT INTO revision (rid, revision, text, tags, agent, at) VALUES (?, ?, ?, ?, ?, ?)',
      rid,
      revision,
      text,
      JSON.stringify(tags),
      agent,
      at,
    );
  if (current === undefined || wordsIn(current.entry) !== wordsIn(entry))
    writeTerms(database, rid, termsOf(analyser, entry));
  if (current !== undefined && current.entry.text !== entry.text)
    database.run('DELETE FROM vector WHERE rid = ?', rid);
}

const wordsIn = ({ text, tags, others = [] }: MemoryEntry): string => [text, ...others, ...tags].join('\0');

/** Removes a row with all that belongs to it. */
function removeStored(database: Database, { rid }: StoredRow): void {
  for (const table of ['vector', 'revision', 'memory'])
    database.run(`DELETE FROM ${table} WHERE rid = ?`, rid);
  database.run('DELETE FROM words WHERE rowid = ?', rid);
}

function writeTerms(database: Database, rid: number, terms: readonly string[]): void {
  database.run('UPDATE memory SET terms = ? WHERE rid = ?', termsText(terms), rid);
  database.run(
    'INSERT OR REPLACE INTO words (rowid, terms) VALUES (?, ?)',
    rid,
    terms.map(indexed).join(' '),
  );
}

/** A vector for a memory that is otherwise left alone. */
export function addVector(
  database: Database,
  rid: number,
  space: VectorSpace,
  vector: Float32Array,
  rev: number,
): void {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  database.run(
    'INSERT OR REPLACE INTO vector (rid, space, vector) VALUES (?, ?, ?)',
    rid,
    spaceText(space),
    bytes,
  );
  database.run('UPDATE memory SET rev = ? WHERE rid = ?', rev, rid);
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
  const touched = new Set<string>();
  for (const file of gone) {
    for (const { of } of database.all<{ of: string }>('SELECT DISTINCT of FROM event WHERE file = ?', file))
      touched.add(of);
    database.run('DELETE FROM event WHERE file = ?', file);
  }
  for (const { line, file } of lines) {
    for (const happened of happenedIn(line)) {
      const { of, id } = happened;
      if (keyOfEntity(of) === undefined) continue;
      touched.add(of);
      database.run(
        'INSERT OR REPLACE INTO event VALUES (?, ?, ?, ?)',
        of,
        id,
        file,
        JSON.stringify(happened),
      );
    }
  }
  const changed: MemoryKey[] = [];
  const covered = new Map<string, Set<string>>();
  let rev: number | undefined;
  for (const of of touched) {
    const key = keyOfEntity(of);
    if (key === undefined) continue;
    const current = readStored(database, key);
    const events = eventsOf(database, of);
    const next = memoryOf(key, options.project, events);
    const ids = coveredBy(events);
    if (ids.length > 0) covered.set(of, new Set(ids));
    changed.push(key);
    rev ??= nextRev(database);
    if (next !== undefined) writeStored(database, current, next, options, rev);
    else if (current !== undefined) removeStored(database, current);
  }
  // The word index keeps words of removed rows until it is rewritten, which takes a while.
  const isErased = lines.some(({ line }) => line.events.some(({ erased }) => erased === true));
  if (isErased) database.run("INSERT INTO words (words) VALUES ('optimize')");
  for (const [name, value] of marks)
    if (value === undefined) database.run('DELETE FROM mark WHERE name = ?', name);
    else database.run('INSERT OR REPLACE INTO mark VALUES (?, ?)', name, value);
  if (marks.size + touched.size > 0)
    database.run("UPDATE meta SET value = ? WHERE key = 'taken'", String(Number(taken) + 1));
  return { keys: changed, covered };
}

/** The lines about a memory that nothing follows yet, and whether a newer program has written one of them. */
export function headsIn(database: Database, key: MemoryKey): { heads: string[]; newer: boolean } {
  const events = eventsOf(database, entityOf(key));
  return { heads: headsOf(events), newer: events.some(({ newer }) => newer) };
}

function eventsOf(database: Database, of: string): Happened[] {
  const rows = database.all<{ body: string }>('SELECT body FROM event WHERE of = ?', of);
  return onceEach(rows.flatMap(({ body }) => (jsonObject(body) as Happened | undefined) ?? []));
}
