import { openStore } from './open.ts';
import { isUsed } from './place.ts';
import type { MemoryStore, StoreOptions } from './store.ts';

export interface EngineSettings {
  engine: 'auto' | 'sqlite' | 'qdrant' | 'jsonl';
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
  const { engine, qdrantUrl: url, qdrantApiKey: apiKey } = settings;
  // To open a file may be to make it; where nothing may be written, one that is not there is empty.
  if (!writes && !isOnQdrant(settings) && !(await isUsed(folder)))
    return openStore({ folder, engine: 'jsonl' }, options);
  return openStore({ folder, engine, qdrant: url === undefined ? undefined : { url, apiKey } }, options);
}
