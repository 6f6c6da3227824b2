import { BmadError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/schema.ts';
import type { Memory, MemorySetup } from '../services/memory/memory.ts';
import type { MovedMemories } from '../services/memory/transfer/move.ts';
import type { Project } from '../sources/project-root.ts';

export interface MemoriesSetup {
  config: Config;
  /** The user's folder for what has no place in a project. */
  state: string;
  /** The folder with the built-in model. */
  modelFolder: string;
  hide(text: string): string;
  log: Log;
  /** Whether the process lives long enough to work in the background. */
  background: boolean;
}

export interface Memories {
  /** One for a caller who may only read writes nothing, not even that it was asked. */
  of(project: Project, mayWrite?: boolean): Promise<Memory>;
  move(project: Project): Promise<MovedMemories>;
  /** Whether the stores of the memories in use can be reached; there is nothing to reach before the first use. */
  answer(): Promise<boolean>;
  close(): void;
}

/** The memories of the projects in use; each is opened when first asked for. Nothing is loaded before that. */
export function createMemories(setup: MemoriesSetup): Memories {
  const known = new Map<string, { version: string; memory: Promise<Memory> }>();
  const old: Promise<Memory>[] = [];
  return {
    async of(project, mayWrite = true) {
      const root = rootOf(project);
      const writes = mayWrite && !setup.config.readOnly;
      const key = `${writes ? 'write' : 'read'} ${root}`;
      const { openMemory, memoryVersion } = await import('../services/memory/memory.ts');
      // A memory folder may appear, or the project be renamed, while the server runs.
      const version = await memoryVersion(root);
      const opened = known.get(key);
      if (opened?.version === version) return opened.memory;
      if (opened !== undefined) old.push(opened.memory);
      const memory = openMemory(setupFor(root, writes, setup));
      known.set(key, { version, memory });
      memory.catch(() => known.delete(key));
      return memory;
    },
    async move(project) {
      const { moveMemory } = await import('../services/memory/memory.ts');
      return moveMemory(setupFor(rootOf(project), !setup.config.readOnly, setup));
    },
    async answer() {
      try {
        for (const { memory } of known.values()) await (await memory).reach();
        return true;
      } catch {
        return false;
      }
    },
    close() {
      for (const memory of [...old, ...[...known.values()].map((each) => each.memory)])
        void memory.then((open) => open.close()).catch(() => undefined);
    },
  };
}

function rootOf({ root, from }: Project): string {
  if (root !== undefined) return root;
  throw new BmadError('invalid_input', `There is no project to store memories for (${from}).`, {
    hint: 'Start the server in a project, or name its folder with --project or BMAD_PROJECT_ROOT.',
  });
}

function setupFor(root: string, writes: boolean, { config, ...setup }: MemoriesSetup): MemorySetup {
  return {
    ...setup,
    root,
    writes,
    background: setup.background && writes,
    engine: {
      engine: config.memoryEngine,
      journal: config.memoryJournal,
      qdrantUrl: config.qdrantUrl,
      qdrantApiKey: config.qdrantApiKey,
    },
    embedder: {
      embedder: config.embedder,
      modelFolder: setup.modelFolder,
      model: config.embeddingModel,
      ollamaUrl: config.ollamaUrl,
      openaiUrl: config.openaiUrl,
      openaiApiKey: config.openaiApiKey,
      transformersModel: config.modelFolder,
    },
  };
}
