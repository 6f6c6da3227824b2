import { t } from '../../base/text/message.ts';
import { setImmediate } from 'node:timers/promises';
import { push } from '../../base/values.ts';
import { happenedIn, type Page as LinePage } from '../../lines/line.ts';
import { dot } from '../../meaning/vectors.ts';
import type { MemoryEntry, MemoryKey } from '../../model/memory.ts';
import {
  coveredBy,
  eventsIn,
  type Heard,
  type IndexFilter,
  isLiving,
  isPoint,
  type MemoryQuery,
  type Page,
  type StoreHealth,
  type StoreOptions,
  type VectorFor,
} from './engine.ts';
import type { MemoryIndex, Taken } from './followed.ts';
import { entityOf, keyOfEntity, memoryOf } from './fold.ts';
import { listed, passes, readyFilter, searchedAmong, tally, termsOf } from './rank.ts';

/** Entries whose words are looked at before others get their turn. */
const WORDS_AT_ONCE = 200;

interface Kept {
  entry: MemoryEntry;
  /** Of the embedder in use. */
  vector: Float32Array | undefined;
  /** Nothing until somebody searches. */
  terms: readonly string[] | undefined;
}

/** The same in the memory of this process, made anew with each: for places where nothing better runs. */
export class IndexInMemory implements MemoryIndex {
  readonly #options: StoreOptions;
  readonly #mark = new Map<string, string>();
  /** What was said about each memory, by file. */
  readonly #heard = new Map<string, Heard[]>();
  readonly #kept = new Map<string, Kept>();
  readonly #points = new Map<string, string>();
  /** What was touched last, for a server. */
  #touched = new Set<string>();
  #taken = 0;
  #rev = 0;

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  async mark() {
    return { taken: String(this.#taken), mark: this.#mark };
  }

  async take(taken: string, { lines, gone, marks }: LinePage): Promise<Taken | undefined> {
    if (taken !== String(this.#taken)) return undefined;
    const touched = new Set<string>();
    if (gone.length > 0)
      for (const [of, heard] of this.#heard) {
        const left = heard.filter(({ file }) => !gone.includes(file));
        if (left.length === heard.length) continue;
        touched.add(of);
        this.#heard.set(of, left);
      }
    for (const { line, file } of lines)
      for (const event of happenedIn(line)) {
        if (keyOfEntity(event.of) === undefined) continue;
        touched.add(event.of);
        push(this.#heard, event.of, { file, event });
      }
    const covered = new Map<string, Set<string>>();
    for (const of of touched) {
      const key = keyOfEntity(of);
      if (key === undefined) continue;
      const events = eventsIn(this.#heard.get(of) ?? []);
      this.#put(of, memoryOf(key, this.#options.project, events)?.entry);
      const ids = coveredBy(events);
      if (ids.length > 0) covered.set(of, new Set(ids));
    }
    for (const [name, value] of marks) {
      const mark = isPoint(name) ? this.#points : this.#mark;
      if (value === undefined) mark.delete(name);
      else mark.set(name, value);
    }
    this.#taken++;
    return { taken: String(this.#taken), covered };
  }

  async points() {
    return this.#points;
  }

  async heard(keys: readonly MemoryKey[]) {
    return keys.map((key) => this.#heard.get(entityOf(key)) ?? []);
  }

  async vectors(keys: readonly MemoryKey[]) {
    return keys.map((key) => this.#kept.get(entityOf(key))?.vector);
  }

  async touched() {
    return { upTo: '', keys: [...this.#touched].flatMap((of) => keyOfEntity(of) ?? []) };
  }

  async settle(): Promise<void> {
    this.#touched = new Set();
  }

  #put(of: string, entry: MemoryEntry | undefined): void {
    const before = this.#kept.get(of);
    this.#rev++;
    this.#touched.add(of);
    if (entry === undefined) this.#kept.delete(of);
    else {
      const vector = before?.entry.text === entry.text ? before.vector : undefined;
      this.#kept.set(of, { entry, vector, terms: undefined });
    }
  }

  async list(filter: IndexFilter, page: Page) {
    return listed(this.#passing(filter), page);
  }

  async count(filter: IndexFilter): Promise<number> {
    return this.#passing(filter).length;
  }

  #passing(filter: IndexFilter): MemoryEntry[] {
    const ready = readyFilter(filter);
    return [...this.#kept.values()].flatMap(({ entry, vector }) =>
      passes(entry, ready) && (filter.unembedded !== true || vector === undefined) ? [entry] : [],
    );
  }

  async stats() {
    return tally(Array.from(this.#kept.values(), ({ entry }) => entry));
  }

  async search(query: MemoryQuery) {
    const { vector } = query;
    await this.#readWords();
    const all = Array.from(this.#kept.values(), ({ entry, terms = [], vector: own }) => {
      const cosine = vector === undefined || own === undefined ? undefined : dot(vector, own);
      return { entry, terms, cosine };
    });
    const ready = readyFilter(query.filter);
    const passing = all.filter(({ entry }) => passes(entry, ready));
    return searchedAmong(query, all, passing);
  }

  /** Most runs never search. */
  async #readWords(): Promise<void> {
    let count = 0;
    for (const kept of this.#kept.values()) {
      if (kept.terms !== undefined) continue;
      kept.terms = termsOf(this.#options.analyser, kept.entry);
      if (++count % WORDS_AT_ONCE === 0) await setImmediate();
    }
  }

  async changed(): Promise<MemoryKey[]> {
    const all = Array.from(this.#kept.values(), ({ entry }) => entry);
    return all.filter((entry) => !isLiving(entry) || entry.revision > 1);
  }

  async writeVectors(vectors: readonly VectorFor[]): Promise<number> {
    let taken = 0;
    for (const { key, text, vector } of vectors) {
      const kept = this.#kept.get(entityOf(key));
      if (kept?.entry.text !== text) continue;
      kept.vector = vector;
      taken++;
    }
    this.#rev += taken;
    return taken;
  }

  async stamp(): Promise<string> {
    return String(this.#rev);
  }

  async health(): Promise<StoreHealth> {
    return {
      engine: 'memory',
      place: t`the memory of this process`,
      details: {},
      degraded: false,
      notes: [],
    };
  }
}
