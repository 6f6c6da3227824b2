import { stripUrlCredentials } from '../../base/secrets/secret-names.ts';
import { isTable } from '../../base/parse/parse.ts';
import type { Embedder } from '../embedder.ts';
import { httpEmbedder } from './http.ts';

/** Any server that speaks OpenAI's way of asking for embeddings; `url` is what comes before `/embeddings`. */
export function openaiEmbedder(
  url: string,
  model: string,
  apiKey: string | undefined,
  signal?: AbortSignal,
): Promise<Embedder> {
  return httpEmbedder(
    {
      id: `openai/${model}`,
      label: `The embeddings server at ${stripUrlCredentials(url)} with the model ${model}`,
      url: `${url.replace(/\/+$/, '')}/embeddings`,
      ...(apiKey === undefined ? {} : { headers: { authorization: `Bearer ${apiKey}` } }),
      body: (input) => ({ model, input, encoding_format: 'float' }),
      vectors(answer) {
        const data = isTable(answer) ? answer['data'] : undefined;
        if (!Array.isArray(data)) return undefined;
        return [...(data as { index?: number; embedding?: unknown }[])]
          .sort((a, b) => (a.index ?? 0) - (b.index ?? 0))
          .map(({ embedding }) => embedding);
      },
      hint: 'Check openai_url, openai_api_key and embedding_model.',
    },
    signal,
  );
}
