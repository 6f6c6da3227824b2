import { t } from '../../base/text/message.ts';
import { join } from 'node:path';
import { inTurn } from '../../base/async.ts';
import { those } from '../../base/values.ts';
import { BmadError } from '../../base/errors.ts';
import { readOnlyFolder } from '../../base/files/file-refusals.ts';
import { isWritable } from '../../base/files/file-state.ts';
import { asMuchAsFits, ERASE, headsOf, troubleText } from '../../lines/line.ts';
import {
  MEMORY_TYPES,
  type MemoryEntry,
  type MemoryFilter,
  type MemoryHit,
  type MemoryKey,
  type MemoryRevision,
} from '../../model/memory.ts';
import {
  type Decide,
  type IndexFilter,
  isForgotten,
  isoTime,
  type MemoryChange,
  type MemoryPage,
  type MemoryQuery,
  type NewMemory,
  type Page,
  saidIn,
  type Stored,
  type StoreHealth,
  type Upserted,
  type VectorFor,
} from './engine.ts';
import {
  behind,
  dataOf,
  entityOf,
  type IsBehind,
  memoryOf,
  present,
  updated,
  upserted,
  type Verb,
} from './fold.ts';
import { FollowedIndex, type MemoryIndex } from './followed.ts';
import { unit } from './rank.ts';

/** What is under a key, and what lines say last about it. */
export interface Seen {
  key: MemoryKey;
  stored: Stored | undefined;
  /** The lines about it that nothing follows yet. */
  heads: string[];
  /** Whether a newer program has written one of its lines. */
  newer: boolean;
}

interface Said extends Omit<Seen, 'stored'> {
  do: Verb;
  data: Record<string, unknown>;
}

/** A line says one thing about a memory: the second of two equal keys follows the first. */
function eachOnce(keys: readonly MemoryKey[]): MemoryKey[][] {
  const parts: Map<string, MemoryKey>[] = [];
  for (const key of keys) {
    const of = entityOf(key);
    const last = parts.at(-1);
    if (last === undefined || last.has(of)) parts.push(new Map([[of, key]]));
    else last.set(of, key);
  }
  return parts.map((part) => [...part.values()]);
}

/**
 * Memories as lines, which are the truth, and an index of them, which answers. A change is acknowledged when its line is
 * written; the index follows, and an answer includes every line that was written before the question.
 */
export class MemoryStore extends FollowedIndex {
  readonly #changing = inTurn();
  /** What hides entries of files, for as long as nothing changes. */
  #past: { stamp: string; isBehind: IsBehind } | undefined;

  /**
   * Reads what is under each key, asks what it should become and says that in lines. Keys are taken in order: the second of
   * two equal ones sees what the first has made.
   */
  async change<T>(keys: readonly MemoryKey[], decide: Decide<T>): Promise<T[]> {
    return this.#changing(async () => {
      this.#refuseReaders();
      const answers: T[] = [];
      const vectors: VectorFor[] = [];
      for (const part of eachOnce(keys)) {
        const current = await this.seen(part);
        const plans = current.flatMap(({ key, heads, newer, stored }): Said[] => {
          const before = stored?.entry;
          const { next, earlier = [], vector, answer } = decide(before, answers.length);
          answers.push(answer);
          const text = (next ?? before)?.text;
          // As it is stored and compared; one that cannot be is refused before anything is written.
          if (vector !== undefined && text !== undefined) vectors.push(this.#ready({ key, text, vector }));
          if (next === undefined) return [];
          const verb = earlier.length > 0 ? 'moved' : verbFor(before, next);
          return [{ key, heads, newer, do: verb, data: dataOf(next, earlier) }];
        });
        await this.#write(plans);
      }
      await this.writeVectors(vectors);
      return answers;
    });
  }

  async #write(said: readonly Said[]): Promise<void> {
    const newer = said.find((each) => each.newer);
    if (newer !== undefined) throw newerLine(newer.key);
    const events = said.map(({ key, heads, do: verb, data }) => ({
      of: entityOf(key),
      after: heads,
      do: verb,
      data,
    }));
    for (const part of asMuchAsFits(events)) await this.log.append(part);
  }

  /** All or, on an error, possibly some of the batch; in order, so that a later one with the same key wins. */
  async upsert(memories: readonly NewMemory[]): Promise<Upserted[]> {
    return this.change(memories, (current, index) =>
      upserted(current, memories[index] as NewMemory, this.options.project),
    );
  }

  async update(key: MemoryKey, change: MemoryChange): Promise<Upserted> {
    const [answer] = await this.change([key], (current) => updated(present(current, key), change));
    return answer as Upserted;
  }

  /** Takes memories out of every answer that does not ask for forgotten ones. Answers with those it changed. */
  async forget(keys: readonly MemoryKey[], at: string): Promise<MemoryEntry[]> {
    const now = isoTime(at);
    // Not before what it says, whatever clock that is from: a file would seem to have said it again.
    return this.#marked(keys, (entry) =>
      entry.forgottenAt === undefined
        ? { ...entry, forgottenAt: now > entry.updatedAt ? now : entry.updatedAt }
        : undefined,
    );
  }

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

  async #marked(
    keys: readonly MemoryKey[],
    become: (entry: MemoryEntry) => MemoryEntry | undefined,
  ): Promise<MemoryEntry[]> {
    const answers = await this.change(keys, (current, index) => {
      const next = become(present(current, keys[index] as MemoryKey));
      return { next, answer: next };
    });
    return answers.filter((entry) => entry !== undefined);
  }

  /**
   * Removes forgotten memories for good, with every version and vector; there is no undo. Returns those it removed:
   * memories that are not forgotten, or do not exist, are skipped.
   */
  async purge(keys: readonly MemoryKey[]): Promise<MemoryEntry[]> {
    return this.#changing(async () => {
      this.#refuseReaders();
      const once = [...new Map(keys.map((key) => [entityOf(key), key])).values()];
      const found = await this.seen(once);
      const gone = found.filter(({ stored }) => stored !== undefined && isForgotten(stored.entry));
      await this.#write(gone.map((each) => ({ ...each, do: ERASE, data: {} })));
      await this.ask(() => Promise.resolve());
      return gone.flatMap(({ stored }) => stored?.entry ?? []);
    });
  }

  #refuseReaders(): void {
    if (this.more.writes === false)
      throw new BmadError('forbidden', t`Memories are only read here: nothing was written.`);
  }

  stored = (keys: readonly MemoryKey[]) => this.ask((index) => this.#stored(index, keys));
  list = (filter: MemoryFilter, page: Page) => this.ask((index) => index.list(filter, page));
  count = (filter: MemoryFilter) => this.ask((index) => index.count(filter));
  changed = () => this.ask((index) => this.#changed(index));
  stats = () => this.ask((index) => index.stats());
  stamp = () => this.ask((index) => index.stamp());

  /** What is under these keys, and which lines about them nothing follows. */
  seen(keys: readonly MemoryKey[]): Promise<Seen[]> {
    return this.ask((index) => this.#seen(index, keys), 'all');
  }

  /** A memory is what its lines make of it; what an index keeps of it is for finding it. */
  async #seen(index: MemoryIndex, keys: readonly MemoryKey[]): Promise<Seen[]> {
    const heard = await index.heard(keys);
    return keys.map((key, at) => {
      const events = saidIn(heard[at] ?? []);
      const stored = memoryOf(key, this.options.project, events);
      return { key, stored, heads: headsOf(events), newer: events.some(({ newer }) => newer) };
    });
  }

  async #stored(index: MemoryIndex, keys: readonly MemoryKey[]): Promise<(Stored | undefined)[]> {
    return (await this.#seen(index, keys)).map(({ stored }) => stored);
  }

  async #changed(index: MemoryIndex): Promise<Stored[]> {
    const all = await this.#stored(index, await index.changed());
    return all.filter((each) => each !== undefined);
  }

  async get(key: MemoryKey): Promise<MemoryEntry | undefined> {
    return (await this.stored([key]))[0]?.entry;
  }

  async find(id: string): Promise<MemoryEntry[]> {
    const found = await this.stored(MEMORY_TYPES.map((type) => ({ type, id })));
    return found.flatMap((each) => each?.entry ?? []);
  }

  async revisions(key: MemoryKey): Promise<MemoryRevision[]> {
    return [...present((await this.stored([key]))[0], key).revisions];
  }

  async search(query: MemoryQuery): Promise<MemoryHit[]> {
    const ready = this.#ready(query);
    return this.ask((index) => index.search(ready));
  }

  /** A search for one who also has entries of files: some may say what was forgotten, superseded or said otherwise since. */
  async searchBesideFiles(query: MemoryQuery): Promise<Answer> {
    const ready = this.#ready(query);
    return this.ask(async (index) => ({
      hits: await index.search(ready),
      isBehind: await this.#isBehind(index),
    }));
  }

  /** Whether an entry of a file says what was forgotten, superseded or said otherwise since. */
  isBehind = () => this.ask((index) => this.#isBehind(index));

  async #isBehind(index: MemoryIndex): Promise<IsBehind> {
    const stamp = await index.stamp();
    if (this.#past?.stamp !== stamp) this.#past = { stamp, isBehind: behind(await this.#changed(index)) };
    return this.#past.isBehind;
  }

  /** Memories, not forgotten ones, that have no vector in the current space, in the order of lists. */
  async pending(page: Page): Promise<MemoryPage> {
    if (this.options.space === undefined) return { entries: [], next: undefined };
    return this.ask((index) => index.list(PENDING, page), 'all');
  }

  /** How many memories there are, not forgotten ones, and how many of these have a vector in the current space. */
  async embedding(): Promise<{ total: number; embedded: number }> {
    const total = await this.count({ includeSuperseded: true });
    if (this.options.space === undefined) return { total, embedded: 0 };
    return { total, embedded: total - (await this.ask((index) => index.count(PENDING))) };
  }

  setVectors(vectors: readonly VectorFor[]): Promise<number> {
    return this.writeVectors(
      vectors.map((each) => this.#ready(each)),
      'all',
    );
  }

  #ready<T extends { vector?: Float32Array | undefined }>(given: T): T {
    return given.vector === undefined ? given : { ...given, vector: unit(given.vector, this.options.space) };
  }

  async health(): Promise<StoreHealth> {
    const { shared } = this.more;
    const health = await (shared === undefined ? this.ask((index) => index.health()) : shared.health());
    const troubles = this.log.troubles().map(troubleText);
    const { folder, writes = true } = this.more;
    const isShut = writes && folder !== undefined && !(await isWritable(join(folder, '.lines')));
    const notes = those(isShut && readOnlyFolder(folder).line, this.trouble, health.notes, troubles);
    return { ...health, damaged: troubles.length > 0, degraded: notes.length > 0, notes };
  }
}

export interface Answer {
  hits: MemoryHit[];
  isBehind: IsBehind;
}

const PENDING: IndexFilter = { unembedded: true, includeSuperseded: true };

export async function allEntries(store: MemoryStore, filter: MemoryFilter): Promise<MemoryEntry[]> {
  const entries: MemoryEntry[] = [];
  let after: string | undefined;
  do {
    const page = await store.list(filter, { limit: 1_000, after });
    entries.push(...page.entries);
    after = page.next;
  } while (after !== undefined);
  return entries;
}

/** What a change was, for people who read the lines; the memory after it stands in the line itself. */
function verbFor(before: MemoryEntry | undefined, next: MemoryEntry): Verb {
  if (next.forgottenAt !== undefined && before?.forgottenAt === undefined) return 'forget';
  if (next.forgottenAt === undefined && before?.forgottenAt !== undefined) return 'restore';
  return next.supersededAt !== undefined && before?.supersededAt === undefined ? 'supersede' : 'remember';
}

const newerLine = ({ id }: MemoryKey): BmadError =>
  new BmadError('unavailable', t`The memory ${id} was changed by a newer version of this server.`, {
    subject: id,
    hint: t`It can be read here. To change it, update this server.`,
  });
