import { ProjectLogs } from '../../src/kit/project-log.ts';
import { kitIn } from '../support/kit.ts';
import { openStore, type EngineSettings } from '../../src/services/memory/open.ts';
import { ANALYSER } from '../../src/services/memory/rank.ts';
import { openMemory, type Memory, type MemorySetup } from '../../src/services/memory/memory.ts';
import type { MemoryStore } from '../../src/services/memory/store.ts';

const silent = (): void => undefined;

interface ProjectOptions {
  writes?: boolean;
  engine?: EngineSettings['engine'];
  qdrantUrl?: string;
  background?: boolean;
  /** The user's folders. */
  state?: string;
  cache?: string;
  /** What makes an index of many lines beside this thread. */
  thread?: MemorySetup['thread'];
}

async function setupIn(
  root: string,
  { writes = true, engine = 'auto', qdrantUrl, background = false, state, cache, thread }: ProjectOptions,
): Promise<MemorySetup> {
  const own = state ?? `${root}/no-state`;
  return {
    kit: await kitIn(root, own),
    state: own,
    cache: cache ?? `${root}/no-cache`,
    env: { PATH: process.env['PATH'] },
    engine: { engine, journal: 'auto', qdrantUrl, qdrantApiKey: undefined },
    embedder: { get: () => Promise.resolve(undefined), failed: silent },
    logs: new ProjectLogs(),
    hide: String,
    log: { error: silent, warn: silent, info: silent, debug: silent },
    background,
    writes,
    thread,
  };
}

/** The memory of a project as another process opens it: words only, with the index that is best here or a named one. */
export async function openProject(root: string, options: ProjectOptions = {}): Promise<Memory> {
  return openMemory(await setupIn(root, options));
}

/** The store of a project by itself, as a program has it that knows nothing of the service around it. */
export async function storeIn(
  root: string,
  { notes = [], ...options }: ProjectOptions & { notes?: string[] } = {},
): Promise<MemoryStore> {
  const setup = await setupIn(root, options);
  return openStore(setup, { project: setup.kit.app, analyser: ANALYSER }, (note) => notes.push(note));
}

/** Changes the store of a project from outside of the service that has it open. */
export async function inStoreOf(
  root: string,
  change: (store: MemoryStore) => Promise<unknown>,
): Promise<void> {
  const store = await storeIn(root);
  await change(store);
  await store.close();
}
