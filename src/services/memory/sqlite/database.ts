import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileIdentity } from '../../../base/files/file-tree.ts';
import { ensureFile, ensureFolder } from '../../../base/files/file-modes.ts';
import { sizeAndTime } from '../../../base/files/file-state.ts';
import { farFolder } from '../../../base/files/file-systems.ts';
import { removeFile } from '../../../base/files/open-file.ts';
import { BmadError } from '../../../base/errors.ts';
import { createBounded } from '../../../base/values.ts';
import type { DatabaseSyncInstance, DatabaseSyncOptions } from '@photostructure/sqlite';

/**
 * How long a statement waits inside SQLite, where nothing else of this process runs, and how long a call tries in all:
 * between its attempts the process does other things.
 */
const WAIT_MS = 10;
const TRY_MS = 30_000;
const PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 100;

export type Journal = 'auto' | 'wal' | 'delete';

/** Runs work that another process may be in the way of, until it succeeds or has tried for long enough. */
async function patiently<T>(work: () => T): Promise<T> {
  const deadline = performance.now() + TRY_MS;
  for (let wait = PAUSE_MS; ; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      // By chance, so that processes that wait for each other do not come back at the same moment.
      await pause(wait * (0.5 + Math.random()));
    }
  }
}

const STATEMENTS_KEPT = 100;

/** One opening of a file that many processes read and write at once. */
export class Database {
  #statements = createBounded<Statement>(STATEMENTS_KEPT);
  readonly #connection: Connection;
  /** Looks at the file with each transaction; throws where it has become another one. */
  check: () => void = () => undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  exec(sql: string): void {
    this.#connection.exec(sql);
  }

  run(sql: string, ...values: SqlValue[]): void {
    this.#statement(sql).run(...values.map(safe));
  }

  get<T>(sql: string, ...values: SqlValue[]): T | undefined {
    return (this.#statement(sql).get(...values.map(safe)) ?? undefined) as T | undefined;
  }

  all<T>(sql: string, ...values: SqlValue[]): T[] {
    return [...this.#statement(sql).iterate(...values.map(safe))] as T[];
  }

  async read<T>(work: () => T): Promise<T> {
    return patiently(() => this.#transaction('BEGIN', work));
  }

  async write<T>(work: () => T): Promise<T> {
    return patiently(() => this.#transaction('BEGIN IMMEDIATE', work));
  }

  emptyLog(): void {
    this.#statement('PRAGMA wal_checkpoint(TRUNCATE)').get();
  }

  close(): void {
    // Drivers keep a file open until its statements are collected, so the log is not folded in by closing alone.
    try {
      this.#connection.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {}
    this.#statements = createBounded(STATEMENTS_KEPT);
    this.#connection.close();
  }

  #transaction<T>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: () => T): T {
    this.#connection.exec(begin);
    try {
      this.check();
      const result = work();
      this.#connection.exec('COMMIT');
      return result;
    } catch (error) {
      try {
        this.#connection.exec('ROLLBACK');
      } catch {
        // After some failures SQLite has already rolled back; the first error is the one to report.
      }
      throw error;
    }
  }

  #statement(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** Drivers end a text at NUL. */
function safe(value: SqlValue): SqlValue {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '') : value;
}

interface Tables {
  /** Makes what is missing, and answers with the name of the file; inside a transaction. */
  prepare: (database: Database) => string;
  identify: (database: Database) => string;
  /** Whether all of it is made, which takes a fifth less with more room, and fewer copies from the log into the file. */
  isMade?: boolean | undefined;
}

const ROOMY = 'PRAGMA cache_size=-16000; PRAGMA wal_autocheckpoint=8000;';

/**
 * A file that can be made again at any time, so whatever is wrong with it ends in a new one: it is damaged, or from somebody
 * else, or gone. It is compared with the one on the disk before each use, since others may have made it again.
 */
export class KeptFile {
  readonly path: string;
  readonly #driver: Driver;
  readonly #journal: Journal;
  readonly #tables: Tables;
  #opened: { database: Database; identity: string | undefined } | undefined;
  #opening: Promise<Database> | undefined;
  #users = 0;
  #leaving = false;
  name: string | undefined;

  constructor(path: string, driver: Driver, journal: Journal, tables: Tables) {
    this.path = path;
    this.#driver = driver;
    this.#journal = journal;
    this.#tables = tables;
  }

  async use<T>(work: (database: Database) => Promise<T>): Promise<T> {
    this.#users++;
    let database: Database | undefined;
    try {
      database = await this.#current();
      return await work(database);
    } catch (error) {
      const isOpen = database !== undefined && database === this.#opened?.database;
      // Whatever is wrong with it: the next call begins with a new file.
      if (USELESS.has(primary(error) ?? 0)) await this.#discard();
      throw isOpen && primary(error) === undefined ? error : indexFailure(this.path, error);
    } finally {
      this.#users--;
      if (this.#leaving && this.#users === 0) this.#shut();
    }
  }

  /** Gives the file back as soon as no one uses it; whoever uses it later opens it for as long as that takes. */
  close(): void {
    this.#leaving = true;
    if (this.#users === 0) this.#shut();
  }

  #shut(): void {
    this.#opened?.database.close();
    this.#opened = undefined;
  }

  async #current(): Promise<Database> {
    const opened = this.#opened;
    if (opened !== undefined && (await fileIdentity(this.path)) === opened.identity) return opened.database;
    return (this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    }));
  }

  async #open(): Promise<Database> {
    this.#shut();
    await ensureFolder(dirname(this.path));
    // Somebody has emptied it under its log, which SQLite would wait for.
    const isEmptied = (await sizeAndTime(this.path))?.size === 0;
    if (isEmptied && ((await sizeAndTime(`${this.path}-wal`))?.size ?? 0) > 0) await this.#discard();
    await ensureFile(this.path);
    // A write-ahead log needs memory that processes share, and an older SQLite damages it.
    const asked = this.#journal;
    const isFar = asked === 'auto' && (await farFolder(dirname(this.path))) !== undefined;
    const journal = asked === 'delete' || isFar || !this.#driver.safeLog ? 'delete' : 'wal';
    const database = await patiently(() => {
      const connection = this.#driver.connect(this.path, WAIT_MS);
      try {
        // What is lost with the power is read again from the lines. What is removed is overwritten: it may have to go for good.
        connection.exec(
          `PRAGMA journal_mode=${journal}; PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON; ${this.#tables.isMade ? ROOMY : ''}`,
        );
        return new Database(connection);
      } catch (error) {
        connection.close();
        throw error;
      }
    });
    const name = await database
      .write(() => this.#tables.prepare(database))
      .catch((error: unknown) => {
        database.close();
        throw error;
      });
    // Somebody may write another one over it, which the name of the file does not tell.
    database.check = () => {
      if (name !== this.#tables.identify(database)) throw damaged('it was replaced while it was in use');
    };
    this.#opened = { database, identity: await fileIdentity(this.path) };
    this.name = name;
    return database;
  }

  async #discard(): Promise<void> {
    this.#shut();
    for (const end of ['', '-wal', '-shm', '-journal'])
      await removeFile(`${this.path}${end}`).catch(() => undefined);
  }
}

const BUSY = new Set([5, 6]);
const DAMAGED = 11;
/** Damaged, not a database, of another schema, or otherwise nothing that this program has made. */
const USELESS = new Set([1, DAMAGED, 17, 20, 26]);

const HINT =
  'It is an index, made from the lines that the project keeps: check the disk of the cache folder, or set cache to another one, then try again.';

/** SQLite's own words: one of the drivers leaves the code out where many rows are read. */
const BY_TEXT: Readonly<Record<string, number>> = {
  'database is locked': 5,
  'database table is locked': 6,
  'database disk image is malformed': 11,
  'file is not a database': 26,
};

function primary(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff;
  return 'code' in error && error.code === 'ERR_SQLITE_ERROR' ? BY_TEXT[error.message] : undefined;
}

const isBusy = (error: unknown): boolean => BUSY.has(primary(error) ?? 0);

/** What SQLite says of a damaged page, for what it cannot know: that a row makes no sense, or the file is another one. */
export const damaged = (why = 'one of its rows is damaged', cause?: unknown): Error =>
  Object.assign(new Error(why, { cause }), { errcode: DAMAGED });

/** What was written in a row as JSON. Inside a transaction. */
export function jsonInRow<T>(text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw damaged(undefined, error);
  }
}

/** Whatever went wrong with it: nothing is lost, and whoever needs it does without. */
function indexFailure(path: string, cause: unknown): BmadError {
  const why = cause instanceof Error ? cause.message.replace(/\.$/, '') : 'SQLite refused it';
  const message = isBusy(cause) ? `Another process is using ${path}.` : `${path} cannot be used: ${why}.`;
  return new BmadError('unavailable', message, { reason: 'index', subject: path, hint: HINT, cause });
}

/** What a driver takes and gives. Anything else would silently become NULL. */
export type SqlValue = string | number | bigint | Uint8Array | null;

export type Connection = Pick<DatabaseSyncInstance, 'exec' | 'prepare' | 'close'>;
type Statement = ReturnType<Connection['prepare']>;

export interface Driver {
  name: string;
  version: string;
  /** With several processes, write-ahead logs of older versions can be damaged. */
  safeLog: boolean;
  connect(path: string, waitMs: number): Connection;
}

interface DriverModule {
  DatabaseSync: new (path: string, options: DatabaseSyncOptions) => Connection;
}

/** The first version whose write-ahead log several processes can reset at once without damage. */
const SAFE_LOG = [3, 51, 3] as const;

/** The best SQLite that is here: the optional package, else the one inside Node, which is loaded only when it is needed. */
export async function sqliteDriver(): Promise<Driver> {
  const packaged = await described('@photostructure/sqlite', async () => import('@photostructure/sqlite'));
  if (packaged?.safeLog === true) return packaged;
  const own = await described('node:sqlite', nodeSqlite);
  const best = own?.safeLog === true ? own : (packaged ?? own);
  if (best !== undefined) return best;
  throw new BmadError('unavailable', 'SQLite is not available on this machine.', {
    hint: 'Install the optional package @photostructure/sqlite beside the server, or run it on Node 22.13 or later.',
  });
}

/** Node 22 prints a warning when this module is loaded, which would stand in front of every answer of the command line. */
async function nodeSqlite(): Promise<DriverModule> {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    // The types of the oldest Node we run on do not know this module.
    return (await import(['node', 'sqlite'].join(':'))) as DriverModule;
  } finally {
    process.emitWarning = emitWarning;
  }
}

async function described(name: string, load: () => Promise<DriverModule>): Promise<Driver | undefined> {
  try {
    const { DatabaseSync } = await load();
    const connection = new DatabaseSync(':memory:', { timeout: 0 });
    const { version } = connection.prepare('SELECT sqlite_version() AS version').get() as { version: string };
    // Some builds come without the word index.
    connection.exec('CREATE VIRTUAL TABLE probe USING fts5(words)');
    connection.close();
    return {
      name,
      version,
      safeLog: isSafe(version),
      // SQL cannot write what SQLite itself keeps in tables; older Nodes do not know this.
      connect: (path, waitMs) => new DatabaseSync(path, { timeout: waitMs, defensive: true }),
    };
  } catch {
    return undefined;
  }
}

export function isSafe(version: string): boolean {
  const parts = version.split('.').map(Number);
  for (const [index, least] of SAFE_LOG.entries()) {
    const part = parts[index] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}
