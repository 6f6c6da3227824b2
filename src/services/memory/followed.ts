import { t } from '../../base/text/message.ts';
import { BmadError, ours } from '../../base/errors.ts';
import type { Log, Mark, Page as LinePage } from '../../lines/line.ts';
import type { MemoryHit, MemoryKey } from '../../model/memory.ts';
import {
  IndexFailure,
  keyText,
  type MemoryIndex,
  type MemoryQuery,
  type Stored,
  type StoreOptions,
} from './engine.ts';

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

/** An index of what lines say: made from nothing else, and made again from them at any time. */
export interface LineIndex extends MemoryIndex {
  /** How far it has taken lines in, and the number of the last taking. */
  mark(): Promise<{ taken: string; mark: Mark }>;
  /** Takes a page in; answers with nothing where another process was faster, and the mark has moved. */
  take(taken: string, page: LinePage): Promise<Taken | undefined>;
  heads(keys: readonly MemoryKey[]): Promise<Heads[]>;
  /** The memories that have changed since a server was last told of changes, and the number to settle it with. */
  owed(server: string): Promise<{ rev: string; keys: MemoryKey[] }>;
  settle(server: string, rev: string): Promise<void>;
  /** Something else where it was made again meanwhile: what was read in between may be of an index without lines. */
  readonly made?: string | undefined;
}

/** An index on a server that others use too: it answers in place of the one here, and is told of each change. */
export interface SharedIndex extends MemoryIndex {
  /** What it is known by, without its key. */
  readonly at: string;
  /** A search and all that was changed, in as few requests as one. */
  searchWithChanged(query: MemoryQuery): Promise<{ hits: MemoryHit[]; changed: Stored[] }>;
  /** Brings it to what lines say. What others have done to a memory there holds, unless the lines follow from that. */
  tell(said: readonly Told[]): Promise<void>;
  /** Removes for good. */
  remove(keys: readonly MemoryKey[]): Promise<void>;
}

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

export interface FollowedMore {
  /** What takes the place of an index that cannot be used. */
  instead?: (() => LineIndex) | undefined;
  maker?: Maker | undefined;
  /** A server that others use too: it answers, and is told of each change. */
  shared?: SharedIndex | undefined;
  /** No for one who only reads: no line is written then, none is removed, and nobody is told. */
  writes?: boolean | undefined;
  /** The folder that lines are written to. */
  folder?: string | undefined;
}

/** What is under a key, and what lines say last about it. */
export interface Seen extends Heads {
  key: MemoryKey;
  stored: Stored | undefined;
}

/** One who writes has to know all that was said about what is written. */
type Needs = 'all' | 'some';

/** An index that follows the lines: an answer includes every line that was written before the question. */
export class FollowedIndex {
  protected readonly log: Log;
  protected readonly options: StoreOptions;
  protected readonly more: FollowedMore;
  #index: LineIndex;
  #maker: Maker | undefined;
  #making: { done: Promise<void>; taken: string; heard: Set<(note: string) => void> } | undefined;
  readonly #closing = new AbortController();
  #told: { tell: (taken: string) => void; signal: AbortSignal } | undefined;
  #catching: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  /** Why the index that was asked for is not in use. */
  protected trouble: string | undefined;
  /** What this process itself has changed and a server may not have heard, which holds whatever the server has. */
  protected readonly own = new Set<string>();

  constructor(log: Log, index: LineIndex, options: StoreOptions, more: FollowedMore = {}) {
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
        const answer = await work(this.more.shared ?? this.#index);
        if (made === this.#index.made || tries > TRIES) return answer;
      } catch (error) {
        if (!(error instanceof IndexFailure)) throw error;
        if (tries >= TRIES) this.#doWithout(error);
      }
    }
  }

  #doWithout(error: IndexFailure): void {
    // Another call may have found out first: the failure is that of the index before.
    if (this.trouble !== undefined) return;
    const { instead } = this.more;
    if (instead === undefined) throw error;
    this.trouble = t`${error.line} Until then, this process keeps an index in its memory.`;
    this.#index.leave?.();
    this.#index = instead();
    this.#maker = undefined;
  }

  /** Takes in what is new; for one who only reads, while many are taken in, those that there are so far are enough. */
  async #fresh(needs: Needs): Promise<void> {
    // One that is under way may have looked already; the next one serves all who ask meanwhile.
    if (this.#making === undefined) await (this.#next ??= this.#afterThat());
    if (needs === 'some' || this.#making === undefined) return;
    await this.#making.done;
    await this.#fresh(needs);
  }

  /** What is under these keys, and what lines say last about them. */
  protected seen(keys: readonly MemoryKey[]): Promise<Seen[]> {
    return this.ask((index) => this.#seen(index, keys), 'all');
  }

  /** What lines say about some memories, whatever a server has of them, and which of these lines nothing follows. */
  known(keys: readonly MemoryKey[]): Promise<Seen[]> {
    return this.ask(() => this.#seen(this.#index, keys), 'all');
  }

  async #seen(index: MemoryIndex, keys: readonly MemoryKey[]): Promise<Seen[]> {
    const stored = await index.stored(keys);
    const heads = await this.#index.heads(keys);
    return keys.map((key, at) => ({ key, stored: stored[at], ...(heads[at] as Heads) }));
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
    const isMore = before.mark.size === 0 || (await this.log.changed(before.mark));
    if (isMore && this.#maker !== undefined && (await this.log.ahead(before.mark)) > BYTES_AT_ONCE) {
      this.#make(this.#maker);
      return;
    }
    if (isMore)
      for (let round = 0, { taken, mark } = before; ; { taken, mark } = await this.#index.mark()) {
        if (round++ === ROUNDS) throw contended();
        if (await this.#takeAll(taken, mark)) break;
      }
    const { shared, writes = true } = this.more;
    if (shared !== undefined && writes) await this.#share(shared);
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
   * Tells the server what lines have made of memories since it was last told: lines of others, and of this machine while the
   * server was out of reach. The index knows what that is, so that nothing is lost with a process.
   */
  async #share(shared: SharedIndex): Promise<void> {
    const { rev, keys } = await this.#index.owed(shared.at);
    for (let from = 0; from < keys.length; from += SHARED_AT_ONCE) {
      const seen = await this.#seen(this.#index, keys.slice(from, from + SHARED_AT_ONCE));
      await shared.tell(
        seen.flatMap(({ key, stored, heads, known }) =>
          stored === undefined ? [] : [{ ...stored, heads, known, isOwn: this.own.has(keyText(key)) }],
        ),
      );
      await shared.remove(seen.filter(({ stored }) => stored === undefined).map(({ key }) => key));
    }
    if (keys.length > 0) await this.#index.settle(shared.at, rev);
    this.own.clear();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#making?.done;
    this.#index.close?.();
  }

  /** Gives back what it holds as soon as no one uses it; it can still be used. */
  leave(): void {
    this.#index.leave?.();
  }
}

const makingNote = (taken: string): string =>
  t`The index of memories is being made from the lines, ${taken} so far: what is not in it yet is not found.`;

const contended = (): BmadError =>
  new BmadError('unavailable', t`Other processes keep writing memories of this project.`, {
    hint: t`Try again in a moment.`,
  });
