import * as z from 'zod';
import { meta, PERSONAL, settingMeta, text } from './setting-meta.ts';

const address = (): z.ZodString =>
  z.string().regex(/^https?:\/\/[^\s]+$/i, 'Use an address that starts with http:// or https://.');

/**
 * Where memories are stored, and what compares their meaning. All of it is personal: a project that could name a server
 * would be sent what others remember.
 */
export const memorySettings = {
  projectState: z
    .enum(['auto', 'project', 'user'])
    .default('auto')
    .describe(
      'Where memories, sessions, runs, tasks and receipts of a project are kept, all of them together: auto (in the project if it has BMAD, unless they began in your folder), project, or user. A project with _bmad/_memory keeps them itself.',
    )
    .register(settingMeta, meta('place', "Where a project's state is kept", PERSONAL)),
  memoryEngine: z
    .enum(['auto', 'sqlite', 'qdrant', 'memory'])
    .default('auto')
    .describe(
      'What finds memories, which are kept as lines in files: auto (Qdrant if its address is set, else SQLite, else the memory of the process), sqlite, qdrant or memory.',
    )
    .register(settingMeta, meta('engine', 'What finds memories', PERSONAL)),
  memoryJournal: z
    .enum(['auto', 'wal', 'delete'])
    .default('auto')
    .describe(
      'Journal mode of the SQLite index: auto (write-ahead log, except on a folder known to be on a network), wal, or delete (no write-ahead log; for a network folder on macOS or Windows).',
    )
    .register(settingMeta, meta('mode', 'Journal mode of the SQLite index', PERSONAL)),
  embedder: z
    .enum(['auto', 'static', 'none', 'ollama', 'openai', 'transformers'])
    .default('auto')
    .describe(
      'How the meaning of texts is compared: auto (Ollama if its address is set, else the built-in model), static (built in), none (words only), ollama, openai (any compatible server) or transformers (a model in a folder).',
    )
    .register(settingMeta, meta('name', 'How meanings are compared', PERSONAL)),
  qdrantUrl: address()
    .optional()
    .describe('Address of a Qdrant server or cluster for memories, such as http://localhost:6333.')
    .register(settingMeta, meta('url', 'Qdrant server for memories', PERSONAL)),
  qdrantApiKey: text
    .optional()
    .describe('Key for the Qdrant server. Set it in the environment, where process lists do not show it.')
    .register(settingMeta, meta('key', 'Key for the Qdrant server', PERSONAL)),
  ollamaUrl: address()
    .optional()
    .describe('Address of an Ollama server that computes embeddings, such as http://localhost:11434.')
    .register(settingMeta, meta('url', 'Ollama server for embeddings', PERSONAL)),
  openaiUrl: address()
    .default('https://api.openai.com/v1')
    .describe('Base address for the openai embedder, up to but not including /embeddings.')
    .register(settingMeta, meta('url', 'For openai embeddings', PERSONAL)),
  openaiApiKey: text
    .optional()
    .describe('Key for the openai embedder. Set it in the environment.')
    .register(settingMeta, meta('key', 'Key for the openai embedder', PERSONAL)),
  embeddingModel: text
    .max(200)
    .optional()
    .describe(
      'Model for the ollama or openai embedder, nomic-embed-text or text-embedding-3-small if not set.',
    )
    .register(settingMeta, meta('name', 'Embedding model', PERSONAL)),
  modelFolder: text
    .optional()
    .describe('Folder with the model for the transformers embedder.')
    .register(settingMeta, meta('folder', 'Model folder for transformers', PERSONAL)),
};
