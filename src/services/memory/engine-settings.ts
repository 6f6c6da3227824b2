import { openStore } from './open.ts';
import { refuseLinks } from './place.ts';
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

/** Opens the store that the settings ask for; one that is only read is not made. */
export async function openConfigured(
  { engine, journal, qdrantUrl: url, qdrantApiKey: apiKey }: EngineSettings,
  folder: string,
  options: StoreOptions,
  makes = true,
): Promise<MemoryStore> {
  await refuseLinks(folder);
  const qdrant = url === undefined ? undefined : { url, apiKey };
  return openStore({ folder, engine, journal, qdrant, makes }, options);
}
