import { realFolder } from './base/files.ts';
import type { Embedder } from './meaning/embedder.ts';
import type { Codebase, CodebaseParts } from './services/codebase/codebase.ts';

interface CodebasesSetup extends Omit<CodebaseParts, 'root' | 'analyser' | 'embedder'> {
  embedder(): Promise<Embedder | undefined>;
}

interface Codebases {
  of(root: string): Promise<Codebase>;
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

  async function open(root: string): Promise<Codebase> {
    const [{ createCodebase }, { analyse, ANALYSER_VERSION }] = await Promise.all([
      import('./services/codebase/codebase.ts'),
      import('./meaning/analyse.ts'),
    ]);
    return createCodebase({
      ...parts,
      root: (await realFolder(root)) ?? root,
      analyser: { id: `words-${ANALYSER_VERSION}`, words: analyse },
      embedder: await embedder(),
    });
  }

  return {
    of(root) {
      const codebase = kept.get(root) ?? open(root);
      kept.delete(root);
      kept.set(root, codebase);
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
