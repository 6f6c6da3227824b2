import { createHash } from 'node:crypto';
import type { MemoryKey } from '../../src/model/memory.ts';
import type { NewMemory, VectorSpace } from '../../src/services/memory/engine.ts';
import type { MemoryStore } from '../../src/services/memory/store.ts';
import { analyser, embedded, space } from './words.ts';

export interface OpenOptions {
  /** `null` opens a store of words only. */
  space?: VectorSpace | null;
}

/** A place for memories, new for each test, that can be opened several times at once. */
export interface Place {
  open(options?: OpenOptions): Promise<MemoryStore>;
  remove(): Promise<void>;
}

export const storeOptions = (options: OpenOptions = {}) => ({
  project: 'bmad-shop',
  analyser,
  space: options.space === null ? undefined : (options.space ?? space),
});

/** Ids as the service gives them are UUIDs; here they come from a short name. */
export function uuid(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export function memory(name: string, text: string, more: Partial<NewMemory> = {}): NewMemory {
  return {
    id: uuid(name),
    type: 'decisions',
    agent: 'atlas',
    text,
    tags: [],
    at: '2026-03-01T10:00:00.000Z',
    vector: embedded(text),
    ...more,
  };
}

export const keyOf = ({ type, id }: MemoryKey): MemoryKey => ({ type, id });
