import { join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { modifiedAt, stateNames } from '../../base/files/file-state.ts';
import { refuseLinks } from './place.ts';
import { sqliteDriver, type Driver } from './sqlite/driver.ts';
import { JsonlStore } from './jsonl/store.ts';
import type { QdrantAddress } from './qdrant/client.ts';
import type { MemoryStore } from './engine.ts';
import type { StoreHealth, StoreOptions } from './store.ts';

export interface EngineSettings {
  /** `auto` is Qdrant when there is an address, else SQLite, else a log. */
  engine: 'auto' | 'sqlite' | 'qdrant' | 'jsonl';
  /** How a SQLite file is written. */
  journal: 'auto' | 'wal' | 'delete';
  qdrantUrl: string | undefined;
  qdrantApiKey: string | undefined;
}

export interface StorePlace {
  /** The folder of the project's memories; files are made in it. */
  folder: string;
  engine?: EngineSettings['engine'] | undefined;
  journal?: EngineSettings['journal'] | undefined;
  qdrant?: QdrantAddress | undefined;
  /** `false` for one that only reads: it finds nothing where there is no store. */
  makes?: boolean | undefined;
  keeping?: Keeping | undefined;
}

/** How a store that was removed while it was in use comes back. */
export interface Keeping {
  /** Whether this process may write at all. */
  writes: boolean;
  /** Makes the folder again. */
  remake?: (() => Promise<void>) | undefined;
  onMoved?: ((what: string) => void) | undefined;
}

export const SQLITE_FILE = '.bmad-memory.db';
export const LOG_FILE = '.bmad-memory.jsonl';

export function isOnQdrant({ engine, qdrantUrl }: EngineSettings): boolean {
  return engine === 'qdrant' || (engine === 'auto' && qdrantUrl !== undefined);
}

/** Opens the store that the settings ask for; one that is only read is not made. */
export async function openConfigured(
  { engine, journal, qdrantUrl: url, qdrantApiKey: apiKey }: EngineSettings,
  folder: string,
  options: StoreOptions,
  makes = true,
  keeping?: Keeping,
): Promise<MemoryStore> {
  await refuseLinks(folder);
  const qdrant = url === undefined ? undefined : { url, apiKey };
  return openStore({ folder, engine, journal, qdrant, makes, keeping }, options);
}

/** The store of a project. An engine that was asked for is never replaced by another: memories would part. */
export async function openStore(
  { folder, engine = 'auto', journal, qdrant, makes = true, keeping }: StorePlace,
  options: StoreOptions,
): Promise<MemoryStore> {
  if (engine === 'qdrant' || (engine === 'auto' && qdrant !== undefined)) {
    if (qdrant === undefined)
      throw new BmadError('invalid_input', 'The memory engine is qdrant, but no address is set.', {
        hint: 'Set BMAD_QDRANT_URL, for instance to http://localhost:6333.',
      });
    const { QdrantStore } = await import('./qdrant/store.ts');
    return new QdrantStore({ ...options, address: qdrant });
  }
  const log = join(folder, LOG_FILE);
  const note = await twoStoresNote(folder);
  if (engine === 'jsonl') return new JsonlStore({ ...options, file: log, reason: note });
  const driver = await sqliteDriver().catch((error: unknown) => {
    if (engine === 'sqlite') throw error;
    return undefined;
  });
  if (engine === 'auto') await refuseToPart(folder, driver !== undefined);
  if (driver === undefined)
    return new JsonlStore({
      ...options,
      file: log,
      reason:
        'SQLite is not available, so memories are kept in a plain log, which is slower beyond about ten thousand memories. Install the optional package @photostructure/sqlite, or use Node 22.13 or later.',
    });
  const file = join(folder, SQLITE_FILE);
  // To open a database is to make it.
  if (!makes && (await modifiedAt(file)) === undefined) return new NoDatabaseYet(options, file, driver);
  const { openSqliteStore } = await import('./sqlite/store.ts');
  const admit = (): Promise<void> => refuseLinks(folder);
  return openSqliteStore({ ...options, ...keeping, admit, file, driver, journal, note });
}

/** Stands in for a database until the first memory creates one: a log that is never written, and so is empty. */
export class NoDatabaseYet extends JsonlStore {
  readonly #database: string;
  readonly #driver: Driver;

  constructor(options: StoreOptions, database: string, driver: Driver) {
    super({ ...options, file: `${database}.none` });
    this.#database = database;
    this.#driver = driver;
  }

  /** Whether a database exists now, even if another process created it. */
  async isMade(): Promise<boolean> {
    return (await modifiedAt(this.#database)) !== undefined;
  }

  override change<T>(): Promise<T[]> {
    throw new Error('A memory write reached a store that was opened to read.');
  }

  override async health(): Promise<StoreHealth> {
    const { name: driver, version: sqlite } = this.#driver;
    return {
      ...(await super.health()),
      engine: 'sqlite',
      place: this.#database,
      details: { driver, sqlite },
    };
  }
}

/**
 * No engine was requested, so the one used before is meant. A new, empty store beside it would take all new memories,
 * and no one would notice.
 */
async function refuseToPart(folder: string, hasSqlite: boolean): Promise<void> {
  const names = await stateNames(folder);
  if (!hasSqlite && names.includes(SQLITE_FILE))
    throw new BmadError(
      'unavailable',
      `The memories are in ${join(folder, SQLITE_FILE)}, but SQLite is not available to open it.`,
      {
        subject: folder,
        hint: 'Install the optional package @photostructure/sqlite beside the server, or use Node 22.13 or later. To use a separate store on purpose, set memory_engine to "jsonl".',
      },
    );
  if (hasSqlite && names.includes(LOG_FILE) && !names.includes(SQLITE_FILE))
    throw new BmadError(
      'unavailable',
      `The memories are in ${join(folder, LOG_FILE)}, which was created without SQLite; SQLite is now available.`,
      {
        subject: folder,
        hint: `Set memory_engine to "jsonl" to keep using it. To change over, export everything with that setting; then set it to "sqlite", import the export and move ${LOG_FILE} away.`,
        steps: [
          { operation: 'memory_export', args: { format: 'jsonl', all: true }, why: 'Export everything' },
          { operation: 'memory_import', open: ['file'], why: 'Import the export' },
        ],
      },
    );
}

/** Where both engines have left a file, each has memories that the other does not know. */
export async function hasTwoStores(folder: string): Promise<boolean> {
  const names = await stateNames(folder);
  return names.includes(SQLITE_FILE) && names.includes(LOG_FILE);
}

async function twoStoresNote(folder: string): Promise<string | undefined> {
  if (!(await hasTwoStores(folder))) return undefined;
  return `There are two stores in ${folder}, ${SQLITE_FILE} and ${LOG_FILE}, and only one is in use. Export the other with memory_engine set to "sqlite" or "jsonl", import that here, then move its file away.`;
}
