import { realFolder } from '../base/files/files.ts';
import type { Codebase } from '../services/codebase/codebase.ts';
import type { Model } from './built-in-model.ts';
import type { Settings } from './settings.ts';

/** Each holds an index in memory. */
const KEPT = 4;

/** The code of the projects that have been searched; part of the composition root. It outlives a refresh of the content. */
export function createCodebases({ outside, config, cache, log }: Settings, model: Model) {
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
      kept.delete(key);
      kept.set(key, codebase);
      const [oldest] = kept;
      if (kept.size > KEPT && oldest !== undefined) {
        kept.delete(oldest[0]);
        end(oldest[1]);
      }
      return codebase;
    },
    stop: (): void => [...kept.values()].forEach(end),
  };
}
