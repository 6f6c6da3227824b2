import { t } from '../../base/text/message.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import type { Mark, Page as LinePage } from '../../lines/line.ts';
import { lineText } from '../../kit/memories/line-files.ts';
import {
  MEMORY_TYPES,
  type MemoryEntry,
  type MemoryFilter,
  type MemoryHit,
  type MemoryKey,
  type MemoryRevision,
  type MemoryType,
} from '../../model/memory.ts';
import {
  type Answer,
  type Decide,
  type Decided,
  type EmbeddingProgress,
  type Heads,
  type MemoryChange,
  type MemoryPage,
  type MemoryQuery,
  type MemoryStats,
  type NewMemory,
  type Page,
  REVISIONS_KEPT,
  type Stored,
  type StoreHealth,
  type StoreOptions,
  type Taken,
  type Told,
  type Upserted,
  type VectorFor,
  type VectorSpace,
} from './engine.ts';
import { isLiving, isoTime, keyText, unit } from './rank.ts';

/** The rules of change, the same for every engine: the stored memory and the new one decide what to store. */

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

function upserted(current: Stored | undefined, given: NewMemory, project: string): Decided<Upserted> {
  const at = isoTime(given.at);
  const wording = { text: cleanText(given.text), tags: cleanTags(given.tags), agent: cleanName(given.agent) };
  if (current === undefined) {
    const createdAt = given.createdAt === undefined ? at : isoTime(given.createdAt);
    const updatedAt = createdAt > at ? createdAt : at;
    const { type, id, vector } = given;
    const entry: MemoryEntry = { id, type, ...wording, project, createdAt, updatedAt, revision: 1 };
    return {
      next: { entry, revisions: [] },
      vector,
      answer: { outcome: 'created', entry, previous: undefined },
    };
  }
  const back = given.revive === false ? current : revived(current);
  const decided = reworded(back, back !== current, wording, at, given.vector);
  return back === current ? decided : { ...decided, answer: { ...decided.answer, revived: true } };
}

function updated(current: Stored, change: MemoryChange): Decided<Upserted> {
  const { entry } = current;
  const wording = {
    text: change.text === undefined ? entry.text : cleanText(change.text),
    tags: change.tags === undefined ? entry.tags : cleanTags(change.tags),
    agent: change.agent === undefined ? entry.agent : cleanName(change.agent),
  };
  return reworded(current, false, wording, isoTime(change.at), change.vector);
}

function reworded(
  current: Stored,
  touched: boolean,
  wording: Pick<MemoryEntry, 'text' | 'tags' | 'agent'>,
  at: string,
  vector: Float32Array | undefined,
): Decided<Upserted> {
  const { entry, revisions } = current;
  const { revision, text, tags, agent, updatedAt } = entry;
  if (wording.text === text && wording.agent === agent && wording.tags.join('\0') === tags.join('\0')) {
    const outcome = touched ? 'updated' : 'unchanged';
    return { next: touched ? current : undefined, vector, answer: { outcome, entry, previous: undefined } };
  }
  const previous: MemoryRevision = { revision, text, tags, agent, at: updatedAt };
  // Clocks of different machines disagree; a memory's own times never run backwards.
  const changedAt = at > updatedAt ? at : updatedAt;
  const next = { ...entry, ...wording, updatedAt: changedAt, revision: revision + 1 };
  return {
    next: { entry: next, revisions: [previous, ...revisions].slice(0, REVISIONS_KEPT) },
    vector,
    answer: { outcome: 'updated', entry: next, previous },
  };
}

function revived(current: Stored): Stored {
  const { forgottenAt, supersededAt, supersededBy, ...entry } = current.entry;
  if (forgottenAt === undefined && supersededAt === undefined && supersededBy === undefined) return current;
  return { ...current, entry };
}

/**
 * Where memories are found. Many processes use one at once: each call sees what others have finished before it. Lists have a
 * fixed order: newest first by `createdAt`, then by type, then by id. Failures are `BmadError`s with a way out.
 */
export abstract class MemoryIndex {
  protected readonly options: StoreOptions;
  #past: Past | undefined;

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
    return { hits, isBehind: (entry) => this.#isBehind(entry) };
  }

  /** Whether an entry of a file says what was forgotten, superseded or said otherwise since. */
  async #isBehind(entry: MemoryEntry): Promise<boolean> {
    const { earlier, hasGone } = await this.past();
    const isOld = earlier.has(lineKey(entry));
    if (!isOld && !hasGone) return false;
    const own = await this.get(entry);
    if (own !== undefined && !isLiving(own)) return true;
    const hits = await this.search({
      terms: this.options.analyser.terms(entry.text).slice(0, 40),
      filter: { types: [entry.type], includeForgotten: true, includeSuperseded: true },
      limit: LOOKED_AT,
    });
    const same = hits.filter((hit) => hit.entry.id === entry.id || lineKey(hit.entry) === lineKey(entry));
    // Another memory may still, or again, say what one said before.
    return isOld
      ? !same.some((hit) => isLiving(hit.entry) && lineKey(hit.entry) === lineKey(entry))
      : same.some((hit) => !isLiving(hit.entry));
  }

  /** What memories said before they were changed, and whether any is gone, for as long as nothing changes: to look takes long. */
  async past(): Promise<Past> {
    const stamp = await this.stamp();
    if (this.#past?.stamp !== stamp)
      this.#past = { stamp, earlier: earlierLines(await this.reworded()), hasGone: await this.hasGone() };
    return this.#past;
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
      return { next: answer && { ...before, entry: answer }, answer };
    });
    return answers.filter((entry) => entry !== undefined);
  }
}

interface Past {
  stamp: string;
  /** By `lineKey`. */
  earlier: ReadonlySet<string>;
  hasGone: boolean;
}

const LOOKED_AT = 5;

export const lineKey = ({ type, text }: { type: MemoryType; text: string }): string =>
  `${type}\n${lineText(text)}`;

/** What memories said before they were changed, of those that have been, unless one of them says it now. */
export function earlierLines(changed: readonly Stored[]): Set<string> {
  const lines = new Set<string>();
  for (const { entry, revisions } of changed)
    for (const { text } of revisions) lines.add(lineKey({ type: entry.type, text }));
  for (const { entry } of changed) lines.delete(lineKey(entry));
  return lines;
}

export async function allEntries(store: MemoryIndex, filter: MemoryFilter): Promise<MemoryEntry[]> {
  const entries: MemoryEntry[] = [];
  let after: string | undefined;
  do {
    const page = await store.list(filter, { limit: 1_000, after });
    entries.push(...page.entries);
    after = page.next;
  } while (after !== undefined);
  return entries;
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
  throw new BmadError('not_found', t`There is no memory ${quoted(id)} in ${type}.`, {
    subject: id,
    steps: [{ operation: 'memory_list', why: t`List memories with their ids` }],
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

/** An index on a server that others use too: it answers in place of the one here, and is told of each change. */
export abstract class SharedIndex extends MemoryIndex {
  /** What it is known by, without its key. */
  abstract readonly at: string;
  /** Brings it to what lines say. What others have done to a memory there holds, unless the lines follow from that. */
  abstract tell(said: readonly Told[]): Promise<void>;
  /** Removes for good. */
  abstract remove(keys: readonly MemoryKey[]): Promise<void>;
}
