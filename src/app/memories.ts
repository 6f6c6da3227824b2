import { once } from '../base/async.ts';
import { BmadError } from '../base/errors.ts';
import type { EmbedderSettings } from '../meaning/embedders/choose.ts';
import type { Memory, MemorySetup, SharedEmbedder } from '../services/memory/memory.ts';
import type { Kit, StateMove } from '../kit/kit.ts';
import { createBounded } from '../base/values.ts';
import type { BuiltIn } from './codebases.ts';
import type { Settings } from './settings.ts';

/** Each has files open and vectors in memory. */
const KEPT = 8;

interface Known {
  version: string;
  memory: Promise<Memory>;
}

/** The memories of the projects in use; each is opened when first asked for. Nothing is loaded before that. */
export function createMemories(settings: Settings, builtIn: BuiltIn) {
  const embedder = sharedEmbedder(settings, builtIn);
  const thread = lateThread(settings);
  const setupOf = async (kit: Kit, writes: boolean): Promise<MemorySetup> => ({
    ...(await setupFor(kit, writes, settings, embedder)),
    thread,
  });
  const known = createBounded<Known>(KEPT, ({ memory }) => {
    void memory.then((left) => left.close()).catch(() => undefined);
  });

  const names = new Map<string, Promise<string>>();
  /** Why the stores could not be used when they were asked last. */
  let unreached: string | undefined;

  /** The project by the name that its memories have on a server. */
  async function named(kit: Kit, writes: boolean): Promise<Kit> {
    const { serverName } = await import('../services/memory/memory.ts');
    const { state, cache, outside } = settings;
    const key = `${kit.root} ${kit.app}`;
    const name = names.get(key) ?? serverName({ kit, state, cache, env: outside.env, writes });
    names.set(key, name);
    name.catch(() => names.delete(key));
    return { ...kit, app: await name };
  }

  return {
    /** One for a caller who may only read writes nothing, not even that it was asked. */
    async of(found: Kit, mayWrite = true): Promise<Memory> {
      const writes = mayWrite && !settings.config.readOnly;
      const kit = isOnServer(settings) ? await named(found, writes) : found;
      const key = `${writes ? 'write' : 'read'} ${kit.root}`;
      const { memoryVersion } = await import('../services/memory/memory.ts');
      // A memory folder may appear, or the project be renamed, while the server runs.
      const version = memoryVersion(kit);
      const opened = known.get(key);
      if (opened?.version === version) return opened.memory;
      const { openMemory } = await import('../services/memory/memory.ts');
      const memory = setupOf(kit, writes).then(openMemory);
      known.set(key, { version, memory });
      // What could not be opened is tried again by the next call.
      memory.catch(() => {
        if (known.get(key)?.memory === memory) known.delete(key);
      });
      void opened?.memory.then((before) => before.close()).catch(() => undefined);
      return memory;
    },
    /** Makes the first recall in a project short, in pieces. Does nothing where there are no memories here. */
    async prepare(kit: Kit, pause: () => Promise<void>): Promise<void> {
      if (!isHere(settings)) return;
      const { hasStore } = await import('../services/memory/place.ts');
      if (!(await hasStore(kit)) || known.size > 0) return;
      await pause();
      await (await this.of(kit)).prepare(pause);
    },
    /** What moves the memories of the user into the project. */
    async move(kit: Kit): Promise<StateMove | undefined> {
      const { moveMemory } = await import('../services/memory/memory.ts');
      return moveMemory(await setupOf(kit, true));
    },
    /** Whether the stores of the memories in use can be reached; there is nothing to reach before the first use. */
    async answer(): Promise<boolean> {
      const failed = await Promise.all([...known.values()].map(async ({ memory }) => (await memory).reach()))
        .then(() => undefined)
        .catch((error: unknown) => BmadError.from(error, () => undefined).line);
      if (failed !== undefined && failed !== unreached)
        settings.log.warn('the memory store cannot be used', { error: failed });
      unreached = failed;
      return failed === undefined;
    },
    close(): void {
      for (const { memory } of known.values())
        void memory.then((open) => open.close()).catch(() => undefined);
    },
  };
}

/** Whether store and embedder are on this machine: nobody else is asked for something that may never be needed. */
function isHere(settings: Settings): boolean {
  const { embedder, ollamaUrl } = settings.config;
  return !isOnServer(settings) && (embedder === 'static' || (embedder === 'auto' && ollamaUrl === undefined));
}

function isOnServer({ config: { memoryEngine, qdrantUrl } }: Settings): boolean {
  return memoryEngine === 'qdrant' || (memoryEngine === 'auto' && qdrantUrl !== undefined);
}

/** A thread for indexes; a command has no one beside it who would be held up. */
function lateThread(settings: Settings): MemorySetup['thread'] {
  if (settings.outside.patient) return undefined;
  const opened = once(async () => (await import('./threads.ts')).indexThread(settings));
  return async (data, signal, tell) => (await opened())(data, signal, tell);
}

/** One embedder for all projects: the built-in one takes megabytes, others are servers that have to be asked first. */
function sharedEmbedder(settings: Settings, builtIn: BuiltIn): SharedEmbedder {
  type Chosen = ReturnType<SharedEmbedder['get']>;
  let chosen: Chosen | undefined;
  const choose = async (): Chosen => {
    const { chooseEmbedder } = await import('../services/memory/memory.ts');
    return chooseEmbedder({ ...embedderSettings(settings), builtIn });
  };
  return {
    get() {
      const mine = (chosen ??= choose());
      mine.catch(() => {
        if (chosen === mine) chosen = undefined;
      });
      return mine;
    },
    failed() {
      chosen = undefined;
    },
  };
}

async function setupFor(
  kit: Kit,
  writes: boolean,
  settings: Settings,
  embedder: SharedEmbedder,
): Promise<MemorySetup> {
  const { outside, config, state, cache, secrets, log } = settings;
  return {
    kit,
    env: outside.env,
    state,
    cache,
    writes,
    logs: await (await import('./project-state.ts')).keptOf(settings, kit.root).logs(),
    hide: secrets.hide,
    log,
    // Only a process that lives long enough can work in the background.
    background: !outside.patient && writes,
    engine: {
      engine: config.memoryEngine,
      journal: config.memoryJournal,
      qdrantUrl: config.qdrantUrl,
      qdrantApiKey: config.qdrantApiKey,
    },
    embedder,
  };
}

function embedderSettings({ config, builtIn }: Settings): EmbedderSettings {
  return {
    embedder: config.embedder,
    modelFolder: builtIn,
    model: config.embeddingModel,
    ollamaUrl: config.ollamaUrl,
    openaiUrl: config.openaiUrl,
    openaiApiKey: config.openaiApiKey,
    transformersModel: config.modelFolder,
  };
}
