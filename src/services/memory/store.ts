import type { Analyser } from '../../meaning/analyser.ts';
import type {
  MemoryEntry,
  MemoryFilter,
  MemoryHit,
  MemoryKey,
  MemoryRevision,
  MemoryType,
} from '../../model/memory.ts';

/** Which vectors can be compared with each other: those of one embedder with one number of dimensions. */
export interface VectorSpace {
  embedder: string;
  dim: number;
}

export interface StoreOptions {
  /** The application id of the project. */
  project: string;
  analyser: Analyser;
  /** The embedder in use; without one the store compares words only. */
  space?: VectorSpace | undefined;
}

export interface NewMemory extends MemoryKey {
  agent: string;
  text: string;
  tags: readonly string[];
  /** ISO 8601, the time of the call. */
  at: string;
  /** When it was first written, for imports; otherwise `at`. Never changes an existing memory's. */
  createdAt?: string | undefined;
  vector?: Float32Array | undefined;
  /**
   * Whether remembering a forgotten or superseded text brings it back, which is the default. Copying from files says
   * no, so that what was forgotten stays so.
   */
  revive?: boolean | undefined;
}

export type WriteOutcome = 'created' | 'updated' | 'unchanged';

export interface Upserted {
  outcome: WriteOutcome;
  entry: MemoryEntry;
  /** The wording that was replaced. */
  previous: MemoryRevision | undefined;
  /** Whether it had been forgotten or superseded, and is back. */
  revived?: boolean | undefined;
}

export interface MemoryChange {
  text?: string | undefined;
  tags?: readonly string[] | undefined;
  agent?: string | undefined;
  at: string;
  /** For a changed text; without one the memory waits for its vector. */
  vector?: Float32Array | undefined;
}

export interface Page {
  limit: number;
  /** `next` of the page before. */
  after?: string | undefined;
}

export interface MemoryPage {
  entries: MemoryEntry[];
  next: string | undefined;
}

export interface MemoryQuery {
  /** Analysed words of the question, from the same analyser. */
  terms: readonly string[];
  vector?: Float32Array | undefined;
  filter: MemoryFilter;
  limit: number;
  minScore?: number | undefined;
}

export interface VectorFor {
  key: MemoryKey;
  /** The revision whose text was embedded. A memory that has changed since keeps waiting. */
  revision: number;
  vector: Float32Array;
}

/** A memory that once said something else. */
export interface Reworded {
  entry: MemoryEntry;
  /** Newest first. */
  revisions: readonly MemoryRevision[];
}

export interface EmbeddingProgress {
  space: VectorSpace | undefined;
  /** Memories that are not forgotten, and how many of these have a vector in the space. */
  total: number;
  embedded: number;
}

export interface MemoryStats {
  total: number;
  /** Neither superseded nor forgotten. */
  live: number;
  superseded: number;
  forgotten: number;
  /** Live ones. All types are there, agents by name. */
  byType: Record<MemoryType, number>;
  byAgent: Record<string, number>;
  /** Which embedders have left vectors, most first. */
  spaces: (VectorSpace & { count: number })[];
  oldest: string | undefined;
  newest: string | undefined;
}

export interface StoreHealth {
  engine: 'sqlite' | 'qdrant' | 'jsonl';
  /** The file or the address. */
  place: string;
  /** Details for people: the driver and its version, the journal, the server's version. */
  details: Record<string, string>;
  schema: number;
  /** Works, but not as well as it should; `notes` say why and what to do. */
  degraded: boolean;
  notes: string[];
}

/**
 * Where memories are kept. Many processes use one store at once: each call sees what others have finished before it,
 * and what a call has answered for is on disk or on the server. Lists have a fixed order: newest first by `createdAt`,
 * then by type, then by id. Failures are `BmadError`s with a way out.
 */
export interface MemoryStore {
  /** All or, on an error, possibly some of the batch; in order, so that a later one with the same key wins. */
  upsert(memories: readonly NewMemory[]): Promise<Upserted[]>;
  get(key: MemoryKey): Promise<MemoryEntry | undefined>;
  /** Every memory with this id, forgotten ones too; at most one a type. */
  find(id: string): Promise<MemoryEntry[]>;
  list(filter: MemoryFilter, page: Page): Promise<MemoryPage>;
  count(filter: MemoryFilter): Promise<number>;
  stats(): Promise<MemoryStats>;
  /**
   * By words, by vector or by both; best first, equal scores as in lists. Hits have a word in common with the query or,
   * where a vector is given, a vector in the same space. Without words and vector there are none.
   */
  search(query: MemoryQuery): Promise<MemoryHit[]>;
  /** Changes a memory under its id; the wording before stays as a revision. */
  update(key: MemoryKey, change: MemoryChange): Promise<Upserted>;
  /** Takes memories out of every answer that does not ask for forgotten ones. Answers with those it changed. */
  forget(keys: readonly MemoryKey[], at: string): Promise<MemoryEntry[]>;
  /** The undo of `forget`. */
  restore(keys: readonly MemoryKey[]): Promise<MemoryEntry[]>;
  /**
   * Removes forgotten memories for good, with every version and vector; there is no undo. Returns those it removed:
   * memories that are not forgotten, or do not exist, are skipped.
   */
  purge(keys: readonly MemoryKey[]): Promise<MemoryEntry[]>;
  /** Marks a memory as replaced by another (an id, or nothing when it is only out of date). */
  supersede(key: MemoryKey, by: string | undefined, at: string): Promise<MemoryEntry>;
  /** Earlier wordings, newest first. */
  revisions(key: MemoryKey): Promise<MemoryRevision[]>;
  /** Every memory that has earlier wordings, forgotten ones too, in no particular order. */
  reworded(): Promise<Reworded[]>;
  /** Memories, not forgotten ones, that have no vector in the current space, in the order of lists. */
  pending(page: Page): Promise<MemoryPage>;
  /** Answers how many were taken. */
  setVectors(vectors: readonly VectorFor[]): Promise<number>;
  embedding(): Promise<EmbeddingProgress>;
  /** Another text after any change by any process; for caches. */
  stamp(): Promise<string>;
  health(): Promise<StoreHealth>;
  close(): Promise<void>;
}

/** Earlier wordings kept for each memory. */
export const REVISIONS_KEPT = 50;
