import { dirname } from 'node:path';
import { replaceLog } from '../../../base/files/file-log.ts';
import { withLock } from '../../../base/files/file-lock.ts';
import { ensureFolder, isWritable } from '../../../base/files/file-state.ts';
import type { MemoryEntry, MemoryFilter, MemoryKey } from '../../../model/memory.ts';
import { jailOf } from '../../../kit/kit-lock.ts';
import type { Decide, Stored } from '../change.ts';
import { MemoryStore } from '../engine.ts';
import { readOnlyFolder } from '../place.ts';
import { dot, ranked, spaceOf, spaceText, weighed } from '../rank.ts';
import { isForgotten, keyText, listed, passes, readyFilter } from '../select.ts';
import type { MemoryQuery, Page, StoreHealth, StoreOptions, VectorFor, VectorSpace } from '../store.ts';
import { tally } from '../tally.ts';
import { LiveLog } from './live-log.ts';
import { checkedLog, damagedLog, LOG_VERSION, putLine, vectorLine, type LogState } from './state.ts';

export interface JsonlOptions extends StoreOptions {
  file: string;
  /** Why this engine is used and not a better one. */
  reason?: string | undefined;
}

const LOCK_WAIT_MS = 30_000;

/** Memories in a file of lines, with no package and no server: for places where nothing better runs. */
export class JsonlStore extends MemoryStore {
  readonly #file: string;
  readonly #inside: string | undefined;
  readonly #reason: string | undefined;
  readonly #log: LiveLog;
  /** Reads and writes of this process, one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor({ file, reason, ...options }: JsonlOptions) {
    super(options);
    this.#file = file;
    this.#inside = jailOf(dirname(file));
    this.#reason = reason;
    this.#log = new LiveLog(file, options.analyser, this.#inside);
  }

  async list(filter: MemoryFilter, page: Page) {
    return listed(await this.#passing(filter), page);
  }

  async count(filter: MemoryFilter): Promise<number> {
    return (await this.#passing(filter)).length;
  }

  async #passing(filter: MemoryFilter): Promise<MemoryEntry[]> {
    const ready = readyFilter(filter);
    return [...(await this.#fresh()).entries()].filter((entry) => passes(entry, ready));
  }

  async stats() {
    const state = await this.#fresh();
    const spaces = new Map<string, number>();
    for (const { vectors } of state.kept.values())
      for (const space of vectors.keys()) spaces.set(space, (spaces.get(space) ?? 0) + 1);
    const found = [...spaces].flatMap(([text, count]) => {
      const space = spaceOf(text);
      return space === undefined ? [] : [{ ...space, count }];
    });
    return tally(
      state.entries(),
      found.sort((a, b) => b.count - a.count || (a.embedder < b.embedder ? -1 : 1)),
    );
  }

  async found({ terms, ways, vector, filter, limit, minScore }: MemoryQuery) {
    const state = await this.#fresh(true);
    const { space } = this.options;
    const ready = readyFilter(filter);
    const words = weighed(terms, (term) => state.frequency(term), state.kept.size, ways);
    const candidates = [...state.kept].flatMap(([key, { entry, vectors }]) => {
      if (!passes(entry, ready)) return [];
      const own = space === undefined ? undefined : vectors.get(spaceText(space));
      const cosine = vector === undefined || own === undefined ? undefined : dot(vector, own);
      return [{ entry, terms: state.terms(key), cosine }];
    });
    return ranked(words, candidates, { compared: vector !== undefined, limit, minScore });
  }

  async purge(keys: readonly MemoryKey[]): Promise<MemoryEntry[]> {
    return this.#alone(async () => {
      const gone = keys
        .flatMap((key) => this.#log.state.kept.get(keyText(key))?.entry ?? [])
        .filter(isForgotten);
      if (gone.length === 0) return [];
      const { state } = this.#log;
      if (state.damaged > 0) throw damagedLog(this.#file, state.damaged);
      for (const entry of gone) state.drop(keyText(entry));
      await this.#log.replace();
      return gone;
    });
  }

  async reworded(): Promise<Stored[]> {
    const state = await this.#fresh();
    return [...state.kept.values()].filter(({ revisions }) => revisions.length > 0);
  }

  async waiting(space: VectorSpace, page: Page) {
    const state = await this.#fresh();
    const waiting = [...state.kept.values()].filter(
      ({ entry, vectors }) => entry.forgottenAt === undefined && !vectors.has(spaceText(space)),
    );
    return listed(
      waiting.map(({ entry }) => entry),
      page,
    );
  }

  async embedding() {
    const state = await this.#fresh();
    const { space } = this.options;
    const progress = { space, total: 0, embedded: 0 };
    for (const { entry, vectors } of state.kept.values()) {
      if (entry.forgottenAt !== undefined) continue;
      progress.total++;
      if (space !== undefined && vectors.has(spaceText(space))) progress.embedded++;
    }
    return progress;
  }

  async writeVectors(space: VectorSpace, vectors: readonly VectorFor[]): Promise<number> {
    return this.#write((append) => {
      let taken = 0;
      for (const { key, revision, vector } of vectors) {
        const kept = this.#log.state.kept.get(keyText(key));
        if (kept?.entry.revision !== revision) continue;
        append(vectorLine(kept.entry, spaceText(space), vector));
        taken++;
      }
      return taken;
    });
  }

  async stamp(): Promise<string> {
    await this.#fresh();
    return this.#log.stamp;
  }

  async health(): Promise<StoreHealth> {
    const state = await this.#fresh();
    const notes = [
      ...(this.#reason === undefined ? [] : [this.#reason]),
      ...((await isWritable(this.#file))
        ? []
        : [readOnlyFolder(dirname(this.#file)).text.replaceAll('\n\n', ' ')]),
      ...(state.damaged === 0
        ? []
        : [
            state.damaged === 1
              ? `1 of ${state.lines} lines of ${this.#file} cannot be read; it was left unchanged.`
              : `${state.damaged} of ${state.lines} lines of ${this.#file} cannot be read; they were left unchanged.`,
          ]),
      ...(this.#log.unsaved
        ? [
            `${this.#file} was removed or replaced; what this process knows is written again with the next memory.`,
          ]
        : []),
    ];
    return {
      engine: 'jsonl',
      place: this.#file,
      details: { lines: String(state.lines) },
      schema: LOG_VERSION,
      damaged: state.damaged > 0,
      degraded: notes.length > 0,
      notes,
    };
  }

  override file(): string {
    return this.#file;
  }

  override async copyTo(path: string): Promise<void> {
    const state = await this.#fresh();
    if (state.damaged > 0) throw damagedLog(this.#file, state.damaged);
    await replaceLog(path, state.compact());
    await checkedLog(path, this.options.analyser);
  }

  override async held(): Promise<MemoryStore | undefined> {
    await this.#fresh();
    return this.#log.unsaved && this.#log.stamp === 'none' ? this : undefined;
  }

  async close(): Promise<void> {
    await this.#turn.catch(() => undefined);
  }

  async stored(key: MemoryKey): Promise<Stored | undefined> {
    return (await this.#fresh()).kept.get(keyText(key));
  }

  async change<T>(keys: readonly MemoryKey[], decide: Decide<T>): Promise<T[]> {
    const { space } = this.options;
    return this.#write((append) =>
      keys.map((key, index) => {
        const kept = this.#log.state.kept.get(keyText(key));
        const { decision, answer } = decide(kept, index);
        if (decision.next !== undefined) append(putLine({ ...decision, next: decision.next }, space));
        else if (
          decision.vector !== undefined &&
          kept !== undefined &&
          space !== undefined &&
          !kept.vectors.has(spaceText(space))
        )
          append(vectorLine(kept.entry, spaceText(space), decision.vector));
        return answer;
      }),
    );
  }

  /** The state with everything that any process has finished writing. */
  async #fresh(withWords = false): Promise<LogState> {
    return this.#inTurn(async () => {
      await this.#log.read();
      if (withWords) await this.#log.state.readWords();
      return this.#log.state;
    });
  }

  /** Decides on the newest state while no other process writes, then appends all lines at once. */
  async #write<T>(decide: (append: (line: string) => void) => T): Promise<T> {
    return this.#alone(() => this.#log.append(decide));
  }

  /** Works on the newest state while no other process writes. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      await ensureFolder(dirname(this.#file), this.#inside);
      const options = { waitMs: LOCK_WAIT_MS, inside: this.#inside };
      return withLock(`${this.#file}.lock`, options, async () => {
        await this.#log.read();
        await this.#log.save();
        return work();
      });
    });
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work, work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }
}
