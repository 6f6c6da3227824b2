import { t } from '../../base/text/message.ts';
import { join } from 'node:path';
import { inTurn } from '../../base/async.ts';
import { BmadError, ours } from '../../base/errors.ts';
import { isWritable } from '../../base/files/file-state.ts';
import { asMuchAsFits, ERASE, type Log, type Mark, troubleText } from '../../lines/line.ts';
import type { MemoryEntry, MemoryFilter, MemoryHit, MemoryKey } from '../../model/memory.ts';
import {
  type Heads,
  type Decide,
  IndexFailure,
  type MemoryQuery,
  type Page,
  type StoreHealth,
  type StoreOptions,
  type Stored,
  type VectorFor,
  type VectorSpace,
} from './engine.ts';
import { type LineIndex, type MemoryIndex, MemoryStore, type SharedIndex } from './store.ts';
import { readOnlyFolder } from './place.ts';
import { isForgotten, keyText } from './rank.ts';
import { type Verb, dataOf, entityOf } from './fold.ts';
import { IndexInMemory } from './in-memory.ts';

/** How often another process may be faster with the same lines before somebody is told. */
const ROUNDS = 100;
/** About a thousand events: what is taken in while others of this process wait. More than that is left to the maker. */
const BYTES_AT_ONCE = 500_000;
/** How often an index is asked that fails. */
const TRIES = 3;
/** Memories that a server is told of with one request a type. */
const SHARED_AT_ONCE = 200;

/** Takes all lines in beside this thread, with the same index, and says how many memories' worth it has taken. */
export type Maker = (tell: (taken: string) => void, signal: AbortSignal) => Promise<unknown>;

interface More {
  maker?: Maker | undefined;
  /** A server that others use too: it answers, and is told of each change. */
  shared?: SharedIndex | undefined;
  /** No for one who only reads: no line is written then, none is removed, and nobody is told. */
  writes?: boolean | undefined;
  /** The folder that lines are written to. */
  folder?: string | undefined;
}

interface Seen extends Heads {
  key: MemoryKey;
  stored: Stored | undefined;
}

/** What is to be said about a memory. */
interface Said extends Heads {
  key: MemoryKey;
  do: Verb;
  data: Record<string, unknown>;
}

/** A line says one thing about a memory: the second of two equal keys follows the first. */
function eachOnce(keys: readonly MemoryKey[]): MemoryKey[][] {
  const parts: MemoryKey[][] = [];
  let seen = new Set<string>();
  for (const key of keys) {
    if (parts.length === 0 || seen.has(keyText(key))) {
      parts.push([]);
      seen = new Set();
    }
    parts.at(-1)?.push(key);
    seen.add(keyText(key));
  }
  return parts;
}

/**
 * Memories as lines, which are the truth, and an index of them, which answers. A change is acknowledged when its line is
 * written; the index follows, and whoever asks it sees all lines that were written before.
 */
export class LinedStore extends MemoryStore {
  readonly #log: Log;
  #index: LineIndex;
  readonly #more: More;
  readonly #turn = inTurn();
  /** Why the index that was asked for is not in use. */
  #trouble: string | undefined;
  #maker: Maker | undefined;
  #making: { done: Promise<void>; taken: string; heard: Set<(note: string) => void> } | undefined;
  readonly #closing = new AbortController();
  #told: { tell: (taken: string) => void; signal: AbortSignal } | undefined;
  /** What this process itself has changed and a server may not have heard, which holds whatever the server has. */
  readonly #own = new Set<string>();
  #catching: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(log: Log, index: LineIndex, options: StoreOptions, more: More = {}) {
    super(options);
    this.#log = log;
    this.#index = index;
    this.#more = more;
    this.#maker = more.maker;
  }

  /**
   * Asks the index with all lines there are. One that turns out to be damaged, or was made again meanwhile, is asked again
   * when it has the lines; where that is no use, the memory of this process takes its place.
   */
  async #ask<T>(work: (index: MemoryIndex) => Promise<T>, needs: Needs = 'some'): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        const index = await this.#fresh(needs);
        const { made } = this.#index;
        const answer = await work(index);
        if (made === this.#index.made || tries > TRIES) return answer;
      } catch (error) {
        if (!(error instanceof IndexFailure)) throw error;
        if (tries >= TRIES) this.#doWithout(error);
      }
    }
  }

  #doWithout(error: IndexFailure): void {
    // Another call may have found out first: the failure is that of the index before.
    if (this.#index instanceof IndexInMemory) return;
    this.#trouble = t`${error.line} Until then, this process keeps an index in its memory.`;
    this.#index.leave();
    this.#index = new IndexInMemory(this.options);
    this.#maker = undefined;
  }

  /** The index with all lines there are; for one who only reads, with those that there are so far while many are taken in. */
  async #fresh(needs: Needs): Promise<MemoryIndex> {
    // One that is under way may have looked already; the next one serves all who ask meanwhile.
    if (this.#making === undefined) await (this.#next ??= this.#afterThat());
    if (needs === 'some' || this.#making === undefined) return this.#more.shared ?? this.#index;
    await this.#making.done;
    return this.#fresh(needs);
  }

  override making(): string | undefined {
    return this.#making && makingNote(this.#making.taken);
  }

  override async whole(tell?: (note: string) => void): Promise<void> {
    await this.#ask(() => Promise.resolve());
    if (this.#making === undefined) return;
    if (tell !== undefined) this.#making.heard.add(tell);
    await this.#ask(() => Promise.resolve(), 'all');
  }

  #make(maker: Maker): void {
    const heard = new Set<(note: string) => void>();
    const making = { taken: '0', heard, done: Promise.resolve() };
    const tell = (taken: string): void => {
      making.taken = taken;
      for (const hear of heard) hear(makingNote(taken));
    };
    const work = async (): Promise<void> => {
      try {
        await maker(tell, this.#closing.signal);
      } catch {
        // Where it cannot be done beside this thread, it is done in it.
        this.#maker = undefined;
      } finally {
        this.#making = undefined;
      }
    };
    this.#making = making;
    making.done = work();
  }

  /** What a maker does: takes all lines in, page by page. */
  async takeIn(tell: (taken: string) => void, signal: AbortSignal): Promise<void> {
    this.#told = { tell, signal };
    await this.#ask(() => Promise.resolve());
  }

  async #afterThat(): Promise<void> {
    await this.#catching?.catch(() => undefined);
    this.#next = undefined;
    this.#catching = this.#catchUp();
    try {
      await this.#catching;
    } finally {
      this.#catching = undefined;
    }
  }

  async #catchUp(): Promise<void> {
    const before = await this.#index.mark();
    const isMore = before.mark.size === 0 || (await this.#log.changed(before.mark));
    if (isMore && this.#maker !== undefined && (await this.#log.ahead(before.mark)) > BYTES_AT_ONCE) {
      this.#make(this.#maker);
      return;
    }
    if (isMore)
      for (let round = 0, { taken, mark } = before; ; { taken, mark } = await this.#index.mark()) {
        if (round++ === ROUNDS) throw contended();
        if (await this.#takeAll(taken, mark)) break;
      }
    const { shared, writes = true } = this.#more;
    if (shared !== undefined && writes) await this.#share(shared);
  }

  /** False where another process has taken lines in meanwhile, so that the mark is another one. */
  async #takeAll(first: string, mark: Mark): Promise<boolean> {
    const covered = new Map<string, ReadonlySet<string>>();
    let taken = first;
    let events = 0;
    for await (const page of this.#log.read(mark)) {
      const isEmpty = page.lines.length + page.gone.length + page.marks.size === 0;
      if (isEmpty) continue;
      events += page.lines.reduce((sum, { line }) => sum + line.events.length, 0);
      const found = await this.#index.take(taken, page);
      if (found === undefined) return false;
      ({ taken } = found);
      for (const [of, ids] of found.covered) covered.set(of, ids);
      this.#told?.signal.throwIfAborted();
      this.#told?.tell(String(events));
    }
    if (covered.size === 0 || this.#more.writes === false) return true;
    // Whoever meets what was removed for good removes it too, and where that cannot be done, does not show it.
    return !(await this.#log.erase(covered).catch(ours(() => false)));
  }

  /**
   * Tells the server what lines have made of memories since it was last told: lines of others, and of this machine while the
   * server was out of reach. The index knows what that is, so that nothing is lost with a process.
   */
  async #share(shared: SharedIndex): Promise<void> {
    const { rev, keys } = await this.#index.owed(shared.at);
    for (let from = 0; from < keys.length; from += SHARED_AT_ONCE)
      await this.#shareSome(shared, keys.slice(from, from + SHARED_AT_ONCE));
    if (keys.length > 0) await this.#index.settle(shared.at, rev);
    this.#own.clear();
  }

  async #shareSome(shared: SharedIndex, keys: readonly MemoryKey[]): Promise<void> {
    const seen = await this.#seen(this.#index, keys);
    const isOwn = (key: MemoryKey): boolean => this.#own.has(keyText(key));
    await shared.tell(
      seen.flatMap(({ key, stored, heads, known }) =>
        stored === undefined ? [] : [{ ...stored, heads, known, isOwn: isOwn(key) }],
      ),
    );
    await shared.remove(seen.filter(({ stored }) => stored === undefined).map(({ key }) => key));
  }

  async change<T>(keys: readonly MemoryKey[], decide: Decide<T>): Promise<T[]> {
    return this.#turn(async () => {
      this.#refuseReaders();
      const answers: T[] = [];
      const vectors: { key: MemoryKey; vector: Float32Array }[] = [];
      for (const part of eachOnce(keys)) {
        const current = await this.#ask((index) => this.#seen(index, part), 'all');
        const plans = current.flatMap(({ key, heads, known, newer, stored }): Said[] => {
          const { next, vector, answer } = decide(stored, answers.length);
          answers.push(answer);
          if (vector !== undefined) vectors.push({ key, vector });
          if (next === undefined) return [];
          const verb = verbFor(stored, next);
          return [{ key, heads, known, newer, do: verb, data: dataOf(next, verb) }];
        });
        await this.#write(plans);
      }
      await this.#ask((index) => this.#addVectors(index, vectors));
      return answers;
    });
  }

  /** What is under these keys, and what lines say last about them, whatever a server has. */
  async #seen(index: MemoryIndex, keys: readonly MemoryKey[]): Promise<Seen[]> {
    const stored = await index.stored(keys);
    const heads = await this.#index.heads(keys);
    return keys.map((key, at) => ({ key, stored: stored[at], ...(heads[at] as Heads) }));
  }

  /** Says something about each of these memories, after all that is known of it. */
  async #write(said: readonly Said[]): Promise<void> {
    if (said.length === 0) return;
    const newer = said.find((each) => each.newer);
    if (newer !== undefined) throw newerLine(newer.key);
    for (const { key } of said) this.#own.add(keyText(key));
    const events = said.map(({ key, heads, do: verb, data }) => ({
      of: entityOf(key),
      after: heads,
      do: verb,
      data,
    }));
    for (const part of asMuchAsFits(events)) await this.#log.append(part);
  }

  async #addVectors(
    index: MemoryIndex,
    given: readonly { key: MemoryKey; vector: Float32Array }[],
  ): Promise<void> {
    const { space } = this.options;
    if (space === undefined || given.length === 0) return;
    const found = await index.stored(given.map(({ key }) => key));
    const vectors = given.flatMap((each, at): VectorFor[] => {
      const revision = found[at]?.entry.revision;
      return revision === undefined ? [] : [{ ...each, revision }];
    });
    await index.writeVectors(space, vectors);
  }

  async purge(keys: readonly MemoryKey[]): Promise<MemoryEntry[]> {
    return this.#turn(async () => {
      this.#refuseReaders();
      const once = [...new Map(keys.map((key) => [keyText(key), key])).values()];
      const found = await this.#ask((index) => this.#seen(index, once), 'all');
      const gone = found.filter(({ stored }) => stored !== undefined && isForgotten(stored.entry));
      await this.#write(gone.map((each) => ({ ...each, do: ERASE, data: {} })));
      await this.#ask(() => Promise.resolve());
      return gone.flatMap(({ stored }) => stored?.entry ?? []);
    });
  }

  #refuseReaders(): void {
    if (this.#more.writes === false)
      throw new BmadError('forbidden', t`Memories are only read here: nothing was written.`);
  }

  /** What lines say about some memories, whatever a server has of them, and which of these lines nothing follows. */
  known(keys: readonly MemoryKey[]): Promise<Seen[]> {
    return this.#ask(() => this.#seen(this.#index, keys), 'all');
  }

  async stored(keys: readonly MemoryKey[]): Promise<(Stored | undefined)[]> {
    return this.#ask((index) => index.stored(keys));
  }

  async found(query: MemoryQuery): Promise<MemoryHit[]> {
    return this.#ask((index) => index.found(query));
  }

  override async answer(query: MemoryQuery, wanted: { all: boolean; files: boolean }) {
    return this.#ask((index) => index.answer(query, wanted));
  }

  async waiting(space: VectorSpace, page: Page) {
    return this.#ask((index) => index.waiting(space, page), 'all');
  }

  async writeVectors(space: VectorSpace, vectors: readonly VectorFor[]): Promise<number> {
    return this.#ask((index) => index.writeVectors(space, vectors), 'all');
  }

  async list(filter: MemoryFilter, page: Page) {
    return this.#ask((index) => index.list(filter, page));
  }

  async count(filter: MemoryFilter): Promise<number> {
    return this.#ask((index) => index.count(filter));
  }

  async stats() {
    return this.#ask((index) => index.stats());
  }

  async reworded(): Promise<Stored[]> {
    return this.#ask((index) => index.reworded());
  }

  async embedding() {
    return this.#ask((index) => index.embedding());
  }

  async stamp(): Promise<string> {
    return this.#ask((index) => index.stamp());
  }

  override async hasGone(): Promise<boolean> {
    return this.#ask((index) => index.hasGone());
  }

  async health(): Promise<StoreHealth> {
    const health = await this.#ask((index) => index.health());
    const troubles = this.#log.troubles().map(troubleText);
    const { folder, writes = true } = this.#more;
    const isShut = writes && folder !== undefined && !(await isWritable(join(folder, '.lines')));
    const notes = [
      ...(isShut ? [readOnlyFolder(folder).line] : []),
      ...(this.#trouble === undefined ? [] : [this.#trouble]),
      ...health.notes,
      ...troubles,
    ];
    return { ...health, damaged: troubles.length > 0, degraded: notes.length > 0, notes };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#making?.done;
    await Promise.all([this.#index.close(), this.#more.shared?.close()]);
  }

  override leave(): void {
    this.#index.leave();
    this.#more.shared?.leave();
  }

  override async prepare(pause: () => Promise<void>): Promise<void> {
    await this.#ask((index) => index.prepare(pause));
  }
}

/** One who writes has to know all that was said about what is written. */
type Needs = 'all' | 'some';

const makingNote = (taken: string): string =>
  t`The index of memories is being made from the lines, ${taken} so far: what is not in it yet is not found.`;

/** What a change was, for people who read the lines; the memory after it stands in the line itself. */
function verbFor(current: Stored | undefined, { entry }: Stored): Verb {
  if (entry.forgottenAt !== undefined && current?.entry.forgottenAt === undefined) return 'forget';
  if (entry.forgottenAt === undefined && current?.entry.forgottenAt !== undefined) return 'restore';
  return entry.supersededAt !== undefined && current?.entry.supersededAt === undefined
    ? 'supersede'
    : 'remember';
}

const newerLine = ({ id }: MemoryKey): BmadError =>
  new BmadError('unavailable', t`The memory ${id} was changed by a newer version of this server.`, {
    subject: id,
    hint: t`It can be read here. To change it, update this server.`,
  });

const contended = (): BmadError =>
  new BmadError('unavailable', t`Other processes keep writing memories of this project.`, {
    hint: t`Try again in a moment.`,
  });
