import { once } from '../base/async.ts';
import { ours } from '../base/errors.ts';
import { readInside, realFolder } from '../base/files/files.ts';
import type { Log } from '../base/log.ts';
import { t } from '../base/text/message.ts';
import type { Embedder } from '../meaning/vectors.ts';
import type { Codebase } from '../services/codebase/codebase.ts';
import { createBounded } from '../base/values.ts';
import type { CodebaseData } from './threads.ts';
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
    const { codebaseThread, openCodebase } = await import('./threads.ts');
    // A command has nobody beside it who would be held up.
    const beside = data.background ? await codebaseThread(data, log) : undefined;
    return beside ?? openCodebase(data, log, model);
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

export type Model = () => Promise<Embedder | undefined>;

export type BuiltIn = () => Promise<Embedder>;

/** The built-in model, read once for all who need it. */
export function openBuiltIn(folder: string): BuiltIn {
  return once(async () => {
    const { openStaticEmbedder } = await import('../meaning/embedders/static.ts');
    return openStaticEmbedder(folder);
  });
}

/**
 * The built-in model for what is searched in this process: what is searched here is not handed to a server to be understood.
 * Nothing where meaning is switched off, or the model cannot be read: words have to do then.
 */
export function createModel(builtIn: BuiltIn | undefined, log: Log): Model {
  return once(async () => {
    if (builtIn === undefined) return undefined;
    return builtIn().catch(
      ours(({ line }) => {
        log.warn(t`Agents, workflows and code are searched by words only. ${line}`);
        return undefined;
      }),
    );
  });
}

const MOST_BYTES = 16_000_000;

/** The model as the search for agents and workflows uses it: what is built in has its vectors already. */
export function forSearch(model: Model, folder: string, log: Log): Model {
  return once(async () => {
    const embedder = await model();
    if (embedder === undefined) return undefined;
    const { PREPARED_FILE, withPrepared } = await import('../meaning/embedders/static.ts');
    const prepared = await readInside(folder, PREPARED_FILE, MOST_BYTES).catch(
      ours(({ line }) => {
        log.debug(t`The first search computes its vectors itself. ${line}`);
        return undefined;
      }),
    );
    return prepared === undefined ? embedder : withPrepared(embedder, prepared.toString('utf8'));
  });
}
