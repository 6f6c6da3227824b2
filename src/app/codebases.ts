import { realFolder } from '../base/files/files.ts';
import type { Embedder } from '../meaning/embedder.ts';
import type { Codebase, CodebaseParts } from '../services/codebase/codebase.ts';

interface CodebasesSetup extends Omit<CodebaseParts, 'root' | 'writes' | 'analyser' | 'embedder'> {
  /** Whether an index may be kept at all. */
  writes: boolean;
  embedder(): Promise<Embedder | undefined>;
}

interface Codebases {
  /** One for a caller who may only read keeps what it has read in memory alone. */
  of(root: string, mayWrite?: boolean): Promise<Codebase>;
  stop(): void;
}

/** Each holds an index in memory. */
const KEPT = 4;

/** The code of the projects that have been searched; part of the composition root. It outlives a refresh of the content. */
export function createCodebases({ embedder, ...parts }: CodebasesSetup): Codebases {
  const kept = new Map<string, Promise<Codebase>>();
  const end = (codebase: Promise<Codebase>): void =>
    void codebase.then(
      ({ stop }) => stop(),
      () => undefined,
    );

  async function open(root: string, writes: boolean): Promise<Codebase> {
    const [{ createCodebase }, { analyse, ANALYSER_VERSION }] = await Promise.all([
      import('../services/codebase/codebase.ts'),
      import('../meaning/analyse.ts'),
    ]);
    return createCodebase({
      ...parts,
      writes,
      root: (await realFolder(root)) ?? root,
      analyser: { id: `words-${ANALYSER_VERSION}`, terms: analyse },
      embedder: await embedder(),
    });
  }

  return {
    of(root, mayWrite = true) {
      const writes = mayWrite && parts.writes;
      const key = `${writes ? 'write' : 'read'} ${root}`;
      const codebase = kept.get(key) ?? open(root, writes);
      kept.delete(key);
      kept.set(key, codebase);
      const [oldest] = kept;
      if (kept.size > KEPT && oldest !== undefined) {
        kept.delete(oldest[0]);
        end(oldest[1]);
      }
      return codebase;
    },
    stop: () => [...kept.values()].forEach(end),
  };
}
