import type { MemoryEntry, MemoryFilter, MemoryHit, MemoryKey, MemoryType } from '../../model/memory.ts';
import type { Decide, Stored } from './change.ts';
import { MemoryStore } from './engine.ts';
import { byPosition, pageOf } from './select.ts';
import type {
  EmbeddingProgress,
  MemoryPage,
  MemoryQuery,
  MemoryStats,
  Page,
  StoreHealth,
  StoreOptions,
  VectorFor,
  VectorSpace,
} from './store.ts';

/**
 * The store that new memories go into and the one of the other place, with the user or in the project, as one. A memory
 * stays where it is, and is changed there. Both have one only where a move was cut short; the first then speaks for it.
 */
export class TwoStores extends MemoryStore {
  readonly #own: MemoryStore;
  readonly #other: MemoryStore;

  constructor(own: MemoryStore, other: MemoryStore, options: StoreOptions) {
    super(options);
    this.#own = own;
    this.#other = other;
  }

  async change<T>(keys: readonly MemoryKey[], decide: Decide<T>): Promise<T[]> {
    const there = await Promise.all(keys.map((key) => this.#isOther(key)));
    const answers = new Map<number, T>();
    for (const store of [this.#own, this.#other]) {
      const indexes = [...keys.keys()].filter((index) => there[index] === (store === this.#other));
      if (indexes.length === 0) continue;
      const made = await store.change(
        indexes.map((index) => keys[index] as MemoryKey),
        (current, at) => decide(current, indexes[at] as number),
      );
      for (const [at, index] of indexes.entries()) answers.set(index, made[at] as T);
    }
    return [...keys.keys()].map((index) => answers.get(index) as T);
  }

  async stored(key: MemoryKey): Promise<Stored | undefined> {
    return (await this.#own.stored(key)) ?? this.#other.stored(key);
  }

  async found(query: MemoryQuery): Promise<MemoryHit[]> {
    const [own, other] = await Promise.all([this.#own.found(query), this.#other.found(query)]);
    const hits = [...own, ...(await this.#onlyOther(other, ({ entry }) => entry))];
    return hits.sort((a, b) => b.score - a.score || byPosition(a.entry, b.entry)).slice(0, query.limit);
  }

  async list(filter: MemoryFilter, page: Page): Promise<MemoryPage> {
    return this.#page(page, (store) => store.list(filter, page));
  }

  async waiting(space: VectorSpace, page: Page): Promise<MemoryPage> {
    return this.#page(page, (store) => store.waiting(space, page));
  }

  async writeVectors(space: VectorSpace, vectors: readonly VectorFor[]): Promise<number> {
    const there = await Promise.all(vectors.map(({ key }) => this.#isOther(key)));
    const [own, other] = [false, true].map((wanted) => vectors.filter((_, index) => there[index] === wanted));
    return (
      (await this.#own.writeVectors(space, own ?? [])) + (await this.#other.writeVectors(space, other ?? []))
    );
  }

  async count(filter: MemoryFilter): Promise<number> {
    return (await this.#own.count(filter)) + (await this.#other.count(filter));
  }

  async stats(): Promise<MemoryStats> {
    const [own, other] = await Promise.all([this.#own.stats(), this.#other.stats()]);
    const sums = <K extends string>(one: Record<K, number>, two: Record<K, number>): Record<K, number> => {
      const sum = { ...one };
      for (const [name, count] of Object.entries<number>(two)) sum[name as K] = (sum[name as K] ?? 0) + count;
      return sum;
    };
    const [oldest] = [own.oldest, other.oldest].filter((at) => at !== undefined).sort();
    return {
      total: own.total + other.total,
      live: own.live + other.live,
      superseded: own.superseded + other.superseded,
      forgotten: own.forgotten + other.forgotten,
      byType: sums<MemoryType>(own.byType, other.byType),
      byAgent: sums(own.byAgent, other.byAgent),
      spaces: [...own.spaces, ...other.spaces].sort((a, b) => b.count - a.count),
      oldest,
      newest: [own.newest, other.newest]
        .filter((at) => at !== undefined)
        .sort()
        .at(-1),
    };
  }

  async purge(keys: readonly MemoryKey[]): Promise<MemoryEntry[]> {
    return [...(await this.#own.purge(keys)), ...(await this.#other.purge(keys))];
  }

  async reworded(): Promise<Stored[]> {
    return [...(await this.#own.reworded()), ...(await this.#other.reworded())];
  }

  async embedding(): Promise<EmbeddingProgress> {
    const [own, other] = [await this.#own.embedding(), await this.#other.embedding()];
    return { ...own, total: own.total + other.total, embedded: own.embedded + other.embedded };
  }

  async stamp(): Promise<string> {
    return `${await this.#own.stamp()} ${await this.#other.stamp()}`;
  }

  override async hasGone(): Promise<boolean> {
    return (await this.#own.hasGone()) || this.#other.hasGone();
  }

  async health(): Promise<StoreHealth> {
    return this.#own.health();
  }

  async close(): Promise<void> {
    await Promise.all([this.#own.close(), this.#other.close()]);
  }

  override leave(): void {
    this.#own.leave();
    this.#other.leave();
  }

  override async held(): Promise<MemoryStore | undefined> {
    return this.#own.held();
  }

  override async prepare(pause: () => Promise<void>): Promise<void> {
    await this.#own.prepare(pause);
  }

  override async handOn(): Promise<void> {
    await this.#own.handOn();
  }

  override async isAtHome(key: MemoryKey): Promise<boolean> {
    return !(await this.#isOther(key));
  }

  async #isOther(key: MemoryKey): Promise<boolean> {
    return (await this.#own.stored(key)) === undefined && (await this.#other.stored(key)) !== undefined;
  }

  async #page(page: Page, read: (store: MemoryStore) => Promise<MemoryPage>): Promise<MemoryPage> {
    const [own, other] = await Promise.all([read(this.#own), read(this.#other)]);
    const rest = await this.#onlyOther(other.entries, (entry) => entry);
    const sorted = [...own.entries, ...rest].sort(byPosition);
    const ends = [own, other].flatMap(({ entries, next }) => (next === undefined ? [] : entries.slice(-1)));
    if (ends.length === 0) return pageOf(sorted, page.limit);
    // Beyond the end of a page that goes on, what its store has there is not known yet.
    const sure = sorted.filter((entry) => ends.every((end) => byPosition(entry, end) <= 0));
    const [last] = ends.sort(byPosition);
    return pageOf([...sure, ...(last === undefined ? [] : [last])], Math.min(page.limit, sure.length));
  }

  async #onlyOther<T>(found: readonly T[], keyOf: (each: T) => MemoryKey): Promise<T[]> {
    const known = await Promise.all(found.map(async (each) => this.#own.stored(keyOf(each))));
    return found.filter((_, index) => known[index] === undefined);
  }
}
