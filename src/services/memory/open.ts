import { join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { sqliteDriver } from '../../base/sqlite-driver.ts';
import { JsonlStore } from './jsonl/store.ts';
import type { QdrantAddress } from './qdrant/client.ts';
import type { MemoryStore, StoreOptions } from './store.ts';

export interface StorePlace {
  /** The folder of the project's memories; files are made in it. */
  folder: string;
  /** `auto` is Qdrant when there is an address, else SQLite, else a log. */
  engine?: 'auto' | 'sqlite' | 'qdrant' | 'jsonl' | undefined;
  qdrant?: QdrantAddress | undefined;
}

const SQLITE_FILE = '.bmad-memory.db';
const LOG_FILE = '.bmad-memory.jsonl';

/** The store of a project. An engine that was asked for is never replaced by another: memories would part. */
export async function openStore(
  { folder, engine = 'auto', qdrant }: StorePlace,
  options: StoreOptions,
): Promise<MemoryStore> {
  if (engine === 'qdrant' || (engine === 'auto' && qdrant !== undefined)) {
    if (qdrant === undefined)
      throw new BmadError('invalid_input', 'The memory engine is qdrant, but there is no address.', {
        hint: 'Set BMAD_QDRANT_URL, for instance to http://localhost:6333.',
      });
    const { QdrantStore } = await import('./qdrant/store.ts');
    return new QdrantStore({ ...options, address: qdrant });
  }
  const log = join(folder, LOG_FILE);
  if (engine === 'jsonl') return new JsonlStore({ ...options, file: log });
  const driver = await sqliteDriver().catch((error: unknown) => {
    if (engine === 'sqlite') throw error;
    return undefined;
  });
  if (driver === undefined)
    return new JsonlStore({
      ...options,
      file: log,
      reason:
        'There is no SQLite here, so memories are in a plain log: slower from some ten thousand on. Install the optional package @photostructure/sqlite, or use Node 22.13 or later.',
    });
  const { openSqliteStore } = await import('./sqlite/store.ts');
  return openSqliteStore({ ...options, file: join(folder, SQLITE_FILE), driver });
}
