import { t } from '../../base/text/message.ts';
import { basename, dirname } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { realFolder } from '../../base/files/files.ts';
import type { Embedder } from '../vectors.ts';

/** The part of the package that is used; it is not a dependency, because it takes some 470 MB. */
interface Transformers {
  env: { allowRemoteModels: boolean; localModelPath: string };
  pipeline(task: 'feature-extraction', model: string): Promise<Pipeline>;
}
type Pipeline = (
  texts: readonly string[],
  options: { pooling: 'mean'; normalize: true },
) => Promise<{ dims: readonly number[]; data: Float32Array }>;

const PACKAGE = '@huggingface/transformers';
const BATCH = 32;

/** A model in a folder of this machine. Nothing is ever downloaded. */
export async function transformersEmbedder(folder: string): Promise<Embedder> {
  const place = await realFolder(folder);
  if (place === undefined)
    throw unusable(t`there is no folder ${folder}`, t`Set model_folder to the folder with the model.`);
  let extract: Pipeline;
  try {
    // A name that no bundler can follow: the package is the user's own.
    const name = [PACKAGE].join('');
    const { env, pipeline } = (await import(name)) as Transformers;
    env.allowRemoteModels = false;
    env.localModelPath = dirname(place);
    extract = await pipeline('feature-extraction', basename(place));
  } catch (error) {
    throw unusable(
      t`cannot load the package or its model`,
      t`Install ${PACKAGE} beside this server, and check that ${place} contains config.json, tokenizer.json and onnx/.`,
      error,
    );
  }
  const run = async (texts: readonly string[]): Promise<Float32Array[]> => {
    const { dims, data } = await extract(texts, { pooling: 'mean', normalize: true });
    const dim = dims.at(-1) ?? 0;
    return texts.map((_text, index) => data.slice(index * dim, (index + 1) * dim));
  };
  const [probe] = await run(['dimension']);
  return {
    id: `transformers/${basename(place)}`,
    dim: probe?.length ?? 0,
    async embed(texts, signal) {
      const found: Float32Array[] = [];
      for (let from = 0; from < texts.length; from += BATCH) {
        signal?.throwIfAborted();
        found.push(...(await run(texts.slice(from, from + BATCH))));
      }
      return found;
    },
  };
}

function unusable(reason: string, hint: string, cause?: unknown): BmadError {
  return new BmadError('unavailable', t`Transformers.js cannot be used: ${reason}.`, { hint, cause });
}
