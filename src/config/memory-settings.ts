import * as z from 'zod';
import { settingMeta } from './setting-meta.ts';

const address = (): z.ZodString =>
  z.string().regex(/^https?:\/\/[^\s]+$/i, 'Use an address that starts with http:// or https://.');

/**
 * Where memories are stored, and what compares their meaning. All of it is personal: a project that could name a server
 * would be sent what others remember.
 */
export const memorySettings = {
  memoryEngine: z
    .enum(['auto', 'sqlite', 'qdrant', 'jsonl'])
    .default('auto')
    .describe(
      'Where memories are stored: auto (Qdrant if its address is set, else a SQLite file, else a JSONL file), sqlite, qdrant or jsonl.',
    )
    .register(settingMeta, {
      env: 'BMAD_MEMORY_ENGINE',
      personal: true,
      flag: '--memory-engine',
      rare: true,
      placeholder: 'engine',
      summary: 'Where memories are stored',
    }),
  memoryJournal: z
    .enum(['auto', 'wal', 'delete'])
    .default('auto')
    .describe(
      'Journal mode of the SQLite memory file: auto (write-ahead log, except on a folder known to be on a network), wal, or delete (no write-ahead log; for a network folder on macOS or Windows).',
    )
    .register(settingMeta, {
      env: 'BMAD_MEMORY_JOURNAL',
      personal: true,
      flag: '--memory-journal',
      rare: true,
      placeholder: 'mode',
      summary: 'Journal mode of the SQLite file',
    }),
  embedder: z
    .enum(['auto', 'static', 'none', 'ollama', 'openai', 'transformers'])
    .default('auto')
    .describe(
      'How the meaning of texts is compared: auto (Ollama if its address is set, else the built-in model), static (built in), none (words only), ollama, openai (any compatible server) or transformers (a model in a folder).',
    )
    .register(settingMeta, {
      env: 'BMAD_EMBEDDER',
      personal: true,
      flag: '--embedder',
      rare: true,
      placeholder: 'name',
      summary: 'How meanings are compared',
    }),
  qdrantUrl: address()
    .optional()
    .describe('Address of a Qdrant server or cluster for memories, such as http://localhost:6333.')
    .register(settingMeta, {
      env: 'BMAD_QDRANT_URL',
      personal: true,
      flag: '--qdrant-url',
      rare: true,
      placeholder: 'url',
      summary: 'Qdrant server for memories',
    }),
  qdrantApiKey: z
    .string()
    .min(1)
    .optional()
    .describe('Key for the Qdrant server. Set it in the environment, where process lists do not show it.')
    .register(settingMeta, {
      env: 'BMAD_QDRANT_API_KEY',
      personal: true,
      flag: '--qdrant-api-key',
      rare: true,
      placeholder: 'key',
      summary: 'Key for the Qdrant server',
    }),
  ollamaUrl: address()
    .optional()
    .describe('Address of an Ollama server that computes embeddings, such as http://localhost:11434.')
    .register(settingMeta, {
      env: 'BMAD_OLLAMA_URL',
      personal: true,
      flag: '--ollama-url',
      rare: true,
      placeholder: 'url',
      summary: 'Ollama server for embeddings',
    }),
  openaiUrl: address()
    .default('https://api.openai.com/v1')
    .describe('Base address for the openai embedder, up to but not including /embeddings.')
    .register(settingMeta, {
      env: 'BMAD_OPENAI_URL',
      personal: true,
      flag: '--openai-url',
      rare: true,
      placeholder: 'url',
      summary: 'For openai embeddings',
    }),
  openaiApiKey: z
    .string()
    .min(1)
    .optional()
    .describe('Key for the openai embedder. Set it in the environment.')
    .register(settingMeta, {
      env: 'BMAD_OPENAI_API_KEY',
      personal: true,
      flag: '--openai-api-key',
      rare: true,
      placeholder: 'key',
      summary: 'Key for the openai embedder',
    }),
  embeddingModel: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'Model for the ollama or openai embedder. Without it, nomic-embed-text or text-embedding-3-small.',
    )
    .register(settingMeta, {
      env: 'BMAD_EMBEDDING_MODEL',
      personal: true,
      flag: '--embedding-model',
      rare: true,
      placeholder: 'name',
      summary: 'Embedding model',
    }),
  modelFolder: z
    .string()
    .min(1)
    .optional()
    .describe('Folder with the model for the transformers embedder.')
    .register(settingMeta, {
      env: 'BMAD_MODEL_FOLDER',
      personal: true,
      flag: '--model-folder',
      rare: true,
      placeholder: 'folder',
      summary: 'Model folder for transformers',
    }),
};
