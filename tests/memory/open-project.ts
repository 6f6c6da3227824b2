import { mkdir } from 'node:fs/promises';
import { kitIn } from '../support/kit.ts';
import { openStore, type EngineSettings } from '../../src/services/memory/open.ts';
import { ANALYSER, openMemory, type Memory } from '../../src/services/memory/memory.ts';
import type { MemoryStore } from '../../src/services/memory/engine.ts';

const silent = (): void => undefined;

interface ProjectOptions {
  writes?: boolean;
  engine?: EngineSettings['engine'];
  background?: boolean;
}

/** The memory of a project as another process opens it: words only, in the engine that is best here or a named one. */
export async function openProject(
  root: string,
  { writes = true, engine = 'auto', background = false }: ProjectOptions = {},
): Promise<Memory> {
  return openMemory({
    kit: await kitIn(root, `${root}/no-state`),
    state: `${root}/no-state`,
    engine: { engine, journal: 'auto', qdrantUrl: undefined, qdrantApiKey: undefined },
    embedder: {
      embedder: 'none',
      modelFolder: '',
      model: undefined,
      ollamaUrl: undefined,
      openaiUrl: '',
      openaiApiKey: undefined,
      transformersModel: undefined,
    },
    hide: String,
    log: { error: silent, warn: silent, info: silent, debug: silent },
    background,
    writes,
  });
}

/** Changes the store of a memory as a program does that knows nothing of the service around it. */
export async function inStoreOf(
  { place, app }: Memory,
  change: (store: MemoryStore) => Promise<unknown>,
): Promise<void> {
  await mkdir(place.folder, { recursive: true });
  const store = await openStore({ folder: place.folder }, { project: app, analyser: ANALYSER });
  await change(store);
  await store.close();
}
