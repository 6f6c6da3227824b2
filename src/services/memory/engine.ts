import type { Analyser } from '../../meaning/analyse.ts';
import {
  MEMORY_TYPES,
  type MemoryEntry,
  type MemoryFilter,
  type MemoryHit,
  type MemoryKey,
  type MemoryRevision,
  type MemoryType,
} from '../../model/memory.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { isoTime, keyText } from './select.ts';
import { unit } from './rank.ts';
import { isBehind } from './recall-copies.ts';
import type { Mark, Page as LinePage } from '../../lines/log.ts';
import type { Heads } from './lines/fold.ts';

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

/** The rules of change, the same for every engine: the stored memory and the new one decide what to store. */

export interface Stored {
  entry: MemoryEntry;
  /** Newest first. */
  revisions: readonly MemoryRevision[];
}

export interface Decision {
  /** What to store; undefined if nothing changes. */
  next: Stored | undefined;
  /** The vector of the text as it is now. Without one, an old vector stays only if the text did. */
  vector: Float32Array | undefined;
  textChanged: boolean;
}

export type Decide<T> = (current: Stored | undefined, index: number) => { decision: Decision; answer: T };

/** NUL ends a text in some drivers, and half a character cannot be written as UTF-8. */
function cleanText(text: string): string {
  return text
    .replaceAll('\0', '')
    .replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');
}

/** Names are compared, so their characters are normalized; a text is kept as written. */
function cleanName(name: string): string {
  return cleanText(name).normalize('NFC');
}

function cleanTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map(cleanName))];
}

function upserted(
  current: Stored | undefined,
  given: NewMemory,
  project: string,
): { decision: Decision; answer: Upserted } {
  const at = isoTime(given.at);
  const wording = { text: cleanText(given.text), tags: cleanTags(given.tags), agent: cleanName(given.agent) };
  if (current === undefined) {
    const createdAt = given.createdAt === undefined ? at : isoTime(given.createdAt);
    const entry: MemoryEntry = {
      id: given.id,
      type: given.type,
      ...wording,
      project,
      createdAt,
      updatedAt: createdAt > at ? createdAt : at,
      revision: 1,
    };
    const next = { entry, revisions: [] };
    return {
      decision: { next, vector: given.vector, textChanged: true },
      answer: { outcome: 'created', entry, previous: undefined },
    };
  }
  const back = given.revive === false ? current : revived(current);
  if (back === current) return reworded(back, false, wording, at, given.vector);
  const { decision, answer } = reworded(back, true, wording, at, given.vector);
  return { decision, answer: { ...answer, revived: true } };
}

function updated(current: Stored, change: MemoryChange): { decision: Decision; answer: Upserted } {
  const { entry } = current;
  const wording = {
    text: change.text === undefined ? entry.text : cleanText(change.text),
    tags: change.tags === undefined ? entry.tags : cleanTags(change.tags),
    agent: change.agent === undefined ? entry.agent : cleanName(change.agent),
  };
  return reworded(current, false, wording, isoTime(change.at), change.vector);
}

type Wording = Pick<MemoryEntry, 'text' | 'tags' | 'agent'>;

function reworded(
  current: Stored,
  touched: boolean,
  wording: Wording,
  at: string,
  vector: Float32Array | undefined,
): { decision: Decision; answer: Upserted } {
  const { entry, revisions } = current;
  const textChanged = wording.text !== entry.text;
  const changed =
    textChanged || wording.agent !== entry.agent || wording.tags.join('\0') !== entry.tags.join('\0');
  if (!changed)
    return {
      decision: { next: touched ? current : undefined, vector, textChanged: false },
      answer: { outcome: touched ? 'updated' : 'unchanged', entry, previous: undefined },
    };
  const { revision, text, tags, agent, updatedAt } = entry;
  const previous: MemoryRevision = { revision, text, tags, agent, at: updatedAt };
  const next: Stored = {
    entry: {
      ...entry,
      ...wording,
      // Clocks of different machines disagree; a memory's own times never run backwards.
      updatedAt: at > updatedAt ? at : updatedAt,
      revision: revision + 1,
    },
    revisions: [previous, ...revisions].slice(0, REVISIONS_KEPT),
  };
  return {
    decision: { next, vector, textChanged },
    answer: { outcome: 'updated', entry: next.entry, previous },
  };
}

function revived(current: Stored): Stored {
  const { forgottenAt, supersededAt, supersededBy, ...entry } = current.entry;
  if (forgottenAt === undefined && supersededAt === undefined && supersededBy === undefined) return current;
  return { ...current, entry };
}

/** Marks change neither wording nor vector. */
function marked(current: Stored, entry: MemoryEntry): Decision {
  return { next: { ...current, entry }, vector: undefined, textChanged: false };
}

const STAYS: Decision = { next: undefined, vector: undefined, textChanged: false };

/**
 * Where memories are found. Many processes use one at once: each call sees what others have finished before it. Lists have a
 * fixed order: newest first by `createdAt`, then by type, then by id. Failures are `BmadError`s with a way out.
 */
export abstract class MemoryIndex {
  protected readonly options: StoreOptions;

  constructor(options: StoreOptions) {
    this.options = options;
  }

  /** What is under each of these keys, all of them asked for together. */
  abstract stored(keys: readonly MemoryKey[]): Promise<(Stored | undefined)[]>;
  /** `search` with a vector that is ready to be compared. */
  abstract found(query: MemoryQuery): Promise<MemoryHit[]>;
  abstract waiting(space: VectorSpace, page: Page): Promise<MemoryPage>;
  abstract writeVectors(space: VectorSpace, vectors: readonly VectorFor[]): Promise<number>;

  abstract list(filter: MemoryFilter, page: Page): Promise<MemoryPage>;
  abstract count(filter: MemoryFilter): Promise<number>;
  abstract stats(): Promise<MemoryStats>;
  /** Every memory that has earlier wordings, forgotten ones too, in no particular order. */
  abstract reworded(): Promise<Stored[]>;
  abstract embedding(): Promise<EmbeddingProgress>;
  /** Another text after any change by any process; for caches. */
  abstract stamp(): Promise<string>;
  abstract health(): Promise<StoreHealth>;
  abstract close(): Promise<void>;

  /** Whether anything may have been forgotten or superseded; no for sure where it says no. */
  async hasGone(): Promise<boolean> {
    const { superseded, forgotten } = await this.stats();
    return superseded + forgotten > 0;
  }

  /** Loads what the first search needs, in pieces. */
  async prepare(_pause: () => Promise<void>): Promise<void> {
    // Most need nothing.
  }

  /** What is being made at the moment, so that answers lack something; a fact for people. */
  making(): string | undefined {
    return undefined;
  }

  /** Waits for what is being made, and says how far it is. */
  async whole(_tell?: (note: string) => void): Promise<void> {
    // Most are whole.
  }

  /** Gives back what it holds as soon as no one uses it; it can still be used. */
  leave(): void {
    // Most hold nothing between two calls.
  }

  async get(key: MemoryKey): Promise<MemoryEntry | undefined> {
    return (await this.stored([key]))[0]?.entry;
  }

  /** Every memory with this id, forgotten ones too; at most one a type. */
  async find(id: string): Promise<MemoryEntry[]> {
    const found = await this.stored(MEMORY_TYPES.map((type) => ({ type, id })));
    return found.flatMap((each) => each?.entry ?? []);
  }

  /**
   * By words, by vector or by both; best first, equal scores as in lists. Hits have a word in common with the query or,
   * where a vector is given, a vector in the same space. Without words and vector there are none.
   */
  async search(query: MemoryQuery): Promise<MemoryHit[]> {
    return this.found(this.ready(query));
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

  /** Earlier wordings, newest first. */
  async revisions(key: MemoryKey): Promise<MemoryRevision[]> {
    return [...present((await this.stored([key]))[0], key).revisions];
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
  protected ready<T extends { vector?: Float32Array | undefined }>(given: T): T {
    return given.vector === undefined ? given : { ...given, vector: unit(given.vector, this.options.space) };
  }
}

/** Where memories are kept: what a call has answered for survives. The rules of change are the same for all. */
export abstract class MemoryStore extends MemoryIndex {
  /**
   * Reads what is under each key, asks what it should become and stores that; as one step where the engine can. Keys
   * are taken in order: the second of two equal ones sees what the first has made.
   */
  abstract change<T>(keys: readonly MemoryKey[], decide: Decide<T>): Promise<T[]>;
  /**
   * Removes forgotten memories for good, with every version and vector; there is no undo. Returns those it removed:
   * memories that are not forgotten, or do not exist, are skipped.
   */
  abstract purge(keys: readonly MemoryKey[]): Promise<MemoryEntry[]>;

  /** All or, on an error, possibly some of the batch; in order, so that a later one with the same key wins. */
  async upsert(memories: readonly NewMemory[]): Promise<Upserted[]> {
    const ready = memories.map((memory) => this.ready(memory));
    return this.change(ready, (current, index) =>
      upserted(current, ready[index] as NewMemory, this.options.project),
    );
  }

  /** Changes a memory under its id; the wording before stays as a revision. */
  async update(key: MemoryKey, change: MemoryChange): Promise<Upserted> {
    const ready = this.ready(change);
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

/** An index of what lines say: made from nothing else, and made again from them at any time. */
export abstract class LineIndex extends MemoryIndex {
  /** How far it has taken lines in, and the number of the last taking. */
  abstract mark(): Promise<{ taken: string; mark: Mark }>;
  /** Takes a page in; answers with nothing where another process was faster, and the mark has moved. */
  abstract take(taken: string, page: LinePage): Promise<Taken | undefined>;
  abstract heads(keys: readonly MemoryKey[]): Promise<Heads[]>;
  /** The memories that have changed since a server was last told of changes, and the number to settle it with. */
  abstract owed(server: string): Promise<{ rev: string; keys: MemoryKey[] }>;
  abstract settle(server: string, rev: string): Promise<void>;
  /** Something else where it was made again meanwhile: what was read in between may be of an index without lines. */
  get made(): string | undefined {
    return undefined;
  }
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
