import { realFolder } from '../base/files/files.ts';
import type { Codebase } from '../services/codebase/codebase.ts';
import { createBounded } from './bounded.ts';
import type { Model } from './built-in-model.ts';
import type { CodebaseData } from './open-codebase.ts';
import type { Settings } from './settings.ts';

/** Each holds an index in memory. */
const KEPT = 4;

/** The code of the projects that have been searched; part of the composition root. It outlives a refresh of the content. */
export function createCodebases(settings: Settings, model: Model) {
  const { outside, config, cache, log, builtIn, privateFolders } = settings;
  const end = (codebase: Promise<Codebase>): void =>
    void codebase.then(
      ({ stop }) => stop(),
      () => undefined,
    );
  const kept = createBounded<Promise<Codebase>>(KEPT, end);

  async function open(root: string, writes: boolean): Promise<Codebase> {
    const data: CodebaseData = {
      cache,
      privateFolders,
      writes,
      budgetMs: config.codeSearchMs,
      background: !outside.patient,
      watch: !outside.patient && config.watch === 'auto',
      env: { ...outside.env },
      root: (await realFolder(root)) ?? root,
      model: config.embedder === 'none' ? undefined : builtIn,
    };
    // A command has nobody beside it who would be held up.
    const beside = data.background
      ? await (await import('./codebase-thread.ts')).codebaseThread(data, log)
      : undefined;
    return beside ?? (await import('./open-codebase.ts')).openCodebase(data, log, model);
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
