import { BmadError } from '../../base/errors.ts';
import type { Analyser } from '../../meaning/analyse.ts';
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
  /** The ways to say it in these words, the caller's own first: a memory that has one of them has all that was asked for. */
  ways?: readonly (readonly string[])[] | undefined;
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
  engine: 'sqlite' | 'qdrant' | 'memory';
  /** The file or the address. */
  place: string;
  /** Details for people: the driver and its version, the journal, the server's version. */
  details: Record<string, string>;
  schema: number;
  /** Some of what it should hold cannot be read. */
  damaged?: boolean | undefined;
  /** Works, but not as well as it should; `notes` say why and what to do. */
  degraded: boolean;
  notes: string[];
}

/** Earlier wordings kept for each memory. */
export const REVISIONS_KEPT = 50;

export interface Stored {
  entry: MemoryEntry;
  /** Newest first. */
  revisions: readonly MemoryRevision[];
}

/** What a memory becomes, nothing where it stays, with the vector of the text as it is now. */
export interface Decided<T> {
  next: Stored | undefined;
  vector?: Float32Array | undefined;
  answer: T;
}

export type Decide<T> = (current: Stored | undefined, index: number) => Decided<T>;

export interface Answer {
  hits: MemoryHit[];
  /** Whether an entry of a file says what was forgotten, superseded or said otherwise since. */
  isBehind: (entry: MemoryEntry) => boolean | Promise<boolean>;
}

export interface Heads {
  /** The lines about a memory that nothing follows yet. */
  heads: string[];
  /** All lines about it. */
  known: string[];
  /** Whether a newer program has written one of its lines. */
  newer: boolean;
}

/** What lines say about a memory, for a server that is told of it. */
export interface Told extends Stored, Pick<Heads, 'heads' | 'known'> {
  /** Whether it was changed here just now, which holds whatever the server has. */
  isOwn: boolean;
}

export interface Taken {
  /** The number of this taking. */
  taken: string;
  /** What was removed for good, and is still said by lines. */
  covered: Map<string, Set<string>>;
}

/** Something is wrong with an index, and nothing with the lines: it can be made again, or done without. */
export class IndexFailure extends BmadError {
  readonly isOfIndex = true;

  /** By its own mark: the class above takes every error of ours for its own. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && 'isOfIndex' in value;
  }
}
