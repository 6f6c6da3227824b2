import { stripUrlCredentials } from '../../base/secrets/secret-names.ts';
import { isTable } from '../../base/parse/parse.ts';
import type { Embedder } from '../embedder.ts';
import { httpEmbedder } from './http.ts';

export function ollamaEmbedder(url: string, model: string, signal?: AbortSignal): Promise<Embedder> {
  return httpEmbedder(
    {
      id: `ollama/${model}`,
      label: `Ollama at ${stripUrlCredentials(url)} with the model ${model}`,
      url: `${url.replace(/\/+$/, '')}/api/embed`,
      body: (input) => ({ model, input }),
      vectors: (answer) => (isTable(answer) ? answer['embeddings'] : undefined),
      hint: `Start Ollama, and fetch the model with "ollama pull ${model}".`,
    },
    signal,
  );
}
