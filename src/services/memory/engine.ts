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
import { isBehind } from './recall-copies.ts';
import { keyText } from './select.ts';
import type {
  EmbeddingProgress,
  MemoryChange,
  MemoryPage,
  MemoryQuery,
  MemoryStats,
  NewMemory,
  Page,
  StoreHealth,
  StoreOptions,
  Upserted,
  VectorFor,
  VectorSpace,
} from './store.ts';

/**
 * Where memories are kept, and the rules of change that all engines share; an engine reads, writes, selects and
 * searches. Many processes use one store at once: each call sees what others have finished before it, and what a call
 * has answered for is on disk or on the server. Lists have a fixed order: newest first by `createdAt`, then by type,
 * then by id. Failures are `BmadError`s with a way out.
 */
export abstract class MemoryStore {
  protected readonly options: StoreOptions;

  constructor(options: StoreOptions) {
    this.options = options;
  }

  /**
   * Reads what is under each key, asks what it should become and stores that; as one step where the engine can. Keys
   * are taken in order: the second of two equal ones sees what the first has made.
   */
  abstract change<T>(keys: readonly MemoryKey[], decide: Decide<T>): Promise<T[]>;
  abstract stored(key: MemoryKey): Promise<Stored | undefined>;
  /** `search` with a vector that is ready to be compared. */
  abstract found(query: MemoryQuery): Promise<MemoryHit[]>;
  abstract waiting(space: VectorSpace, page: Page): Promise<MemoryPage>;
  abstract writeVectors(space: VectorSpace, vectors: readonly VectorFor[]): Promise<number>;

  abstract list(filter: MemoryFilter, page: Page): Promise<MemoryPage>;
  abstract count(filter: MemoryFilter): Promise<number>;
  abstract stats(): Promise<MemoryStats>;
  /**
   * Removes forgotten memories for good, with every version and vector; there is no undo. Returns those it removed:
   * memories that are not forgotten, or do not exist, are skipped.
   */
  abstract purge(keys: readonly MemoryKey[]): Promise<MemoryEntry[]>;
  /** Every memory that has earlier wordings, forgotten ones too, in no particular order. */
  abstract reworded(): Promise<Stored[]>;
  abstract embedding(): Promise<EmbeddingProgress>;
  /** Another text after any change by any process; for caches. */
  abstract stamp(): Promise<string>;
  abstract health(): Promise<StoreHealth>;

  /** Whether anything may have been forgotten or superseded; no for sure where it says no. */
  async hasGone(): Promise<boolean> {
    const { superseded, forgotten } = await this.stats();
    return superseded + forgotten > 0;
  }

  abstract close(): Promise<void>;

  /** Whether a memory is, or will be, where new ones go: those of the other place are on this machine only. */
  async isAtHome(_key: MemoryKey): Promise<boolean> {
    return true;
  }

  /** The one file it is in, if it is in one. */
  file(): string | undefined {
    return undefined;
  }

  /** Copies all of it to an empty file, and throws unless everything in the copy can be read. */
  async copyTo(_path: string): Promise<void> {
    throw new Error('This store is not in a file.');
  }

  async isEmpty(): Promise<boolean> {
    return (await this.count({ includeForgotten: true, includeSuperseded: true })) === 0;
  }

  /** Itself, if it still has what a file had that is gone; it then reads no other. */
  async held(): Promise<MemoryStore | undefined> {
    return undefined;
  }

  /** Loads what the first search needs, in pieces. */
  async prepare(_pause: () => Promise<void>): Promise<void> {
    // Most need nothing.
  }

  /** Hands what it has loaded on to the next store that is opened in the same place. */
  async handOn(): Promise<void> {
    // Most have loaded nothing.
  }

  /** Gives back what it holds as soon as no one uses it; it can still be used. */
  leave(): void {
    // Most hold nothing between two calls.
  }

  /** All or, on an error, possibly some of the batch; in order, so that a later one with the same key wins. */
  async upsert(memories: readonly NewMemory[]): Promise<Upserted[]> {
    const ready = memories.map((memory) => this.#ready(memory));
    return this.change(ready, (current, index) =>
      upserted(current, ready[index] as NewMemory, this.options.project),
    );
  }

  async get(key: MemoryKey): Promise<MemoryEntry | undefined> {
    return (await this.stored(key))?.entry;
  }

  /** Every memory with this id, forgotten ones too; at most one a type. */
  async find(id: string): Promise<MemoryEntry[]> {
    const found = await Promise.all(MEMORY_TYPES.map(async (type) => this.get({ type, id })));
    return found.filter((entry) => entry !== undefined);
  }

  /**
   * By words, by vector or by both; best first, equal scores as in lists. Hits have a word in common with the query or,
   * where a vector is given, a vector in the same space. Without words and vector there are none.
   */
  async search(query: MemoryQuery): Promise<MemoryHit[]> {
    return this.found(this.#ready(query));
  }

  /**
   * A search for one who also has entries of files, which may be behind the store. With `all`, what passes the filter and has
   * nothing in common with the query comes last, newest first: who names a filter wants what it takes.
   */
  async answer(query: MemoryQuery, { all }: { all: boolean; files: boolean }): Promise<Answer> {
    const hits = await this.search(query);
    if (all && hits.length < query.limit) {
      const found = new Set(hits.map(({ entry }) => keyText(entry)));
      const { entries } = await this.list(query.filter, { limit: query.limit });
      hits.push(...entries.filter((entry) => !found.has(keyText(entry))).map(unmatched));
    }
    return { hits, isBehind: (entry) => isBehind(this, this.options.analyser, entry) };
  }

  /** Changes a memory under its id; the wording before stays as a revision. */
  async update(key: MemoryKey, change: MemoryChange): Promise<Upserted> {
    const ready = this.#ready(change);
    const [answer] = await this.change([key], (current) => updated(present(current, key), ready));
    return answer as Upserted;
  }

  /** Takes memories out of every answer that does not ask for forgotten ones. Answers with those it changed. */
  async forget(keys: readonly MemoryKey[], at: string): Promise<MemoryEntry[]> {
    const forgottenAt = isoTime(at);
    return this.#marked(keys, (entry) =>
      entry.forgottenAt === undefined ? { ...entry, forgottenAt } : undefined,
    );
  }

  /** The undo of `forget`. */
  async restore(keys: readonly MemoryKey[]): Promise<MemoryEntry[]> {
    return this.#marked(keys, ({ forgottenAt, ...entry }) => (forgottenAt === undefined ? undefined : entry));
  }

  /** Marks a memory as replaced by another (an id, or nothing when it is only out of date). */
  async supersede(key: MemoryKey, by: string | undefined, at: string): Promise<MemoryEntry> {
    const supersededAt = isoTime(at);
    const [answer] = await this.#marked([key], (entry) => {
      const { supersededBy: _, ...rest } = entry;
      return { ...rest, supersededAt, ...(by === undefined ? {} : { supersededBy: by }) };
    });
    return answer as MemoryEntry;
  }

  /** Stores what the memories become; those for which it is nothing stay as they are. */
  async #marked(
    keys: readonly MemoryKey[],
    become: (entry: MemoryEntry) => MemoryEntry | undefined,
  ): Promise<MemoryEntry[]> {
    const answers = await this.change(keys, (current, index) => {
      const before = present(current, keys[index] as MemoryKey);
      const answer = become(before.entry);
      return { decision: answer === undefined ? STAYS : marked(before, answer), answer };
    });
    return answers.filter((entry) => entry !== undefined);
  }

  /** Earlier wordings, newest first. */
  async revisions(key: MemoryKey): Promise<MemoryRevision[]> {
    return [...present(await this.stored(key), key).revisions];
  }

  /** Memories, not forgotten ones, that have no vector in the current space, in the order of lists. */
  async pending(page: Page): Promise<MemoryPage> {
    const { space } = this.options;
    return space === undefined ? { entries: [], next: undefined } : this.waiting(space, page);
  }

  /** Answers how many were taken. */
  async setVectors(vectors: readonly VectorFor[]): Promise<number> {
    const ready = vectors.map((each) => ({ ...each, vector: unit(each.vector, this.options.space) }));
    return this.options.space === undefined ? 0 : this.writeVectors(this.options.space, ready);
  }

  /** With the vector as it is stored and compared. */
  #ready<T extends { vector?: Float32Array | undefined }>(given: T): T {
    return given.vector === undefined ? given : { ...given, vector: unit(given.vector, this.options.space) };
  }
}

export interface Answer {
  hits: MemoryHit[];
  /** Whether an entry of a file says what was forgotten, superseded or said otherwise since. */
  isBehind: (entry: MemoryEntry) => boolean | Promise<boolean>;
}

/** What passes a filter and has nothing in common with what was asked. */
export const unmatched = (entry: MemoryEntry): MemoryHit => ({
  entry,
  score: 0,
  cosine: undefined,
  coverage: 0,
  matched: [],
});

function present(current: Stored | undefined, { type, id }: MemoryKey): Stored {
  if (current !== undefined) return current;
  throw new BmadError('not_found', `There is no memory ${quoted(id)} in ${type}.`, {
    subject: id,
    steps: [{ operation: 'memory_list', why: 'List memories with their ids' }],
  });
}
