import { BmadError } from '../../../base/errors.ts';

/** What a driver takes and gives. Anything else would silently become NULL. */
export type SqlValue = string | number | bigint | Uint8Array | null;

export interface Statement {
  run(...values: SqlValue[]): { changes: number | bigint };
  get(...values: SqlValue[]): unknown;
  iterate(...values: SqlValue[]): Iterable<unknown>;
}

export interface Connection {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export interface Driver {
  name: string;
  /** Of SQLite itself. */
  version: string;
  /** With several processes, write-ahead logs of older versions can be damaged. */
  safeLog: boolean;
  connect(path: string, waitMs: number): Connection;
}

interface ConnectionOptions {
  timeout: number;
  /** SQL cannot write what SQLite itself keeps in tables; older Nodes do not know it. */
  defensive?: boolean;
}

interface DriverModule {
  DatabaseSync: new (path: string, options: ConnectionOptions) => Connection;
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
