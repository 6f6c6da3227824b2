import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BmadError } from './errors.ts';
import { ensureFolder, isFarFolder } from './file-state.ts';
import {
  sqliteDriver,
  type Connection,
  type Driver,
  type SqlValue,
  type Statement,
} from './sqlite-driver.ts';

/** The one door to SQLite: files that many processes read and write at once. */

/** How long a statement waits inside SQLite, and how long a call tries in all. */
const WAIT_MS = 5_000;
const TRY_MS = 30_000;
const PAUSE_MS = 25;

type Journal = 'wal' | 'delete';

export interface OpenOptions {
  /** Makes or changes the tables; called until it succeeds, so it has to bear being called again. */
  prepare: (database: Database) => void;
  driver?: Driver | undefined;
}

export async function openSqlite(path: string, { prepare, driver }: OpenOptions): Promise<Database> {
  const chosen = driver ?? (await sqliteDriver());
  await ensureFolder(dirname(path));
  const notes: string[] = [];
  let journal: Journal = 'wal';
  if (!chosen.safeLog) {
    journal = 'delete';
    notes.push(
      `SQLite ${chosen.version} (${chosen.name}) is older than 3.51.3: without a write-ahead log, writes are slower.`,
    );
  } else if (await isFarFolder(dirname(path))) {
    journal = 'delete';
    notes.push(`${dirname(path)} is on a network file system: without a write-ahead log, writes are slower.`);
  }
  const attempt = async (mode: Journal): Promise<Database> =>
    patiently(path, () => {
      const database = new Database(path, chosen, notes);
      try {
        database.begin(mode);
        prepare(database);
        return database;
      } catch (error) {
        database.close();
        throw error;
      }
    });
  try {
    return await attempt(journal);
  } catch (error) {
    // A log needs memory shared between processes, which not every file system has.
    if (journal === 'delete' || !(error instanceof BmadError) || primary(error.cause) !== IO_ERROR)
      throw error;
    notes.push(`The folder of ${path} does not bear a write-ahead log: writes are slower.`);
    return attempt('delete');
  }
}

/** Runs work that another process may be in the way of, until it succeeds or has tried for long enough. */
async function patiently<T>(path: string, work: () => T): Promise<T> {
  const deadline = performance.now() + TRY_MS;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw sqlFailure(path, error);
      await pause(PAUSE_MS * (1 + Math.random()));
    }
  }
}

export class Database {
  readonly path: string;
  readonly driver: Driver;
  readonly notes: readonly string[];
  readonly #connection: Connection;
  readonly #statements = new Map<string, Statement>();
  #journal = 'unknown';

  constructor(path: string, driver: Driver, notes: readonly string[]) {
    this.path = path;
    this.driver = driver;
    this.notes = notes;
    this.#connection = driver.connect(path, WAIT_MS);
  }

  get journal(): string {
    return this.#journal;
  }

  begin(journal: Journal): void {
    this.#journal = this.#setJournal(journal);
    // What a call has answered for survives a power cut. Mapped memory stays off, its default: it has damaged files.
    this.#connection.exec('PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;');
  }

  #setJournal(journal: Journal): string {
    try {
      const row = this.#statement(`PRAGMA journal_mode=${journal}`).get() as { journal_mode: string };
      return row.journal_mode;
    } catch (error) {
      if (journal === 'wal' || !isBusy(error)) throw error;
      throw new BmadError(
        'unavailable',
        `${this.path} is open in another process with a write-ahead log, which this one must not use.`,
        {
          subject: this.path,
          hint: `${this.notes.join(' ')} End the other process, or let both use the same SQLite on a local disk.`,
          cause: error,
        },
      );
    }
  }

  exec(sql: string): void {
    this.#connection.exec(sql);
  }

  run(sql: string, ...values: SqlValue[]): number {
    return Number(this.#statement(sql).run(...values.map(safe)).changes);
  }

  get<T>(sql: string, ...values: SqlValue[]): T | undefined {
    return (this.#statement(sql).get(...values.map(safe)) ?? undefined) as T | undefined;
  }

  all<T>(sql: string, ...values: SqlValue[]): T[] {
    return this.#statement(sql).all(...values.map(safe)) as T[];
  }

  /** One consistent view for several reads; errors come as ours. */
  async read<T>(work: () => T): Promise<T> {
    return patiently(this.path, () => this.transaction('BEGIN', work));
  }

  /** All of it or nothing, while no other process writes. */
  async write<T>(work: () => T): Promise<T> {
    return patiently(this.path, () => this.transaction('BEGIN IMMEDIATE', work));
  }

  /** Moves what is in the write-ahead log into the file and leaves nothing in it; while others read, that waits. */
  emptyLog(): void {
    if (this.#journal === 'wal') this.#statement('PRAGMA wal_checkpoint(TRUNCATE)').get();
  }

  transaction<T>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: () => T): T {
    this.#connection.exec(begin);
    let result: T;
    try {
      result = work();
      this.#connection.exec('COMMIT');
    } catch (error) {
      try {
        this.#connection.exec('ROLLBACK');
      } catch {
        // After some failures SQLite has rolled back by itself; the first error is the one to tell.
      }
      throw error;
    }
    return result;
  }

  /** Moves with each commit of another connection, not with our own. */
  dataVersion(): number {
    return (this.#statement('PRAGMA data_version').get() as { data_version: number }).data_version;
  }

  close(): void {
    // Drivers keep a file open until its statements are collected, so the log is not folded in by closing alone.
    try {
      if (this.#journal === 'wal') this.#connection.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // Somebody else will do it.
    }
    this.#statements.clear();
    this.#connection.close();
  }

  #statement(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** Drivers end a text at NUL. */
function safe(value: SqlValue): SqlValue {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '') : value;
}

const IO_ERROR = 10;

/** The primary result code of SQLite, which both drivers give. */
function primary(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

function isBusy(error: unknown): boolean {
  const code = primary(error);
  return code === 5 || code === 6;
}

function sqlFailure(path: string, error: unknown): unknown {
  const tell = (message: string, hint: string): BmadError =>
    new BmadError('unavailable', message, { subject: path, hint, cause: error });
  switch (primary(error) ?? 0) {
    case 5:
    case 6:
      return tell(`Another process is busy with ${path}.`, 'Wait for it to end, then try again.');
    case 3:
    case 8:
    case 14:
      return tell(
        `${path} cannot be opened for writing.`,
        'Check the permissions of the file and of its folder: both have to be writable, also for reading memories.',
      );
    case IO_ERROR:
      return tell(
        `${path} cannot be read or written: the disk refused.`,
        'Check the disk and its free space.',
      );
    case 13:
      return tell(`${path} cannot be written: the disk is full.`, 'Free some space, then try again.');
    case 11:
    case 26:
      return tell(
        `${path} is damaged. It was left as it is.`,
        `Move it away together with ${path}-wal and ${path}-shm, then import the last export of the memories; ` +
          `"sqlite3 ${path} .recover" may bring back what is readable.`,
      );
    default:
      return error;
  }
}
