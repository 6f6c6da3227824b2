import type { Memory, MemorySetup } from '../services/memory/memory.ts';
import type { MovedMemories } from '../services/memory/transfer/move.ts';
import type { Project } from '../sources/project-root.ts';
import { rootOf, type Settings } from './settings.ts';

/** The memories of the projects in use; each is opened when first asked for. Nothing is loaded before that. */
export function createMemories(settings: Settings) {
  const known = new Map<string, { version: string; memory: Promise<Memory> }>();
  const old: Promise<Memory>[] = [];
  return {
    /** One for a caller who may only read writes nothing, not even that it was asked. */
    async of(project: Project, mayWrite = true): Promise<Memory> {
      const root = rootOf(project, 'store memories for');
      const writes = mayWrite && !settings.config.readOnly;
      const key = `${writes ? 'write' : 'read'} ${root}`;
      const { openMemory, memoryVersion } = await import('../services/memory/memory.ts');
      // A memory folder may appear, or the project be renamed, while the server runs.
      const version = await memoryVersion(root);
      const opened = known.get(key);
      if (opened?.version === version) return opened.memory;
      if (opened !== undefined) old.push(opened.memory);
      const memory = openMemory(setupFor(root, writes, settings));
      known.set(key, { version, memory });
      memory.catch(() => known.delete(key));
      return memory;
    },
    async move(project: Project): Promise<MovedMemories> {
      const { moveMemory } = await import('../services/memory/memory.ts');
      return moveMemory(setupFor(rootOf(project, 'store memories for'), !settings.config.readOnly, settings));
    },
    /** Whether the stores of the memories in use can be reached; there is nothing to reach before the first use. */
    async answer(): Promise<boolean> {
      try {
        for (const { memory } of known.values()) await (await memory).reach();
        return true;
      } catch {
        return false;
      }
    },
    close(): void {
      for (const memory of [...old, ...[...known.values()].map((each) => each.memory)])
        void memory.then((open) => open.close()).catch(() => undefined);
    },
  };
}

function setupFor(
  root: string,
  writes: boolean,
  { outside, config, state, builtIn, secrets, log }: Settings,
): MemorySetup {
  return {
    root,
    state,
    writes,
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
    embedder: {
      embedder: config.embedder,
      modelFolder: builtIn,
      model: config.embeddingModel,
      ollamaUrl: config.ollamaUrl,
      openaiUrl: config.openaiUrl,
      openaiApiKey: config.openaiApiKey,
      transformersModel: config.modelFolder,
    },
  };
}
