import { openStore } from './open.ts';
import { isUsed } from './place.ts';
import type { MemoryStore, StoreOptions } from './store.ts';

export interface EngineSettings {
  engine: 'auto' | 'sqlite' | 'qdrant' | 'jsonl';
  journal: 'auto' | 'wal' | 'delete';
  qdrantUrl: string | undefined;
  qdrantApiKey: string | undefined;
}

export function isOnQdrant({ engine, qdrantUrl }: EngineSettings): boolean {
  return engine === 'qdrant' || (engine === 'auto' && qdrantUrl !== undefined);
}

/** Opens the store that the settings ask for, in a folder that is there. */
export async function openConfigured(
  settings: EngineSettings,
  folder: string,
  options: StoreOptions,
  writes = true,
): Promise<MemoryStore> {
  const { engine, journal, qdrantUrl: url, qdrantApiKey: apiKey } = settings;
  // To open a file may be to make it; where nothing may be written, one that is not there is empty.
  if (!writes && !isOnQdrant(settings) && !(await isUsed(folder)))
    return openStore({ folder, engine: 'jsonl' }, options);
  const qdrant = url === undefined ? undefined : { url, apiKey };
  return openStore({ folder, engine, journal, qdrant }, options);
}
