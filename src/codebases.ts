import { realFolder } from './base/files.ts';
import type { Codebase, CodebaseParts } from './services/codebase/codebase.ts';

interface Codebases {
  of(root: string): Promise<Codebase>;
  stop(): void;
}

/** Each holds an index in memory. */
const KEPT = 4;

/** The code of the projects that have been searched; part of the composition root. It outlives a refresh of the content. */
export function createCodebases(parts: Omit<CodebaseParts, 'root'>): Codebases {
  const kept = new Map<string, Promise<Codebase>>();
  const end = (codebase: Promise<Codebase>): void =>
    void codebase.then(
      ({ stop }) => stop(),
      () => undefined,
    );

  async function open(root: string): Promise<Codebase> {
    const { createCodebase } = await import('./services/codebase/codebase.ts');
    return createCodebase({ ...parts, root: (await realFolder(root)) ?? root });
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
