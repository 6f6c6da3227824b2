import { realFolder } from '../base/files/files.ts';
import type { Codebase } from '../services/codebase/codebase.ts';
import { createBounded } from './bounded.ts';
import type { Model } from './built-in-model.ts';
import type { Settings } from './settings.ts';

/** Each holds an index in memory. */
const KEPT = 4;

/** The code of the projects that have been searched; part of the composition root. It outlives a refresh of the content. */
export function createCodebases({ outside, config, cache, log }: Settings, model: Model) {
  const end = (codebase: Promise<Codebase>): void =>
    void codebase.then(
      ({ stop }) => stop(),
      () => undefined,
    );
  const kept = createBounded<Promise<Codebase>>(KEPT, end);

  async function open(root: string, writes: boolean): Promise<Codebase> {
    const [{ createCodebase }, { analyse, ANALYSER_VERSION }] = await Promise.all([
      import('../services/codebase/codebase.ts'),
      import('../meaning/analyse.ts'),
    ]);
    return createCodebase({
      cache,
      writes,
      budgetMs: config.codeSearchMs,
      background: !outside.patient,
      env: outside.env,
      log,
      root: (await realFolder(root)) ?? root,
      analyser: { id: `words-${ANALYSER_VERSION}`, terms: analyse },
      embedder: await model(),
    });
  }

  return {
    /** One for a caller who may only read keeps what it has read in memory alone. */
    of(root: string, mayWrite = true): Promise<Codebase> {
      const writes = mayWrite && !config.readOnly;
      const key = `${writes ? 'write' : 'read'} ${root}`;
      const codebase = kept.get(key) ?? open(root, writes);
      kept.set(key, codebase);
      // One that could not be opened may open the next time.
      codebase.catch(() => {
        if (kept.get(key) === codebase) kept.delete(key);
      });
      return codebase;
    },
    stop: (): void => kept.values().forEach(end),
  };
}
