import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { sizeAndTime } from '../../../base/files/file-state.ts';
import type { Connection, Driver, SqlValue, Statement } from './driver.ts';
import { isBusy, readOnlyFailure, sqlFailure, takesTooLong } from './failures.ts';

/**
 * How long a statement waits inside SQLite, where nothing else of this process runs, and how long a call tries in all:
 * between its attempts the process does other things.
 */
const WAIT_MS = 10;
const TRY_MS = 30_000;
const PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 100;

export type Journal = 'wal' | 'delete';

/** Runs work that another process may be in the way of, until it succeeds or has tried for long enough. */
export async function patiently<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  const deadline = performance.now() + TRY_MS;
  for (let wait = PAUSE_MS; ; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw sqlFailure(path, error);
      // By chance, so that processes that wait for each other do not come back at the same moment.
      await pause(wait * (0.5 + Math.random()));
    }
  }
}

/** `still`: a file that no one writes while it is read; it is reopened if it has changed after all. */
export type Access = 'write' | 'read' | 'still';

/** Creates or changes the tables, or what a connection needs. */
export type Prepare = (database: Database) => void | Promise<void>;

/** Looks at the tables before anything in them is used, and again when someone has changed them. Throws to refuse. */
export type Check = (database: Database) => void;

/** Many times what the largest store needs on a slow disk. */
const STATEMENT_MS = 20_000;
const ROWS_BETWEEN_LOOKS = 256;

/** Their texts vary with the filters of calls. */
const STATEMENTS_KEPT = 100;

interface DatabaseOptions {
  access?: Access;
  prepare?: Prepare;
  check?: Check | undefined;
  /** After this time, a statement is ended between two of its rows. */
  statementMs?: number | undefined;
}

export class Database {
  readonly path: string;
  readonly driver: Driver;
  readonly notes: readonly string[];
  readonly #prepare: Prepare;
  readonly #check: Check;
  readonly #statementMs: number;
  readonly #statements = new Map<string, Statement>();
  #access: Access;
  #connection: Connection;
  #journal = 'unknown';
  /** For a file that stands still: what it was like when it was opened, and how often it was opened. */
  #seen: string | undefined;
  #openings = 0;
  /** The version of the tables that was found to be in order. */
  #checked: number | undefined;

  constructor(
    path: string,
    driver: Driver,
    notes: readonly string[],
    {
      access = 'write',
      prepare = () => undefined,
      check = () => undefined,
      statementMs = STATEMENT_MS,
    }: DatabaseOptions = {},
  ) {
    this.path = path;
    this.driver = driver;
    this.notes = notes;
    this.#access = access;
    this.#prepare = prepare;
    this.#check = check;
    this.#statementMs = statementMs;
    this.#connection = this.#connect();
  }

  get journal(): string {
    return this.#access === 'write' ? this.#journal : 'none (read-only)';
  }

  get readOnly(): boolean {
    return this.#access !== 'write';
  }

  #connect(): Connection {
    const still = this.#access === 'still';
    const place = still ? `${pathToFileURL(this.path).href}?immutable=1` : this.path;
    return this.driver.connect(place, WAIT_MS, this.readOnly);
  }

  begin(journal: Journal): void {
    const row = this.#statement(`PRAGMA journal_mode=${journal}`).get() as { journal_mode: string };
    this.#journal = row.journal_mode;
    // What a call has answered for survives a power cut. Mapped memory stays off, its default: it has damaged files.
    // What is removed is overwritten, and so is a row that moves when it is marked: it may have to go for good later.
    this.#connection.exec('PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA secure_delete=ON;');
  }

  /** Whether the file can be read and is what it should be. */
  look(): void {
    this.transaction('BEGIN', () => undefined);
  }

  /** How the file is written by the processes that have it open; undefined if it cannot be determined. */
  mode(): string | undefined {
    try {
      return (this.#statement('PRAGMA journal_mode').get() as { journal_mode: string }).journal_mode;
    } catch {
      return undefined;
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
    const deadline = performance.now() + this.#statementMs;
    const rows: T[] = [];
    // Row by row, so that one that gives more and more can be ended: nothing else of this process runs meanwhile.
    for (const row of this.#statement(sql).iterate(...values.map(safe)))
      if (rows.push(row as T) % ROWS_BETWEEN_LOOKS === 0 && performance.now() > deadline)
        throw takesTooLong(this.path, this.#statementMs);
    return rows;
  }

  /** One consistent view for several reads; errors come as ours. */
  async read<T>(work: () => T): Promise<T> {
    if (this.#access === 'still') await this.#refresh();
    return patiently(this.path, () => this.transaction('BEGIN', work));
  }

  /** All of it or nothing, while no other process writes. */
  async write<T>(work: () => T): Promise<T> {
    if (this.readOnly) throw readOnlyFailure(this.path);
    return patiently(this.path, () => this.transaction('BEGIN IMMEDIATE', work));
  }

  async #refresh(): Promise<void> {
    const [file, log] = await Promise.all([sizeAndTime(this.path), sizeAndTime(`${this.path}-wal`)]);
    const now = JSON.stringify([file, log]);
    const before = this.#seen;
    this.#seen = now;
    if (before === undefined || before === now) return;
    this.#statements.clear();
    this.#connection.close();
    // If there is a log now, another process is writing, and the files that reading needs exist.
    this.#access = (log?.size ?? 0) > 0 ? 'read' : 'still';
    this.#connection = this.#connect();
    this.#openings++;
    this.#checked = undefined;
    await this.#prepare(this);
  }

  async copyTo(path: string): Promise<void> {
    await this.driver.copy(this.#connection, path);
  }

  /** Moves what is in the write-ahead log into the file and leaves nothing in it; while others read, that waits. */
  emptyLog(): void {
    if (this.#journal === 'wal') this.#statement('PRAGMA wal_checkpoint(TRUNCATE)').get();
  }

  transaction<T>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: () => T): T {
    this.#connection.exec(begin);
    let result: T;
    try {
      this.#lookAtTables();
      result = work();
      this.#connection.exec('COMMIT');
    } catch (error) {
      try {
        this.#connection.exec('ROLLBACK');
      } catch {
        // After some failures SQLite has already rolled back; the first error is the one to report.
      }
      throw error;
    }
    return result;
  }

  /** Inside a transaction, so that what was looked at is what is used. */
  #lookAtTables(): void {
    const { schema_version: version } = this.#statement('PRAGMA schema_version').get() as {
      schema_version: number;
    };
    if (version === this.#checked) return;
    this.#check(this);
    this.#checked = version;
  }

  /** Moves with each commit of another connection, not with our own. */
  dataVersion(): number {
    const row = this.#statement('PRAGMA data_version').get() as { data_version: number };
    return this.#openings * 1_000_000 + row.data_version;
  }

  /** A reader leaves even the place of what others have written as it is. */
  close(foldLog = true): void {
    // Drivers keep a file open until its statements are collected, so the log is not folded in by closing alone.
    try {
      if (foldLog && this.#journal === 'wal') this.#connection.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // Another process will do it.
    }
    this.#statements.clear();
    this.#connection.close();
  }

  #statement(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare(sql);
      const [oldest] = this.#statements.keys();
      if (this.#statements.size >= STATEMENTS_KEPT && oldest !== undefined) this.#statements.delete(oldest);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** Drivers end a text at NUL. */
function safe(value: SqlValue): SqlValue {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '') : value;
}
