import { t } from '../../base/text/message.ts';
import { dirname, join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { firstBytes, lastBytes, refuseTwice } from '../../base/files/file-tree.ts';
import { withLock } from '../../base/files/file-lock.ts';
import {
  newWorkFolder,
  readState,
  readStateBytes,
  removeTree,
  setAside,
  sizeAndTime,
  sweepWork,
  writeAtomic,
  writeNew,
} from '../../base/files/file-state.ts';
import { removeFile } from '../../base/files/open-file.ts';
import { jsonIn, jsonObject } from '../../base/parse/json.ts';
import type { LinePlace } from '../../lines/folders.ts';
import {
  asMuchAsFits,
  type Line,
  lineOf,
  type Log,
  type NewEvent,
  newLineId,
  NO_ONE,
} from '../../lines/line.ts';
import type { MemoryEntry, MemoryKey, MemoryRevision } from '../../model/memory.ts';
import { isSoundEntry, isSoundRevision, type Stored } from './engine.ts';
import { dataOf, entityOf } from './fold.ts';
import type { Connection, Driver } from './sqlite/database.ts';

/**
 * Versions before kept memories in a database or a log of their own. It is read once and written as lines; then a copy stays
 * beside them, and in its place something that those versions refuse to open, so that none begins an empty one.
 */
const [DATABASE, LOG] = ['.bmad-memory.db', '.bmad-memory.jsonl'];
/** Higher than that of any store that was ever written. */
const REFUSED = 1_000;
const REFUSED_LOG = `${JSON.stringify({ log: 'bmad-memory', version: REFUSED })}\n`;
const LOCK = 'moving.lock';
const LOCK_MS = 60_000;

interface Where {
  place: LinePlace;
  driver: Driver | undefined;
  /** A folder of the user for copies that are looked into. */
  work: string;
}

interface OldContent {
  memories: Stored[];
  /** Rows or lines that are no memories. */
  odd: number;
}

export interface OldStore extends Where, OldContent {
  path: string;
}

/** What lines say already about some memories. */
export type Known = (
  keys: readonly MemoryKey[],
) => Promise<readonly { heads: readonly string[]; stored: Stored | undefined }[]>;

/** What a version before has left in a folder, in either form. */
export async function oldStores(where: Where): Promise<OldStore[]> {
  const { folder } = where.place;
  const found: OldStore[] = [];
  for (const [name, read] of [[DATABASE, databaseIn] as const, [LOG, logIn] as const]) {
    const path = join(folder, name ?? '');
    // A file with a second name may be one of the user's.
    await refuseTwice(path);
    const content = await read(path, where);
    if (content !== undefined) found.push({ ...where, path, ...content });
  }
  return found;
}

/** Where SQLite says which version of tables a file has. */
const [VERSION_AT, HEAD_BYTES] = [60, 64];
const MAGIC = Buffer.from('SQLite format 3\0');
const MOST_BYTES = 1024 ** 3;
const ENDS = ['', '-wal', '-journal'];
/** How a journal ends that names a second file, which SQLite would read, and remove when it is done. */
const SECOND_FILE = Buffer.from('d9d505f920a163d7', 'hex');
const COPIES = 5;

/**
 * A database in a project comes from whoever wrote the project. It is never opened where it is, but in a copy of the user's,
 * and only if the tables are what those versions have made: a view could be a query without an end.
 */
async function databaseIn(path: string, where: Where): Promise<OldContent | undefined> {
  const { place, driver, work } = where;
  if (((await sizeAndTime(path))?.size ?? 0) === 0) return undefined;
  const head = await firstBytes(path, HEAD_BYTES).catch(() => Buffer.alloc(0));
  const isOfSqlite = head.subarray(0, MAGIC.length).equals(MAGIC);
  if (isOfSqlite && head.readUInt32BE(VERSION_AT) >= REFUSED) return undefined;
  if (driver === undefined) throw needsSqlite(path);
  return inWork(work, async (folder) => {
    const copy = join(folder, 'old.db');
    await copied(path, copy, place.inside);
    return memoriesIn(copy, driver);
  }).catch((error: unknown) => {
    throw error instanceof BmadError ? error : unreadable(path, error);
  });
}

async function inWork<T>(work: string, act: (folder: string) => Promise<T>): Promise<T> {
  await sweepWork(work);
  const folder = await newWorkFolder(work);
  try {
    return await act(folder);
  } finally {
    await removeTree(folder).catch(() => undefined);
  }
}

/** All of its files as they are at one moment: somebody may be writing to them. */
async function copied(path: string, to: string, inside: string | undefined): Promise<void> {
  const state = async (): Promise<string> =>
    JSON.stringify(await Promise.all(ENDS.map((end) => sizeAndTime(path + end))));
  for (let tries = 0; tries < COPIES; tries++) {
    const before = await state();
    for (const end of ENDS) {
      await removeFile(to + end);
      const bytes = await readStateBytes(path + end, { inside, maxBytes: MOST_BYTES });
      if (bytes !== undefined && bytes.length > 0) await writeNew(to + end, bytes);
    }
    if ((await state()) !== before) continue;
    if ((await lastBytes(`${to}-journal`, SECOND_FILE.length)).equals(SECOND_FILE))
      throw new Error(t`Its journal names another file.`);
    return;
  }
  throw new Error(t`It changes all the time.`);
}

const WAIT_MS = 5_000;
const MEMORY_COLUMNS =
  'rid INTEGER PRIMARY KEY, type TEXT NOT NULL, id TEXT NOT NULL, agent TEXT NOT NULL, text TEXT NOT NULL, tags TEXT NOT NULL, project TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, revision INTEGER NOT NULL, forgotten_at TEXT, superseded_by TEXT, superseded_at TEXT, terms TEXT NOT NULL, rev INTEGER NOT NULL, UNIQUE (type, id)';
const REVISION_COLUMNS =
  'rid INTEGER NOT NULL REFERENCES memory (rid), revision INTEGER NOT NULL, text TEXT NOT NULL, tags TEXT NOT NULL, agent TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (rid, revision)';
/** As versions before have made them, with one blank wherever there are some. */
const TABLES = [`CREATE TABLE memory ( ${MEMORY_COLUMNS} )`, `CREATE TABLE revision ( ${REVISION_COLUMNS} )`];

function memoriesIn(path: string, driver: Driver): OldContent {
  const connection = driver.connect(path, WAIT_MS);
  try {
    const made =
      "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name IN ('memory', 'revision') ORDER BY name";
    const tables = Array.from(rowsOf(connection, made), ({ sql }) => String(sql).split(/[ \t\n\f\r]+/));
    if (tables.map((words) => words.join(' ')).join('\n') !== TABLES.join('\n'))
      throw new Error(t`It has other tables.`);
    const earlier = new Map<unknown, MemoryRevision[]>();
    for (const { rid, ...wording } of rowsOf(
      connection,
      'SELECT * FROM revision ORDER BY rid, revision DESC',
    ))
      if (isSoundRevision(wording)) earlier.set(rid, [...(earlier.get(rid) ?? []), wording]);
    const memories: Stored[] = [];
    let odd = 0;
    for (const { rid, terms: _, rev: __, ...entry } of rowsOf(
      connection,
      'SELECT * FROM memory ORDER BY rid',
    ))
      if (isSoundEntry(entry)) memories.push({ entry, revisions: earlier.get(rid) ?? [] });
      else odd++;
    return { memories, odd };
  } finally {
    connection.close();
  }
}

/** Rows with the names that memories have, without what is empty. */
function* rowsOf(connection: Connection, sql: string): Iterable<Record<string, unknown>> {
  const name = (column: string): string =>
    column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  for (const row of connection.prepare(sql).iterate() as Iterable<Record<string, unknown>>)
    yield Object.fromEntries(
      Object.entries(row)
        .filter(([, value]) => value !== null)
        .map(([column, value]) => [name(column), column === 'tags' ? jsonIn(String(value)) : value]),
    );
}

async function logIn(path: string, { place: { inside } }: Where): Promise<OldContent | undefined> {
  const text = await readState(path, { inside, maxBytes: MOST_BYTES });
  if (text === undefined || text === '' || text === REFUSED_LOG) return undefined;
  const [head, ...lines] = text.trimEnd().split('\n').map(jsonObject);
  if (head?.['log'] !== 'bmad-memory') throw unreadable(path, undefined);
  const found = new Map<string, Stored>();
  let odd = 0;
  for (const line of lines) {
    const { entry, revisions } = (line?.['put'] ?? {}) as { entry?: MemoryEntry; revisions?: unknown };
    if (isSoundEntry(entry)) {
      const earlier = Array.isArray(revisions) ? revisions.filter(isSoundRevision) : [];
      found.set(entityOf(entry), { entry, revisions: earlier });
    } else if (line?.['key'] === undefined) odd++;
  }
  return { memories: [...found.values()], odd };
}

/** Those memories of an old store about which lines say nothing yet, or something older. What was forgotten leaves its text. */
export async function newerIn(memories: readonly Stored[], known: Known): Promise<NewEvent[]> {
  const lines = await known(memories.map(({ entry }) => entry));
  return memories.flatMap((stored, at) => {
    const { heads = [], stored: there } = lines[at] ?? {};
    if (heads.length > 0 && !isNewer(stored, there)) return [];
    const isGone = stored.entry.forgottenAt !== undefined;
    const data = isGone ? dataOf({ ...stored.entry, text: '' }) : dataOf(stored.entry, stored.revisions);
    return [{ of: entityOf(stored.entry), after: heads, do: 'moved', data }];
  });
}

/** Whether somebody has gone on with it in a version before; what was removed for good does not come back. */
function isNewer({ entry }: Stored, there: Stored | undefined): boolean {
  if (there === undefined) return false;
  const { updatedAt, forgottenAt } = there.entry;
  if (entry.updatedAt > updatedAt) return true;
  return forgottenAt === undefined && (entry.forgottenAt ?? '') > updatedAt;
}

export function asLines(events: readonly NewEvent[]): Line[] {
  const more = { by: NO_ONE, at: new Date(0).toISOString(), machine: '', newer: false };
  return events.map((event) => lineOf({ ...event, ...more, id: newLineId(0) }));
}

/**
 * Writes the memories of an old store as lines and sets it aside when all are there, then takes in what a version before has
 * written meanwhile. Interrupted anywhere, it goes on the next time.
 */
export async function moveOver(old: OldStore, log: Log, known: Known): Promise<void> {
  const { path, memories, place } = old;
  const { inside } = place;
  const written = async (some: readonly Stored[]): Promise<void> => {
    for (const part of asMuchAsFits(await newerIn(some, known))) await log.append(part);
  };
  await withLock(join(dirname(path), LOCK), { inside, waitMs: LOCK_MS }, async () => {
    // Another process may have done it while this one waited.
    if ((await oldStores(old)).every((each) => each.path !== path)) return;
    await written(memories);
    const lines = await known(memories.map(({ entry }) => entry));
    if (lines.some(({ heads }) => heads.length === 0)) throw notMoved(path);
    const aside = await setAside(path);
    const isLog = path.endsWith(LOG ?? '');
    if (isLog) await writeAtomic(path, REFUSED_LOG, { inside });
    else {
      for (const end of ['-wal', '-journal', '-shm']) {
        const bytes = await readStateBytes(path + end, { inside, maxBytes: MOST_BYTES });
        if (bytes !== undefined && end !== '-shm') await writeNew(aside + end, bytes, inside);
        await removeFile(path + end, inside);
      }
      await writeNew(path, await refusedDatabase(old), inside);
    }
    const late = await (isLog ? logIn : databaseIn)(aside, old);
    await written(late?.memories ?? []);
  });
}

function refusedDatabase({ driver, work }: Where): Promise<Buffer> {
  return inWork(work, async (folder) => {
    const made = join(folder, 'refused.db');
    const connection = driver?.connect(made, WAIT_MS);
    connection?.exec(`PRAGMA user_version=${REFUSED}; CREATE TABLE moved (see TEXT)`);
    connection?.close();
    return (await readStateBytes(made)) ?? Buffer.alloc(0);
  });
}

const needsSqlite = (path: string): BmadError =>
  new BmadError('unavailable', t`The memories are in ${path}, but SQLite is not available to open it.`, {
    subject: path,
    hint: t`Install the optional package @photostructure/sqlite beside the server, or use Node 22.13 or later.`,
  });

const unreadable = (path: string, cause: unknown): BmadError =>
  new BmadError('unavailable', t`${path} of an earlier version cannot be read. It was left unchanged.`, {
    subject: path,
    hint: t`Move it elsewhere and import the last export of the memories; "sqlite3 FILE .recover" may recover what is readable.`,
    cause,
  });

const notMoved = (path: string): BmadError =>
  new BmadError('unavailable', t`Not all memories of ${path} were written as lines; it was left unchanged.`, {
    subject: path,
    hint: t`Check the disk, then try again.`,
  });
