import { setImmediate } from 'node:timers/promises';
import type { Database } from './open.ts';
import type { MemoryEntry, MemoryKey, MemoryRevision } from '../../../model/memory.ts';
import type { Decision, Stored } from '../change.ts';
import { spaceText } from '../rank.ts';
import type { Analyser } from '../../../meaning/analyser.ts';
import { REVISIONS_KEPT, type StoreOptions, type VectorSpace } from '../store.ts';
import { entryOf, indexed, revisionOf, termsText, type MemoryRow, type RevisionRow } from './rows.ts';

/** Rows that a change of analyser handles in one transaction, so that others get their turn. */
const BATCH = 200;

export interface StoredRow extends Stored {
  rid: number;
}

export function readStored(database: Database, { type, id }: MemoryKey): StoredRow | undefined {
  const row = database.get<MemoryRow>('SELECT * FROM memory WHERE type = ? AND id = ?', type, id);
  if (row === undefined) return undefined;
  const earlier =
    row.revision === 1
      ? []
      : database.all<RevisionRow>('SELECT * FROM revision WHERE rid = ? ORDER BY revision DESC', row.rid);
  return { rid: row.rid, entry: entryOf(row), revisions: earlier.map(revisionOf) };
}

export function readReworded(database: Database): Stored[] {
  const found = new Map<number, { entry: MemoryEntry; revisions: MemoryRevision[] }>();
  for (const row of database.all<MemoryRow>(
    'SELECT * FROM memory WHERE rid IN (SELECT rid FROM revision) ORDER BY rid',
  ))
    found.set(row.rid, { entry: entryOf(row), revisions: [] });
  for (const row of database.all<RevisionRow & { rid: number }>(
    'SELECT * FROM revision ORDER BY rid, revision DESC',
  ))
    found.get(row.rid)?.revisions.push(revisionOf(row));
  return [...found.values()];
}

/** The number of this transaction; every row that it changes carries it. */
export function nextRev(database: Database): number {
  const row = database.get<{ rev: number }>(
    `UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'rev' RETURNING CAST(value AS INTEGER) AS rev`,
  );
  return row?.rev ?? 0;
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
  const rid =
    database.get<{ rid: number }>(
      `INSERT INTO memory (type, id, agent, text, tags, project, created_at, updated_at, revision,
                           forgotten_at, superseded_by, superseded_at, terms, rev)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?)
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
  if (textChanged) {
    writeTerms(database, rid, analyser.terms(entry.text));
    if (current !== undefined) database.run('DELETE FROM vector WHERE rid = ?', rid);
  }
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
  const known = database.get<{ value: string }>("SELECT value FROM meta WHERE key = 'analyser'")?.value;
  if (known === analyser.id || database.readOnly) return;
  for (let from = 0; ;) {
    const rows = await database.write(() => {
      const batch = database.all<{ rid: number; text: string }>(
        'SELECT rid, text FROM memory WHERE rid > ? ORDER BY rid LIMIT ?',
        from,
        BATCH,
      );
      for (const { rid, text } of batch) writeTerms(database, rid, analyser.terms(text));
      if (batch.length === 0) database.run("INSERT OR REPLACE INTO meta VALUES ('analyser', ?)", analyser.id);
      return batch;
    });
    const last = rows.at(-1);
    if (last === undefined) return;
    from = last.rid;
    await setImmediate();
  }
}
