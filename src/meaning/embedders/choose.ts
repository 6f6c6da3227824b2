import { basename, dirname } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { realFolder } from '../../base/files/files.ts';
import { isTable } from '../../base/parse/parse.ts';
import { stripUrlCredentials } from '../../base/secrets/rules.ts';
import { t } from '../../base/text/message.ts';
import { withoutEnd } from '../../base/text/text.ts';
import type { Embedder } from '../vectors.ts';

export interface EmbedderSettings {
  embedder: 'auto' | 'static' | 'none' | 'ollama' | 'openai' | 'transformers';
  /** The folder that has the built-in model. */
  modelFolder: string;
  /** The built-in model, where others of the process use it too. */
  builtIn?: (() => Promise<Embedder>) | undefined;
  model: string | undefined;
  ollamaUrl: string | undefined;
  openaiUrl: string;
  openaiApiKey: string | undefined;
  transformersModel: string | undefined;
}

const OLLAMA_MODEL = 'nomic-embed-text';
const OPENAI_MODEL = 'text-embedding-3-small';

/** The embedder that the settings ask for; undefined if only words are compared. */
export async function chooseEmbedder(settings: EmbedderSettings): Promise<Embedder | undefined> {
  const { embedder, model, ollamaUrl, openaiUrl, openaiApiKey, transformersModel } = settings;
  const wanted = embedder !== 'auto' ? embedder : ollamaUrl === undefined ? 'static' : 'ollama';
  switch (wanted) {
    case 'none':
      return undefined;
    case 'static': {
      if (settings.builtIn !== undefined) return settings.builtIn();
      const { openStaticEmbedder } = await import('./static.ts');
      return openStaticEmbedder(settings.modelFolder);
    }
    case 'ollama':
      return ollamaEmbedder(ollamaUrl ?? 'http://127.0.0.1:11434', model ?? OLLAMA_MODEL);
    case 'openai':
      return openaiEmbedder(openaiUrl, model ?? OPENAI_MODEL, openaiApiKey);
    case 'transformers':
      if (transformersModel === undefined)
        throw new BmadError('invalid_input', t`The transformers embedder needs a model folder.`, {
          hint: t`Set BMAD_MODEL_FOLDER to a folder with a model.`,
        });
      return transformersEmbedder(transformersModel);
  }
}

/** How many texts go into one request. */
const BATCH = 64;
const TIMEOUT_MS = 30_000;
/** A missing server should be noticed before anyone gets impatient. */
const PROBE_TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 64_000_000;

interface HttpEmbedder {
  id: string;
  /** What a person knows it as: "Ollama at http://…". */
  label: string;
  url: string;
  headers?: Record<string, string>;
  body(texts: readonly string[]): unknown;
  /** The vectors in an answer, in the order of the texts. */
  vectors(answer: unknown): unknown;
  hint: string;
}

function ollamaEmbedder(url: string, model: string): Promise<Embedder> {
  return httpEmbedder({
    id: `ollama/${model}`,
    label: t`Ollama at ${stripUrlCredentials(url)} with the model ${model}`,
    url: `${withoutEnd(url, '/')}/api/embed`,
    body: (input) => ({ model, input }),
    vectors: (answer) => (isTable(answer) ? answer['embeddings'] : undefined),
    hint: t`Start Ollama, and fetch the model with "ollama pull ${model}".`,
  });
}

/** Any server that speaks OpenAI's way of asking for embeddings; `url` is what comes before `/embeddings`. */
function openaiEmbedder(url: string, model: string, apiKey: string | undefined): Promise<Embedder> {
  return httpEmbedder({
    id: `openai/${model}`,
    label: t`The embeddings server at ${stripUrlCredentials(url)} with the model ${model}`,
    url: `${withoutEnd(url, '/')}/embeddings`,
    ...(apiKey === undefined ? {} : { headers: { authorization: `Bearer ${apiKey}` } }),
    body: (input) => ({ model, input, encoding_format: 'float' }),
    vectors(answer) {
      const data = isTable(answer) ? answer['data'] : undefined;
      if (!Array.isArray(data)) return undefined;
      return [...(data as { index?: number; embedding?: unknown }[])]
        .sort((a, b) => (a.index ?? 0) - (b.index ?? 0))
        .map(({ embedding }) => embedding);
    },
    hint: t`Check openai_url, openai_api_key and embedding_model.`,
  });
}

/** An embedder behind HTTP. How long its vectors are is asked, never assumed. */
async function httpEmbedder(parts: HttpEmbedder): Promise<Embedder> {
  const [probe] = await ask(parts, ['dimension'], PROBE_TIMEOUT_MS);
  const dim = probe?.length ?? 0;
  if (dim === 0) throw trouble(parts, t`it returned an empty vector`);
  return {
    id: parts.id,
    dim,
    async embed(texts, stop) {
      const found: Float32Array[] = [];
      for (let from = 0; from < texts.length; from += BATCH)
        found.push(...(await ask(parts, texts.slice(from, from + BATCH), TIMEOUT_MS, stop)));
      // A model that was replaced under the same name; what it gives now fits nothing that is stored.
      const other = found.find(({ length }) => length !== dim);
      if (other !== undefined)
        throw trouble(parts, t`its vectors now have ${other.length} dimensions instead of ${dim}`);
      return found;
    },
  };
}

async function ask(
  parts: HttpEmbedder,
  texts: readonly string[],
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Float32Array[]> {
  const deadline = AbortSignal.timeout(timeoutMs);
  let answer: unknown;
  try {
    const response = await fetch(parts.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...parts.headers },
      body: JSON.stringify(parts.body(texts)),
      redirect: 'error',
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw trouble(parts, t`it answered with status ${response.status}`);
    }
    if (Number(response.headers.get('content-length') ?? 0) > MAX_ANSWER_BYTES)
      throw trouble(parts, t`its answer is too large`);
    answer = await response.json();
  } catch (error) {
    if (error instanceof BmadError || signal?.aborted === true) throw error;
    if (deadline.aborted)
      throw trouble(parts, t`it did not respond within ${timeoutMs / 1000} seconds`, error);
    throw trouble(
      parts,
      error instanceof SyntaxError ? t`its answer is not JSON` : t`it cannot be reached`,
      error,
    );
  }
  const vectors = parts.vectors(answer);
  if (!Array.isArray(vectors) || vectors.length !== texts.length)
    throw trouble(parts, t`its answer does not contain a vector for each text`);
  return vectors.map((vector: unknown) => {
    if (
      !Array.isArray(vector) ||
      !vector.every((value) => typeof value === 'number' && Number.isFinite(value))
    )
      throw trouble(parts, t`its answer contains something that is not a vector`);
    return Float32Array.from(vector as number[]);
  });
}

function trouble({ label, hint }: HttpEmbedder, reason: string, cause?: unknown): BmadError {
  return new BmadError('unavailable', t`${label} cannot be used: ${reason}.`, { hint, cause });
}

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
const TRANSFORMERS_BATCH = 32;

/** A model in a folder of this machine. Nothing is ever downloaded. */
async function transformersEmbedder(folder: string): Promise<Embedder> {
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
      for (let from = 0; from < texts.length; from += TRANSFORMERS_BATCH) {
        signal?.throwIfAborted();
        found.push(...(await run(texts.slice(from, from + TRANSFORMERS_BATCH))));
      }
      return found;
    },
  };
}

function unusable(reason: string, hint: string, cause?: unknown): BmadError {
  return new BmadError('unavailable', t`Transformers.js cannot be used: ${reason}.`, { hint, cause });
}
