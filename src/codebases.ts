import { once } from './base/async.ts';
import { BmadError } from './base/errors.ts';
import { realFolder } from './base/files.ts';
import type { Codebase, CodebaseParts } from './services/codebase/codebase.ts';

interface CodebasesSetup extends Omit<CodebaseParts, 'root' | 'analyser' | 'embedder'> {
  /** The folder with the built-in model; nothing where meaning is switched off. */
  modelFolder: string | undefined;
}

interface Codebases {
  of(root: string): Promise<Codebase>;
  stop(): void;
}

/** Each holds an index in memory. */
const KEPT = 4;

/** The code of the projects that have been searched; part of the composition root. It outlives a refresh of the content. */
export function createCodebases({ modelFolder, ...parts }: CodebasesSetup): Codebases {
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

  /** The built-in model or none: the code of a project is not handed to a server to be understood. */
  const embedder = once(async () => {
    if (modelFolder === undefined) return undefined;
    try {
      const { openStaticEmbedder } = await import('./meaning/embedders/static.ts');
      return await openStaticEmbedder(modelFolder);
    } catch (error) {
      if (!(error instanceof BmadError)) throw error;
      parts.log.warn(`Code is searched by words only: ${error.line}`);
      return undefined;
    }
  });

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
