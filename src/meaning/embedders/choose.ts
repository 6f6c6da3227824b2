import { t } from '../../base/text/message.ts';
import { BmadError } from '../../base/errors.ts';
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
export async function chooseEmbedder(
  settings: EmbedderSettings,
  signal?: AbortSignal,
): Promise<Embedder | undefined> {
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
    case 'ollama': {
      const { ollamaEmbedder } = await import('./http.ts');
      return ollamaEmbedder(ollamaUrl ?? 'http://127.0.0.1:11434', model ?? OLLAMA_MODEL, signal);
    }
    case 'openai': {
      const { openaiEmbedder } = await import('./http.ts');
      return openaiEmbedder(openaiUrl, model ?? OPENAI_MODEL, openaiApiKey, signal);
    }
    case 'transformers': {
      if (transformersModel === undefined)
        throw new BmadError('invalid_input', t`The transformers embedder needs a model folder.`, {
          hint: t`Set BMAD_MODEL_FOLDER to a folder with a model.`,
        });
      const { transformersEmbedder } = await import('./transformers.ts');
      return transformersEmbedder(transformersModel);
    }
  }
}
