import * as z from 'zod';
import { settingMeta } from './setting-meta.ts';

const address = (): z.ZodString =>
  z.string().regex(/^https?:\/\/[^\s]+$/i, 'It has to begin with http:// or https://.');

/**
 * Where memories are kept, and what compares their meaning. All of it is personal: a project that could name a server
 * would be sent what others remember.
 */
export const memorySettings = {
  memoryEngine: z
    .enum(['auto', 'sqlite', 'qdrant', 'jsonl'])
    .default('auto')
    .describe(
      'Where memories are kept: auto (Qdrant if its address is set, else a SQLite file, else a JSONL file), sqlite, qdrant or jsonl.',
    )
    .register(settingMeta, {
      env: 'BMAD_MEMORY_ENGINE',
      personal: true,
      flag: '--memory-engine',
      rare: true,
      placeholder: 'engine',
      summary: 'Where memories are kept',
    }),
  memoryJournal: z
    .enum(['auto', 'wal', 'delete'])
    .default('auto')
    .describe(
      'How the SQLite file of memories is written: auto (with a write-ahead log, except on a network folder where that can be told), wal, or delete (without one; for a network folder on macOS or Windows).',
    )
    .register(settingMeta, {
      env: 'BMAD_MEMORY_JOURNAL',
      personal: true,
      flag: '--memory-journal',
      rare: true,
      placeholder: 'mode',
      summary: 'How the SQLite file is written',
    }),
  embedder: z
    .enum(['auto', 'static', 'none', 'ollama', 'openai', 'transformers'])
    .default('auto')
    .describe(
      'What compares the meaning of texts: auto (Ollama if its address is set, else the built-in model), static (built in), none (words only), ollama, openai (any server with that interface) or transformers (a model in a folder).',
    )
    .register(settingMeta, {
      env: 'BMAD_EMBEDDER',
      personal: true,
      flag: '--embedder',
      rare: true,
      placeholder: 'name',
      summary: 'What compares meanings',
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
    .describe(
      'Key for the Qdrant server. Best given in the environment, where no list of processes shows it.',
    )
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
    .describe('Address of an Ollama server that makes vectors, such as http://localhost:11434.')
    .register(settingMeta, {
      env: 'BMAD_OLLAMA_URL',
      personal: true,
      flag: '--ollama-url',
      rare: true,
      placeholder: 'url',
      summary: 'Ollama server for vectors',
    }),
  openaiUrl: address()
    .default('https://api.openai.com/v1')
    .describe('Address for the embedder openai: what comes before /embeddings.')
    .register(settingMeta, {
      env: 'BMAD_OPENAI_URL',
      personal: true,
      flag: '--openai-url',
      rare: true,
      placeholder: 'url',
      summary: 'For openai',
    }),
  openaiApiKey: z
    .string()
    .min(1)
    .optional()
    .describe('Key for the embedder openai. Best given in the environment.')
    .register(settingMeta, {
      env: 'BMAD_OPENAI_API_KEY',
      personal: true,
      flag: '--openai-api-key',
      rare: true,
      placeholder: 'key',
      summary: 'Key for the embedder openai',
    }),
  embeddingModel: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'Model of the embedder ollama or openai. Without it: nomic-embed-text, or text-embedding-3-small.',
    )
    .register(settingMeta, {
      env: 'BMAD_EMBEDDING_MODEL',
      personal: true,
      flag: '--embedding-model',
      rare: true,
      placeholder: 'name',
      summary: 'Model of the embedder',
    }),
  modelFolder: z
    .string()
    .min(1)
    .optional()
    .describe('Folder of the model for the embedder transformers.')
    .register(settingMeta, {
      env: 'BMAD_MODEL_FOLDER',
      personal: true,
      flag: '--model-folder',
      rare: true,
      placeholder: 'folder',
      summary: 'Model folder for transformers',
    }),
};
