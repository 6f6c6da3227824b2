import { grouped } from '../../../base/grouped.ts';
import { randomUUID } from 'node:crypto';
import { setImmediate, setTimeout as pause } from 'node:timers/promises';
import { isThereNow } from '../../../base/files/file-identity.ts';
import type { Database } from './open.ts';
import { metaText } from './figures.ts';
import { indexed, termsOf, type MemoryRow, type RevisionRow } from './rows.ts';
import { SOUND, SOUND_REVISION, SOUND_VECTOR } from './sound.ts';
import { makeRoom, nextRev, NEXT_RID } from './writes.ts';

/** All that a connection still has of a file that is gone. */
export interface Held {
  /** The name of the store, which all its copies have too. */
  store: string | undefined;
  memories: MemoryRow[];
  revisions: Map<number, (RevisionRow & { rid: number })[]>;
  vectors: Map<number, { rid: number; space: string; vector: Uint8Array }[]>;
}

/** Rows that are written in one transaction, so that others get their turn. */
const BATCH = 200;
const JOURNAL_TRIES = 100;
const JOURNAL_PAUSE_MS = 20;

/** A store has a name, so that another one in its place can be told from itself. */
export async function nameStore(database: Database): Promise<void> {
  if (nameOf(database) !== undefined) return;
  // Another process may have named it meanwhile; what is no name is replaced.
  await database.write(() => {
    if (nameOf(database) === undefined)
      database.run("INSERT OR REPLACE INTO meta VALUES ('store', ?)", randomUUID());
  });
}

export function nameOf(database: Database): string | undefined {
  return metaText(database, 'store');
}

const tookKey = (store: string): string => `took ${store}`;

/** Notes that a store has all of another, or takes its place on purpose. */
export function noteTaken(database: Database, store: string): void {
  database.run("INSERT OR REPLACE INTO meta VALUES (?, '1')", tookKey(store));
}

/** Whether a store is the same one, or has already taken over what the other had. */
export function isSuccessor(database: Database, { store }: Held): boolean {
  if (store === undefined) return false;
  return (
    nameOf(database) === store ||
    database.get('SELECT 1 FROM meta WHERE key = ?', tookKey(store)) !== undefined
  );
}

export async function heldBy(database: Database): Promise<Held> {
  // A journal of the file that is there now would be rolled back into the old one, and removed.
  for (let tries = 0; tries < JOURNAL_TRIES && isThereNow(`${database.path}-journal`); tries++)
    await pause(JOURNAL_PAUSE_MS);
  if (isThereNow(`${database.path}-journal`)) throw new Error('A journal is in the way.');
  return database.transaction('BEGIN', () => ({
    store: nameOf(database),
    memories: database.all<MemoryRow>(`SELECT * FROM memory WHERE ${SOUND} ORDER BY rid`),
    revisions: grouped(
      database.all<RevisionRow & { rid: number }>(`SELECT * FROM revision WHERE ${SOUND_REVISION}`),
      ({ rid }) => rid,
    ),
    vectors: grouped(
      database.all<{ rid: number; space: string; vector: Uint8Array }>(
        `SELECT * FROM vector WHERE ${SOUND_VECTOR}`,
      ),
      ({ rid }) => rid,
    ),
  }));
}

/** Brings what another store does not have into it, as it is; the newer of two versions stays. Answers how many came. */
export async function bringOver(held: Held, to: Database): Promise<number> {
  let count = 0;
  for (let from = 0; from < held.memories.length; from += BATCH) {
    const batch = held.memories.slice(from, from + BATCH);
    count += await to.write(() => {
      const rev = nextRev(to);
      return batch.filter((row) => bringRow(held, row, to, rev)).length;
    });
    await setImmediate();
  }
  if (held.store !== undefined) {
    const { store } = held;
    await to.write(() => noteTaken(to, store));
  }
  return count;
}

function bringRow(held: Held, row: MemoryRow, to: Database, rev: number): boolean {
  const there = to.get<MemoryRow>(
    `SELECT * FROM memory WHERE type = ? AND id = ? AND ${SOUND}`,
    row.type,
    row.id,
  );
  if (there !== undefined && standing(there) >= standing(row)) return false;
  makeRoom(to, row);
  const rid =
    to.get<{ rid: number }>(
      `INSERT INTO memory (rid, type, id, agent, text, tags, project, created_at, updated_at, revision,
                           forgotten_at, superseded_by, superseded_at, terms, rev)
       VALUES (${NEXT_RID}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING rid`,
      row.type,
      row.id,
      row.agent,
      row.text,
      row.tags,
      row.project,
      row.created_at,
      row.updated_at,
      row.revision,
      row.forgotten_at,
      row.superseded_by,
      row.superseded_at,
      row.terms,
      rev,
    )?.rid ?? 0;
  for (const { revision, text, tags, agent, at } of held.revisions.get(row.rid) ?? [])
    to.run(
      'INSERT INTO revision (rid, revision, text, tags, agent, at) VALUES (?, ?, ?, ?, ?, ?)',
      rid,
      revision,
      text,
      tags,
      agent,
      at,
    );
  for (const { space, vector } of held.vectors.get(row.rid) ?? [])
    to.run('INSERT INTO vector (rid, space, vector) VALUES (?, ?, ?)', rid, space, vector);
  to.run(
    'INSERT OR REPLACE INTO words (rowid, terms) VALUES (?, ?)',
    rid,
    termsOf(row.terms).map(indexed).join(' '),
  );
  return true;
}

/** Which of two is newer: by the last change of the wording, then by the marks. */
function standing({ updated_at, forgotten_at, superseded_at }: MemoryRow): string {
  return [updated_at, forgotten_at ?? '', superseded_at ?? ''].join(' ');
}
