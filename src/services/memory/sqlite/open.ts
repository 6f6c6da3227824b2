import { dirname } from 'node:path';
import { BmadError } from '../../../base/errors.ts';
import { ensureFile } from '../../../base/files/file-modes.ts';
import { ensureFolder, isWritable, sizeAndTime } from '../../../base/files/file-state.ts';
import { firstBytes, lastBytes } from '../../../base/files/file-identity.ts';
import { farFolder } from '../../../base/files/file-systems.ts';
import { Database, patiently, type Access, type Check, type Journal, type Prepare } from './database.ts';
import { sqliteDriver, type Driver } from './driver.ts';
import {
  isBusy,
  isReadOnlyFailure,
  isRefusedByDisk,
  needsWriting,
  readOnlyFailure,
  tooLarge,
} from './failures.ts';

export type { Database } from './database.ts';

/** The one door to SQLite: files that many processes read and write at once. */

/** Another process that holds a write-ahead log keeps it for as long as it lives, so there is little to wait for. */
const HANDOVER_MS = 2_000;
/** More than a million memories. */
const MOST_BYTES = 2 * 1024 ** 3;

export interface OpenOptions {
  /** Makes or changes the tables; called until it succeeds, so it has to bear being called again. */
  prepare: Prepare;
  check?: Check | undefined;
  driver?: Driver | undefined;
  statementMs?: number | undefined;
  /** `false` for one who only reads: it makes no file, changes none, and brings nothing into one. */
  writes?: boolean | undefined;
  /** `auto` is a write-ahead log unless something is known that forbids it. */
  journal?: 'auto' | Journal | undefined;
}

export async function openSqlite(
  path: string,
  { prepare, check, driver, statementMs, writes = true, journal: asked = 'auto' }: OpenOptions,
): Promise<Database> {
  const chosen = driver ?? (await sqliteDriver());
  await refuseForeignJournal(path);
  if (((await sizeAndTime(path))?.size ?? 0) > MOST_BYTES) throw tooLarge(path);
  const read = { driver: chosen, prepare, check };
  if (!(await isWritable(path))) {
    const notes = [readOnlyFailure(path).text.replaceAll('\n\n', ' ')];
    return openToRead(path, { ...read, notes });
  }
  const quiet = writes ? undefined : await openQuietly(path, read);
  if (quiet !== undefined) return quiet;
  await ensureFolder(dirname(path));
  await ensureFile(path);
  const { journal, notes } = await journalFor(path, chosen, asked);
  const attempt = async (mode: Journal): Promise<Database> => {
    const handover = performance.now() + HANDOVER_MS;
    const database = await opened(
      path,
      () => new Database(path, chosen, notes, { check, statementMs }),
      (fresh) => {
        // Nothing is changed in a file before it is known to be ours.
        fresh.look();
        try {
          fresh.begin(mode);
        } catch (error) {
          const held = mode === 'delete' && isBusy(error) && fresh.mode() === 'wal';
          throw held && performance.now() > handover ? heldLog(path, notes, error) : error;
        }
      },
    );
    return prepared(database, prepare);
  };
  try {
    return await attempt(journal);
  } catch (error) {
    // A log needs memory shared between processes, which not every file system has.
    if (journal === 'delete' || !isRefusedByDisk(error)) throw error;
    notes.push(`The folder of ${path} does not support a write-ahead log: writes are slower.`);
    return attempt('delete');
  }
}

async function journalFor(
  path: string,
  { safeLog, version, name }: Driver,
  asked: 'auto' | Journal,
): Promise<{ journal: Journal; notes: string[] }> {
  if (!safeLog)
    return {
      journal: 'delete',
      notes: [
        `SQLite ${version} (${name}) is older than 3.51.3: without a write-ahead log, writes are slower.`,
      ],
    };
  if (asked !== 'auto') return { journal: asked, notes: [] };
  const far = await farFolder(dirname(path));
  return far === undefined
    ? { journal: 'wal', notes: [] }
    : {
        journal: 'delete',
        notes: [
          `${dirname(path)} is on a network file system (${far}): without a write-ahead log, writes are slower.`,
        ],
      };
}

interface Reading {
  driver: Driver;
  prepare: Prepare;
  check: Check | undefined;
}

/** Where the head of a file says how it is written, and what it says for a write-ahead log. */
const [MODE_AT, LOGGED] = [18, 2];

/**
 * For one who only reads what others may write: without files beside it, as SQLite makes them for a file that is written
 * with a log, and without a change to it. Nothing where there is something to do first that only a writer can, such as
 * to take back half a transaction.
 */
async function openQuietly(path: string, reading: Reading): Promise<Database | undefined> {
  const mode = (await firstBytes(path, MODE_AT + 1))[MODE_AT];
  if (mode === undefined || !reading.driver.safeLog) return undefined;
  // Whoever has a file open that is written with a log has a log.
  const access = mode === LOGGED && (await sizeAndTime(`${path}-wal`)) === undefined ? 'still' : 'read';
  try {
    return await prepared(await readAs(access, path, { ...reading, notes: [] }), reading.prepare);
  } catch (error) {
    if (error instanceof BmadError && isReadOnlyFailure(error)) return undefined;
    throw error;
  }
}

/**
 * A file that may only be read. One with a write-ahead log needs files beside it, which cannot be created here; if they
 * are missing, no one is writing either, and SQLite is opened in immutable mode.
 */
async function openToRead(path: string, reading: Reading & { notes: readonly string[] }): Promise<Database> {
  let database: Database;
  try {
    database = await readAs('read', path, reading);
  } catch (error) {
    const log = await sizeAndTime(`${path}-wal`);
    if (!(error instanceof BmadError) || !needsWriting(error.cause) || (log?.size ?? 0) > 0) throw error;
    database = await readAs('still', path, reading);
  }
  return prepared(database, reading.prepare);
}

async function readAs(
  access: Access,
  path: string,
  { driver, prepare, check, notes }: Reading & { notes: readonly string[] },
): Promise<Database> {
  return opened(
    path,
    () => new Database(path, driver, notes, { access, prepare, check }),
    (fresh) => fresh.look(),
  );
}

/** How a journal ends that names a second file, which SQLite would read, and remove when it is done. */
const SECOND_FILE = Buffer.from('d9d505f920a163d7', 'hex');

/** A transaction of ours is about one file. A journal that names another was made to have that one removed. */
async function refuseForeignJournal(path: string): Promise<void> {
  if (!(await lastBytes(`${path}-journal`, SECOND_FILE.length)).equals(SECOND_FILE)) return;
  throw new BmadError('unavailable', `${path}-journal was not written by this server. It was not used.`, {
    subject: path,
    hint: 'Find out who put it there, then move it elsewhere.',
  });
}

async function opened(
  path: string,
  connect: () => Database,
  begin: (fresh: Database) => void,
): Promise<Database> {
  return patiently(path, () => {
    const fresh = connect();
    try {
      begin(fresh);
      return fresh;
    } catch (error) {
      fresh.close();
      throw error;
    }
  });
}

function heldLog(path: string, notes: readonly string[], cause: unknown): BmadError {
  return new BmadError(
    'unavailable',
    `${path} is open in another process with a write-ahead log, which this process must not use.`,
    {
      subject: path,
      hint: `${notes.join(' ')} Stop the other process, or let both use the same SQLite version on a local disk.`.trim(),
      cause,
    },
  );
}

async function prepared(database: Database, prepare: Prepare): Promise<Database> {
  try {
    await patiently(database.path, async () => prepare(database));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
