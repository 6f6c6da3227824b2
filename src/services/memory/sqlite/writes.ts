import { setImmediate } from 'node:timers/promises';
import type { Database } from './open.ts';
import type { MemoryEntry, MemoryKey, MemoryRevision } from '../../../model/memory.ts';
import type { Decision, Stored } from '../change.ts';
import { spaceText, termsOf } from '../rank.ts';
import type { Analyser } from '../../../meaning/analyser.ts';
import { REVISIONS_KEPT, type StoreOptions, type VectorSpace } from '../store.ts';
import { metaText } from './figures.ts';
import { entryOf, indexed, revisionOf, tagsOf, termsText, type MemoryRow, type RevisionRow } from './rows.ts';
import { SOUND, SOUND_REVISION } from './sound.ts';

/** Rows that a change of analyser handles in one transaction, so that others get their turn. */
const BATCH = 200;

export interface StoredRow extends Stored {
  rid: number;
}

export function readStored(database: Database, { type, id }: MemoryKey): StoredRow | undefined {
  const row = database.get<MemoryRow>(
    `SELECT * FROM memory WHERE type = ? AND id = ? AND ${SOUND}`,
    type,
    id,
  );
  if (row === undefined) return undefined;
  const earlier =
    row.revision === 1
      ? []
      : database.all<RevisionRow>(
          `SELECT * FROM revision WHERE rid = ? AND ${SOUND_REVISION} ORDER BY revision DESC LIMIT ?`,
          row.rid,
          REVISIONS_KEPT,
        );
  return { rid: row.rid, entry: entryOf(row), revisions: earlier.map(revisionOf) };
}

export function readReworded(database: Database): Stored[] {
  const found = new Map<number, { entry: MemoryEntry; revisions: MemoryRevision[] }>();
  for (const row of database.all<MemoryRow>(
    `SELECT * FROM memory WHERE rid IN (SELECT rid FROM revision) AND ${SOUND} ORDER BY rid`,
  ))
    found.set(row.rid, { entry: entryOf(row), revisions: [] });
  for (const row of database.all<RevisionRow & { rid: number }>(
    `SELECT * FROM revision WHERE ${SOUND_REVISION} ORDER BY rid, revision DESC`,
  ))
    found.get(row.rid)?.revisions.push(revisionOf(row));
  return [...found.values()];
}

/** The number of this transaction; every row that it changes carries it. */
export function nextRev(database: Database): number {
  const noted = Number(metaText(database, 'rev') ?? 0);
  // Higher than that of any row: what comes later is found by its number.
  const used = database.get<{ rev: number }>(
    `SELECT coalesce(max(rev), 0) AS rev FROM memory WHERE rev BETWEEN 0 AND ${MOST_COUNTED}`,
  );
  const known = Math.max(noted >= 0 && noted <= MOST_COUNTED ? noted : 0, used?.rev ?? 0);
  // A row from elsewhere may be counted by a fraction; one of ours that were would be left out as odd.
  const rev = Math.floor(known) + 1;
  database.run("INSERT OR REPLACE INTO meta VALUES ('rev', ?)", String(rev));
  return rev;
}

/** Far more than is ever counted to, and far less than what JavaScript cannot count. */
const MOST_COUNTED = 2 ** 52;

/** One more than the last, as SQLite chooses it, of those that JavaScript has numbers for. */
export const NEXT_RID = `(SELECT coalesce(max(rid), 0) + 1 FROM memory WHERE rid BETWEEN 0 AND ${MOST_COUNTED})`;

/** Removes what is stored under a key, also what cannot be read: something else takes its place. */
export function makeRoom(database: Database, { type, id }: { type: string; id: string }): void {
  const there = 'SELECT rid FROM memory WHERE type = ? AND id = ?';
  if (database.get(`SELECT 1 WHERE EXISTS (${there})`, type, id) === undefined) return;
  for (const table of ['vector', 'revision'])
    database.run(`DELETE FROM ${table} WHERE rid IN (${there})`, type, id);
  database.run(`DELETE FROM words WHERE rowid IN (${there})`, type, id);
  database.run('DELETE FROM memory WHERE type = ? AND id = ?', type, id);
}

/** Stores what was decided; all inside one transaction of the caller. */
export function writeStored(
  database: Database,
  current: StoredRow | undefined,
  { next, vector, textChanged }: Decision & { next: Stored },
  { analyser, space }: StoreOptions,
  rev: number,
): void {
  const { entry, revisions } = next;
  if (current === undefined) makeRoom(database, entry);
  const rid =
    database.get<{ rid: number }>(
      `INSERT INTO memory (rid, type, id, agent, text, tags, project, created_at, updated_at, revision,
                           forgotten_at, superseded_by, superseded_at, terms, rev)
       VALUES (${NEXT_RID}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?)
       ON CONFLICT (type, id) DO UPDATE SET agent = excluded.agent, text = excluded.text, tags = excluded.tags,
         updated_at = excluded.updated_at, revision = excluded.revision, forgotten_at = excluded.forgotten_at,
         superseded_by = excluded.superseded_by, superseded_at = excluded.superseded_at, rev = excluded.rev
       RETURNING rid`,
      entry.type,
      entry.id,
      entry.agent,
      entry.text,
      JSON.stringify(entry.tags),
      entry.project,
      entry.createdAt,
      entry.updatedAt,
      entry.revision,
      entry.forgottenAt ?? null,
      entry.supersededBy ?? null,
      entry.supersededAt ?? null,
      rev,
    )?.rid ?? 0;
  const [previous] = revisions;
  if (previous !== undefined && current?.entry.revision !== entry.revision) {
    database.run(
      'INSERT OR REPLACE INTO revision (rid, revision, text, tags, agent, at) VALUES (?, ?, ?, ?, ?, ?)',
      rid,
      previous.revision,
      previous.text,
      JSON.stringify(previous.tags),
      previous.agent,
      previous.at,
    );
    database.run('DELETE FROM revision WHERE rid = ? AND revision < ?', rid, entry.revision - REVISIONS_KEPT);
  }
  if (textChanged || current?.entry.tags.join('\0') !== entry.tags.join('\0'))
    writeTerms(database, rid, termsOf(analyser, entry));
  if (textChanged) database.run('DELETE FROM vector WHERE rid = ?', rid);
  if (vector !== undefined && space !== undefined) writeVector(database, rid, space, vector);
}

/** Removes rows with all that belongs to them. The word index keeps words of removed rows until it is rewritten. */
export function removeStored(database: Database, rows: readonly StoredRow[]): void {
  for (const { rid } of rows) {
    for (const table of ['vector', 'revision', 'memory'])
      database.run(`DELETE FROM ${table} WHERE rid = ?`, rid);
    database.run('DELETE FROM words WHERE rowid = ?', rid);
  }
  if (rows.length > 0) database.run("INSERT INTO words (words) VALUES ('optimize')");
}

function writeTerms(database: Database, rid: number, terms: readonly string[]): void {
  database.run('UPDATE memory SET terms = ? WHERE rid = ?', termsText(terms), rid);
  database.run(
    'INSERT OR REPLACE INTO words (rowid, terms) VALUES (?, ?)',
    rid,
    terms.map(indexed).join(' '),
  );
}

function writeVector(database: Database, rid: number, space: VectorSpace, vector: Float32Array): void {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  database.run(
    'INSERT OR REPLACE INTO vector (rid, space, vector) VALUES (?, ?, ?)',
    rid,
    spaceText(space),
    bytes,
  );
}

/** A vector for a memory that is otherwise left alone; false when it has one, or changed since that revision. */
export function addVector(
  database: Database,
  { rid }: { rid: number },
  space: VectorSpace,
  vector: Float32Array,
  rev: () => number,
  replace: boolean,
): boolean {
  const known = 'SELECT 1 FROM vector WHERE rid = ? AND space = ?';
  if (!replace && database.get(known, rid, spaceText(space)) !== undefined) return false;
  writeVector(database, rid, space, vector);
  database.run('UPDATE memory SET rev = ? WHERE rid = ?', rev(), rid);
  return true;
}

/** Words are derived: if the analyser finds different ones, they are recomputed, with pauses between batches. */
export async function reanalyse(database: Database, analyser: Analyser): Promise<void> {
  if (metaText(database, 'analyser') === analyser.id || database.readOnly) return;
  for (let from = 0; ;) {
    const rows = await database.write(() => {
      const batch = database.all<{ rid: number; text: string; tags: string }>(
        `SELECT rid, text, tags FROM memory WHERE rid > ? AND ${SOUND} ORDER BY rid LIMIT ?`,
        from,
        BATCH,
      );
      for (const { rid, text, tags } of batch)
        writeTerms(database, rid, termsOf(analyser, { text, tags: tagsOf(tags) }));
      if (batch.length === 0) database.run("INSERT OR REPLACE INTO meta VALUES ('analyser', ?)", analyser.id);
      return batch;
    });
    const last = rows.at(-1);
    if (last === undefined) return;
    from = last.rid;
    await setImmediate();
  }
}
