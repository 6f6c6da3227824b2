import { openMemory } from '../../src/services/memory/open-memory.ts';
import type { Memory } from '../../src/services/memory/memory.ts';

const silent = (): void => undefined;

/** The memory of a project as another process opens it: words only, in the engine that is best here. */
export function openProject(root: string, { writes = true } = {}): Promise<Memory> {
  return openMemory({
    root,
    state: `${root}/no-state`,
    engine: { engine: 'auto', journal: 'auto', qdrantUrl: undefined, qdrantApiKey: undefined },
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
    background: false,
    writes,
  });
}
