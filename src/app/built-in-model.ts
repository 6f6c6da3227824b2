import { t } from '../base/text/message.ts';
import { ours } from '../base/expected.ts';
import { once } from '../base/async.ts';
import { readInside } from '../base/files/files.ts';
import type { Log } from '../base/log.ts';
import type { Embedder } from '../meaning/vectors.ts';

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
    const { PREPARED_FILE, withPrepared } = await import('../meaning/embedders/prepared.ts');
    const prepared = await readInside(folder, PREPARED_FILE, MOST_BYTES).catch(
      ours(({ line }) => {
        log.debug(t`The first search computes its vectors itself. ${line}`);
        return undefined;
      }),
    );
    return prepared === undefined ? embedder : withPrepared(embedder, prepared.toString('utf8'));
  });
}
