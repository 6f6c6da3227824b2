import { t } from '../../base/text/message.ts';
import { onceForAll } from '../../base/async.ts';
import { BmadError, ours } from '../../base/errors.ts';
import { type Happened, isUnheard, type Log, type Mark, type Page as LinePage } from '../../lines/line.ts';
import type { MemoryHit, MemoryKey } from '../../model/memory.ts';
import {
  type Heard,
  type IndexFilter,
  isInLines,
  isOwed,
  type MemoryPage,
  type MemoryQuery,
  type MemoryStats,
  type Page,
  saidIn,
  type StoreHealth,
  type StoreOptions,
  type VectorFor,
} from './engine.ts';

export interface Taken {
  /** The number of this taking. */
  taken: string;
  /** What was removed for good, and is still said by lines. */
  covered: Map<string, Set<string>>;
}

/**
 * Where memories are found: made from lines and nothing else, and made again from them at any time. Many processes use one at
 * once: each call sees what others have finished before it. Lists have a fixed order: newest first by `createdAt`, then by
 * type, then by id. Failures are `BmadError`s with a way out.
 */
export interface MemoryIndex {
  /**
   * By words, by vector or by both; best first, equal scores as in lists. Hits have a word in common with the query or,
   * where a vector is given, a vector in the same space. Without words and vector there are none, unless all are asked for.
   */
  search(query: MemoryQuery): Promise<MemoryHit[]>;
  list(filter: IndexFilter, page: Page): Promise<MemoryPage>;
  count(filter: IndexFilter): Promise<number>;
  /** Every memory that was reworded, forgotten or superseded, in no particular order. */
  changed(): Promise<MemoryKey[]>;
  stats(): Promise<MemoryStats>;
  vectors(keys: readonly MemoryKey[]): Promise<(Float32Array | undefined)[]>;
  writeVectors(vectors: readonly VectorFor[]): Promise<number>;
  /** Another text after any change by any process; for caches. */
  stamp(): Promise<string>;
  health(): Promise<StoreHealth>;
  /** Gives back what it holds as soon as no one uses it; it can still be used. */
  close?(): void;
  mark(): Promise<{ taken: string; mark: Mark }>;
  /** The versions of points of a server that it has taken in, by their names. */
  points(): Promise<Mark>;
  /** Takes a page in; answers with nothing where another process was faster, and the mark has moved. */
  take(taken: string, page: LinePage): Promise<Taken | undefined>;
  /** All that lines and points say about these memories. */
  heard(keys: readonly MemoryKey[]): Promise<Heard[][]>;
  /** The memories about which something was taken in since it was settled last, and a number to settle it with. */
  touched(): Promise<{ upTo: string; keys: MemoryKey[] }>;
  settle(upTo: string): Promise<void>;
  /** Something else where it was made again meanwhile: what was read in between may be of an index without lines. */
  readonly made?: string | undefined;
}

export interface Told {
  key: MemoryKey;
  events: readonly Happened[];
  vector: Float32Array | undefined;
}

/** Points as an index takes them in: each is a file of its own. */
export interface PointPage extends LinePage {
  vectors: readonly VectorFor[];
}

/** A server that others use too: what it has is taken in, and it is told of each change. */
export interface SharedPlace {
  readonly at: string;
  /** Hands over what is new there since the last time; `isNew` says that the index is another one. */
  news(isNew: boolean, known: () => Promise<Mark>, take: (page: PointPage) => Promise<void>): Promise<void>;
  tell(said: readonly Told[], take: (page: PointPage) => Promise<void>): Promise<void>;
  health(): Promise<StoreHealth>;
}

/** How often another process may be faster with the same lines before somebody is told. */
const ROUNDS = 100;
/** About a thousand events: what is taken in while others of this process wait. More than that is left to the maker. */
const BYTES_AT_ONCE = 500_000;
const TRIES = 3;
const SHARED_AT_ONCE = 200;

export type Maker = (tell: (taken: string) => void, signal: AbortSignal) => Promise<unknown>;

export interface FollowedMore {
  instead?: (() => MemoryIndex) | undefined;
  maker?: Maker | undefined;
  shared?: SharedPlace | undefined;
  /** No for one who only reads: no line is written then, none is removed, and nobody is told. */
  writes?: boolean | undefined;
  folder?: string | undefined;
}

/** One who writes has to know all that was said about what is written. */
type Needs = 'all' | 'some';

/** An index that follows the lines: an answer includes every line that was written before the question. */
export class FollowedIndex {
  protected readonly log: Log;
  protected readonly options: StoreOptions;
  protected readonly more: FollowedMore;
  #index: MemoryIndex;
  #maker: Maker | undefined;
  #making: { done: Promise<void>; taken: string; heard: Set<(note: string) => void> } | undefined;
  readonly #closing = new AbortController();
  #told: { tell: (taken: string) => void; signal: AbortSignal } | undefined;
  readonly #caughtUp = onceForAll(() => this.#catchUp());
  protected trouble: string | undefined;
  /** Why what the index has may be out of date. */
  #unheard: BmadError | undefined;
  /** The index that has last taken in points. */
  #shared: unknown;

  constructor(log: Log, index: MemoryIndex, options: StoreOptions, more: FollowedMore = {}) {
    this.log = log;
    this.#index = index;
    this.options = options;
    this.more = more;
    this.#maker = more.maker;
  }

  /**
   * Asks the index with all lines there are. One that turns out to be damaged, or was made again meanwhile, is asked again
   * when it has the lines; where that is no use, the memory of this process takes its place.
   */
  protected async ask<T>(work: (index: MemoryIndex) => Promise<T>, needs: Needs = 'some'): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#fresh(needs);
        const { made } = this.#index;
        const answer = await work(this.#index);
        if (made === this.#index.made || tries > TRIES) return answer;
      } catch (error) {
        if (!(error instanceof BmadError) || error.reason !== 'index') throw error;
        if (tries >= TRIES) this.#doWithout(error);
      }
    }
  }

  #doWithout(error: BmadError): void {
    // Another call may have found out first: the failure is that of the index before.
    if (this.trouble !== undefined) return;
    const { instead } = this.more;
    if (instead === undefined) throw error;
    this.trouble = t`${error.line} Until then, this process keeps an index in its memory.`;
    this.#index.close?.();
    this.#index = instead();
    this.#maker = undefined;
  }

  /** Takes in what is new; for one who only reads, while many are taken in, those that there are so far are enough. */
  async #fresh(needs: Needs): Promise<void> {
    if (this.#making === undefined) await this.#caughtUp();
    if (needs === 'all' && this.#unheard !== undefined) throw this.#unheard;
    if (needs === 'some' || this.#making === undefined) return;
    await this.#making.done;
    await this.#fresh(needs);
  }

  /** What is being made at the moment, so that answers lack something; a fact for people. */
  making(): string | undefined {
    return this.#making && makingNote(this.#making.taken);
  }

  /** Waits for what is being made, and says how far it is. */
  async whole(tell?: (note: string) => void): Promise<void> {
    await this.ask(() => Promise.resolve());
    if (this.#making === undefined) return;
    if (tell !== undefined) this.#making.heard.add(tell);
    await this.ask(() => Promise.resolve(), 'all');
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
    await this.ask(() => Promise.resolve());
  }

  async #catchUp(): Promise<void> {
    const before = await this.#index.mark();
    const isMore = before.mark.size === 0 || (await this.#isMore(before.mark));
    if (isMore && this.#maker !== undefined && (await this.log.ahead(before.mark)) > BYTES_AT_ONCE) {
      this.#make(this.#maker);
      return;
    }
    if (isMore) await this.#untilTaken(({ taken, mark }) => this.#takeAll(taken, mark));
    if (this.more.shared !== undefined) await this.#share(this.more.shared);
  }

  /** Another process may have taken something in meanwhile, so that the mark is another one. */
  async #untilTaken(take: (at: { taken: string; mark: Mark }) => Promise<boolean>): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) if (await take(await this.#index.mark())) return;
    throw new BmadError('unavailable', t`Other processes keep writing memories of this project.`, {
      hint: t`Try again in a moment.`,
    });
  }

  /** Where the lines are out of reach, the index has what was known last; who writes has to know more. */
  async #isMore(mark: Mark): Promise<boolean> {
    try {
      const isMore = await this.log.changed(mark);
      this.#unheard = undefined;
      return isMore;
    } catch (error) {
      if (!isUnheard(error)) throw error;
      this.#unheard = error;
      return false;
    }
  }

  /** False where another process has taken lines in meanwhile, so that the mark is another one. */
  async #takeAll(first: string, mark: Mark): Promise<boolean> {
    const covered = new Map<string, ReadonlySet<string>>();
    let taken = first;
    let events = 0;
    for await (const page of this.log.read(mark)) {
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
    if (covered.size === 0 || this.more.writes === false) return true;
    // Whoever meets what was removed for good removes it too, and where that cannot be done, does not show it.
    return !(await this.log.erase(covered).catch(ours(() => false)));
  }

  /**
   * Takes in what others have put on the server, then tells it what lines have made of memories since it was last told: lines of
   * others, and of this machine while the server was out of reach. The index knows what that is, so that nothing is lost with
   * a process.
   */
  async #share(shared: SharedPlace): Promise<void> {
    const of = this.#index.made ?? this.#index;
    await shared.news(this.#shared !== of, () => this.#index.points(), this.#takePoints);
    this.#shared = of;
    if (this.more.writes === false) return;
    const { upTo, keys } = await this.#index.touched();
    await this.#tell(shared, keys, isOwed);
    await this.#index.settle(upTo);
  }

  async #tell(
    shared: SharedPlace,
    keys: readonly MemoryKey[],
    isMeant: (heard: readonly Heard[]) => boolean,
  ): Promise<void> {
    for (let from = 0; from < keys.length; from += SHARED_AT_ONCE) {
      const some = keys.slice(from, from + SHARED_AT_ONCE);
      const heard = await this.#index.heard(some);
      const said = some.map((key, at) => ({ key, own: heard[at] ?? [] })).filter(({ own }) => isMeant(own));
      const vectors = await this.#index.vectors(said.map(({ key }) => key));
      const told = said.map(({ key, own }, at) => ({ key, events: saidIn(own), vector: vectors[at] }));
      await shared.tell(told, this.#takePoints);
    }
  }

  /** Points are lines that are in no file; vectors come with some of them. */
  readonly #takePoints = async ({ vectors, ...page }: PointPage): Promise<void> => {
    await this.#untilTaken(async ({ taken }) => {
      const found = await this.#index.take(taken, page);
      if (found === undefined) return false;
      if (found.covered.size > 0 && this.more.writes !== false) await this.log.erase(found.covered);
      return true;
    });
    const { dim } = this.options.space ?? {};
    const fitting = vectors.filter(({ vector }) => vector.length === dim);
    if (fitting.length > 0) await this.#index.writeVectors(fitting);
  };

  protected async writeVectors(vectors: readonly VectorFor[], needs: Needs = 'some'): Promise<number> {
    const { shared, writes } = this.more;
    // Also without any: what was written is taken in, and a server told of it, before the caller goes on.
    return this.ask(async (index) => {
      if (vectors.length === 0) return 0;
      const taken = await index.writeVectors(vectors);
      if (shared !== undefined && writes !== false)
        await this.#tell(
          shared,
          vectors.map(({ key }) => key),
          isInLines,
        );
      return taken;
    }, needs);
  }

  /** Gives back what it holds as soon as no one uses it; it can still be used. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#making?.done;
    this.#index.close?.();
  }
}

const makingNote = (taken: string): string =>
  t`The index of memories is being made from the lines, ${taken} so far: what is not in it yet is not found.`;
