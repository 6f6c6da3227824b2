import { BmadError, quoted } from '../../base/errors.ts';
import {
  MEMORY_TYPES,
  type MemoryEntry,
  type MemoryFilter,
  type MemoryHit,
  type MemoryKey,
  type MemoryRevision,
} from '../../model/memory.ts';
import { isoTime, marked, STAYS, updated, upserted, type Decide, type Stored } from './change.ts';
import { unit } from './rank.ts';
import type {
  EmbeddingProgress,
  MemoryChange,
  MemoryPage,
  MemoryQuery,
  MemoryStats,
  MemoryStore,
  NewMemory,
  Page,
  Reworded,
  StoreHealth,
  StoreOptions,
  Upserted,
  VectorFor,
} from './store.ts';

/** What all engines share: the rules of change. An engine reads, writes, selects and searches. */
export abstract class Engine implements MemoryStore {
  protected readonly options: StoreOptions;

  constructor(options: StoreOptions) {
    this.options = options;
  }

  /**
   * Reads what is under each key, asks what it should become and stores that; as one step where the engine can. Keys
   * are taken in order: the second of two equal ones sees what the first has made.
   */
  protected abstract change<T>(keys: readonly MemoryKey[], decide: Decide<T>): Promise<T[]>;
  protected abstract stored(key: MemoryKey): Promise<Stored | undefined>;

  async upsert(memories: readonly NewMemory[]): Promise<Upserted[]> {
    const ready = memories.map((memory) => ({ ...memory, vector: this.#ready(memory.vector) }));
    return this.change(ready, (current, index) =>
      upserted(current, ready[index] as NewMemory, this.options.project),
    );
  }

  async get(key: MemoryKey): Promise<MemoryEntry | undefined> {
    return (await this.stored(key))?.entry;
  }

  async find(id: string): Promise<MemoryEntry[]> {
    const found = await Promise.all(MEMORY_TYPES.map(async (type) => this.get({ type, id })));
    return found.filter((entry) => entry !== undefined);
  }

  async update(key: MemoryKey, change: MemoryChange): Promise<Upserted> {
    const ready = { ...change, vector: this.#ready(change.vector) };
    const [answer] = await this.change([key], (current) => updated(present(current, key), ready));
    return answer as Upserted;
  }

  async forget(keys: readonly MemoryKey[], at: string): Promise<MemoryEntry[]> {
    const forgottenAt = isoTime(at);
    const answers = await this.change(keys, (current, index) => {
      const { entry } = present(current, keys[index] as MemoryKey);
      if (entry.forgottenAt !== undefined) return { decision: STAYS, answer: undefined };
      const answer: MemoryEntry = { ...entry, forgottenAt };
      return { decision: marked(current as Stored, answer), answer };
    });
    return answers.filter((entry) => entry !== undefined);
  }

  async restore(keys: readonly MemoryKey[]): Promise<MemoryEntry[]> {
    const answers = await this.change(keys, (current, index) => {
      const { forgottenAt, ...answer } = present(current, keys[index] as MemoryKey).entry;
      if (forgottenAt === undefined) return { decision: STAYS, answer: undefined };
      return { decision: marked(current as Stored, answer), answer };
    });
    return answers.filter((entry) => entry !== undefined);
  }

  async supersede(key: MemoryKey, by: string | undefined, at: string): Promise<MemoryEntry> {
    const supersededAt = isoTime(at);
    const [answer] = await this.change([key], (current) => {
      const { supersededBy: _, ...entry } = present(current, key).entry;
      const next: MemoryEntry = { ...entry, supersededAt, ...(by === undefined ? {} : { supersededBy: by }) };
      return { decision: marked(current as Stored, next), answer: next };
    });
    return answer as MemoryEntry;
  }

  async revisions(key: MemoryKey): Promise<MemoryRevision[]> {
    return [...present(await this.stored(key), key).revisions];
  }

  /** A vector as it is stored and compared. */
  #ready(vector: Float32Array | undefined): Float32Array | undefined {
    return vector === undefined ? undefined : unit(vector, this.options.space);
  }

  abstract list(filter: MemoryFilter, page: Page): Promise<MemoryPage>;
  abstract count(filter: MemoryFilter): Promise<number>;
  abstract stats(): Promise<MemoryStats>;
  abstract search(query: MemoryQuery): Promise<MemoryHit[]>;
  abstract purge(keys: readonly MemoryKey[]): Promise<MemoryEntry[]>;
  abstract reworded(): Promise<Reworded[]>;
  abstract pending(page: Page): Promise<MemoryPage>;
  abstract setVectors(vectors: readonly VectorFor[]): Promise<number>;
  abstract embedding(): Promise<EmbeddingProgress>;
  abstract stamp(): Promise<string>;
  abstract health(): Promise<StoreHealth>;
  abstract close(): Promise<void>;
}

function present(current: Stored | undefined, { type, id }: MemoryKey): Stored {
  if (current !== undefined) return current;
  throw new BmadError('not_found', `There is no memory ${quoted(id)} in ${type}.`, {
    subject: id,
    steps: [{ operation: 'memory_list', why: 'List memories with their ids' }],
  });
}
