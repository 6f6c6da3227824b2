import { join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import type { Driver } from '../../base/sqlite-driver.ts';
import { isUsed } from './place.ts';
import type { MemoryStore, StoreOptions } from './store.ts';

export interface EngineSettings {
  engine: 'auto' | 'sqlite' | 'qdrant' | 'jsonl';
  qdrantUrl: string | undefined;
  qdrantApiKey: string | undefined;
}

/** Opens the engine that the settings ask for. Only `auto` falls back to another, and says so. */
export async function openStore(
  { engine, qdrantUrl, qdrantApiKey }: EngineSettings,
  folder: string,
  options: StoreOptions,
  writes = true,
): Promise<MemoryStore> {
  if (engine === 'qdrant' || (engine === 'auto' && qdrantUrl !== undefined)) {
    if (qdrantUrl === undefined)
      throw new BmadError('invalid_input', 'The memory engine is qdrant, and there is no address for it.', {
        hint: 'Set BMAD_QDRANT_URL, such as http://localhost:6333.',
      });
    const { openQdrantStore } = await import('./qdrant/store.ts');
    return openQdrantStore({ ...options, url: qdrantUrl, apiKey: qdrantApiKey });
  }
  // To open a file may be to make it; where nothing may be written, one that is not there is empty.
  if (!writes && !(await isUsed(folder))) return jsonl(folder, options);
  if (engine === 'jsonl') return jsonl(folder, options);
  const { sqliteDriver } = await import('../../base/sqlite-driver.ts');
  let driver: Driver;
  try {
    driver = await sqliteDriver();
  } catch (error) {
    if (engine === 'sqlite' || !(error instanceof BmadError)) throw error;
    return jsonl(folder, options, error.message);
  }
  // A file that cannot be opened is no reason for another engine: what is in it would seem forgotten.
  const { openSqliteStore } = await import('./sqlite/store.ts');
  return openSqliteStore({ ...options, driver, file: join(folder, 'memory.db') });
}

async function jsonl(folder: string, options: StoreOptions, reason?: string): Promise<MemoryStore> {
  const { JsonlStore } = await import('./jsonl/store.ts');
  return new JsonlStore({ ...options, file: join(folder, 'memory.jsonl'), reason });
}
