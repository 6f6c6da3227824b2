import { once } from '../../../base/async.ts';
import { BmadError } from '../../../base/errors.ts';
import type { MemoryEntry, MemoryFilter, MemoryKey } from '../../../model/memory.ts';
import {
  type Answer,
  type Decide,
  type MemoryQuery,
  type MemoryStats,
  MemoryStore,
  type Page,
  type Stored,
  type StoreHealth,
  type StoreOptions,
  type VectorFor,
  type VectorSpace,
} from '../engine.ts';
import { spaceText, unit } from '../rank.ts';
import {
  byPosition,
  keyText,
  noneOfEachType,
  pageOf,
  positionOf,
  readyFilter,
  type ReadyFilter,
  sortedCounts,
} from '../select.ts';
import { type Points, type QdrantAddress, QdrantClient, QdrantRefusal } from './client.ts';
import { infoOf, openShelves, promote, SCHEMA, type Shelf, spaceIn } from './collections.ts';
import { changed, purged, reanalysed, vectorsSet } from './writes.ts';
import { type Condition, conditions, empty, equal, storedOf } from './payload.ts';
import { firstOf, searched } from './search.ts';

/** Memories on a Qdrant server or cluster, in the collections of BMAD's own tools. */
export class QdrantStore extends MemoryStore {
  /** What it is known by, without its key. */
  readonly at: string;
  readonly #client: QdrantClient;
  readonly #shelves: () => Promise<Shelf[]>;

  constructor({ address, ...options }: StoreOptions & { address: QdrantAddress }) {
    super(options);
    this.#client = new QdrantClient(address);
    this.at = `${this.#client.place} ${options.project}`;
    this.#shelves = once(async () => {
      const shelves = await openShelves(this.#client, options);
      await Promise.all(
        shelves.map(async (shelf) => {
          await reanalysed(shelf.points, shelf.type, options.analyser);
          await this.#promote(shelf);
        }),
      );
      return shelves;
    });
  }

  async list(filter: MemoryFilter, page: Page) {
    const ready = readyFilter(filter);
    return this.#page(ready, { must: conditions(ready) }, page);
  }

  async count(filter: MemoryFilter): Promise<number> {
    const ready = readyFilter(filter);
    return this.#total({ must: conditions(ready) }, ready);
  }

  async stats() {
    return this.#onShelves((shelves) => statsOf(this.#client, shelves));
  }

  async found(query: MemoryQuery) {
    return (await this.#search(query, { all: false, files: false })).hits;
  }

  override async answer(query: MemoryQuery, wanted: { all: boolean; files: boolean }): Promise<Answer> {
    const { vector } = query;
    const ready = { ...query, vector: vector === undefined ? undefined : unit(vector, this.options.space) };
    return this.#search(ready, wanted);
  }

  #search(query: MemoryQuery, wanted: { all: boolean; files: boolean }): Promise<Answer> {
    return this.#onShelves(async (shelves) =>
      searched(shelves, query, readyFilter(query.filter), wanted, this.options),
    );
  }

  async purge(keys: readonly MemoryKey[]): Promise<MemoryEntry[]> {
    return this.#onShelves(async (shelves) => {
      const parts = await Promise.all(
        shelves.map(async (shelf) =>
          purged(
            shelf,
            keys.filter(({ type }) => type === shelf.type).map(({ id }) => id),
          ),
        ),
      );
      const gone = new Map(parts.flat().map((entry) => [keyText(entry), entry]));
      return keys.flatMap((key) => gone.get(keyText(key)) ?? []);
    });
  }

  async reworded(): Promise<Stored[]> {
    return this.#onShelves(rewordedIn);
  }

  async waiting(space: VectorSpace, page: Page) {
    const filter = { must: [empty('forgotten_at')], must_not: [equal('embedder', spaceText(space))] };
    return this.#page(readyFilter({}), filter, page);
  }

  async embedding() {
    const { space } = this.options;
    const kept = [empty('forgotten_at')];
    const total = await this.#total({ must: kept });
    const embedded =
      space === undefined ? 0 : await this.#total({ must: [...kept, equal('embedder', spaceText(space))] });
    return { space, total, embedded };
  }

  async writeVectors(space: VectorSpace, vectors: readonly VectorFor[]): Promise<number> {
    return this.#onShelves(async (shelves) => {
      const taken = await Promise.all(
        shelves.map(async (shelf) => {
          const own = vectors.filter(({ key }) => key.type === shelf.type);
          if (own.length === 0) return 0;
          const count = await vectorsSet(shelf, own, spaceText(space));
          await this.#promote(shelf);
          return count;
        }),
      );
      return taken.reduce((sum, count) => sum + count, 0);
    });
  }

  /** The common name moves to our collection when no memory in it waits for a vector. */
  async #promote(shelf: Shelf): Promise<void> {
    const { space } = this.options;
    if (space === undefined || shelf.alias === undefined || shelf.alias.target === shelf.points.name) return;
    const must_not = [equal('embedder', spaceText(space))];
    if ((await shelf.points.count({ must: [empty('forgotten_at')], must_not })) === 0)
      await promote(this.#client, shelf);
  }

  async stamp(): Promise<string> {
    return this.#onShelves(async (shelves) => {
      const parts = shelves.map(async ({ points }) => {
        const [[newest], count] = await Promise.all([
          points.scroll({}, 1, {
            order_by: { key: 'changed_at', direction: 'desc' },
            with_payload: ['changed_at', 'change_id'],
          }),
          points.count({}),
        ]);
        return `${count}:${String(newest?.payload.changed_at)}:${String(newest?.payload.change_id)}`;
      });
      return (await Promise.all(parts)).join(' ');
    });
  }

  async health(): Promise<StoreHealth> {
    const health: StoreHealth = {
      engine: 'qdrant',
      place: this.#client.place,
      details: {},
      schema: SCHEMA,
      degraded: false,
      notes: [],
    };
    try {
      await this.#client.text('GET', ['readyz'], undefined, 1);
      const { version } = JSON.parse(await this.#client.text('GET', [''], undefined, 1)) as {
        version?: string;
      };
      if (version !== undefined) health.details['qdrant'] = version;
      const shelves = await this.#onShelves((opened) => Promise.resolve(opened));
      for (const { type, points } of shelves) health.details[type] = points.name;
      const waiting = shelves.filter(
        ({ alias, points }) => alias !== undefined && alias.target !== points.name,
      );
      if (waiting.length > 0)
        health.notes.push(`Vectors are being recomputed for ${waiting.map(({ type }) => type).join(', ')}.`);
    } catch (error) {
      health.notes.push(
        error instanceof BmadError ? error.text : `Qdrant at ${this.#client.place} is not ready.`,
      );
    }
    if (this.#client.keyInTheOpen)
      health.notes.push('The Qdrant key is sent unencrypted; use an https address.');
    health.degraded = health.notes.length > 0;
    return health;
  }

  async close(): Promise<void> {
    // Connections are the runtime's.
  }

  async stored(keys: readonly MemoryKey[]): Promise<(Stored | undefined)[]> {
    return this.#onShelves(async (shelves) => {
      const found = new Map<string, Stored>();
      const read = async ({ type, points }: Shelf): Promise<void> => {
        const ids = keys.filter((key) => key.type === type).map(({ id }) => id);
        for (const { id, payload } of ids.length === 0 ? [] : await points.retrieve([...new Set(ids)]))
          found.set(keyText({ type, id }), storedOf(id, type, payload));
      };
      await Promise.all(shelves.map(read));
      return keys.map((key) => found.get(keyText(key)));
    });
  }

  async change<T>(keys: readonly MemoryKey[], decide: Decide<T>): Promise<T[]> {
    return this.#onShelves(async (shelves) => {
      const indexed = keys.map((key, index) => ({ key, index }));
      const answers = await Promise.all(
        shelves.map(async (shelf) => {
          const own = indexed.filter(({ key }) => key.type === shelf.type);
          return changed(shelf, own, decide, this.options);
        }),
      );
      const all = new Map(answers.flatMap((part) => [...part]));
      return keys.map((_, index) => all.get(index) as T);
    });
  }

  async #total(filter: { must?: Condition[]; must_not?: Condition[] }, ready?: ReadyFilter): Promise<number> {
    return this.#onShelves(async (shelves) => {
      const own = shelves.filter(({ type }) => ready?.types?.has(type) ?? true);
      const counts = await Promise.all(own.map(async ({ points }) => points.count(filter)));
      return counts.reduce((sum, count) => sum + count, 0);
    });
  }

  async #page(ready: ReadyFilter, filter: { must: Condition[]; must_not?: Condition[] }, page: Page) {
    const from = page.after === undefined ? undefined : positionOf(page.after);
    return this.#onShelves(async (shelves) => {
      const own = shelves.filter(({ type }) => ready.types?.has(type) ?? true);
      const parts = await Promise.all(own.map(async (shelf) => firstOf(shelf, filter, page.limit + 1, from)));
      return pageOf(parts.flat().sort(byPosition), page.limit);
    });
  }

  /** What the server refuses without a reason that we know becomes an error with a way out. */
  async #onShelves<T>(work: (shelves: Shelf[]) => Promise<T>): Promise<T> {
    try {
      return await work(await this.#shelves());
    } catch (error) {
      if (!(error instanceof QdrantRefusal)) throw error;
      throw new BmadError(
        'unavailable',
        `Qdrant at ${this.#client.place} refused a request (${error.status}).`,
        {
          subject: this.#client.place,
          hint: 'That server’s log has the reason. Qdrant 1.16 or later is required.',
          cause: error,
        },
      );
    }
  }
}

const LIVE = { must: [empty('forgotten_at'), empty('superseded_at')] };

async function statsOf(client: QdrantClient, shelves: readonly Shelf[]): Promise<MemoryStats> {
  const parts = await Promise.all(
    shelves.map(async ({ points }) => {
      const [total, live, superseded, forgotten, agents, oldest, newest] = await Promise.all([
        points.count({}),
        points.count(LIVE),
        points.count({ must: [empty('forgotten_at')], must_not: [empty('superseded_at')] }),
        points.count({ must_not: [empty('forgotten_at')] }),
        points.facet('agent', LIVE),
        edge(points, 'created_at', 'asc'),
        edge(points, 'updated_at', 'desc'),
      ]);
      return { total, live, superseded, forgotten, agents, oldest, newest };
    }),
  );
  const sum = (pick: (part: (typeof parts)[number]) => number): number =>
    parts.reduce((total, part) => total + pick(part), 0);
  const byType = noneOfEachType();
  for (const [index, { type }] of shelves.entries()) byType[type] = parts[index]?.live ?? 0;
  const agents = new Map<string, number>();
  for (const { value, count } of parts.flatMap((part) => part.agents))
    agents.set(value, (agents.get(value) ?? 0) + count);
  const times = (pick: 'oldest' | 'newest'): string[] =>
    parts.flatMap((part) => part[pick] ?? []).sort((a, b) => (a < b ? -1 : 1));
  return {
    total: sum(({ total }) => total),
    live: sum(({ live }) => live),
    superseded: sum(({ superseded }) => superseded),
    forgotten: sum(({ forgotten }) => forgotten),
    byType,
    byAgent: sortedCounts(agents),
    spaces: await spacesOf(client, shelves),
    oldest: times('oldest')[0],
    newest: times('newest').at(-1),
  };
}

async function rewordedIn(shelves: readonly Shelf[]): Promise<Stored[]> {
  const found: Stored[] = [];
  for (const { points, type } of shelves)
    for await (const page of points.all({ must: [{ key: 'revision', range: { gt: 1 } }] }, true))
      found.push(...page.map(({ id, payload }) => storedOf(id, type, payload)));
  return found;
}

async function edge(points: Points, key: string, direction: 'asc' | 'desc'): Promise<string | undefined> {
  const [point] = await points.scroll({}, 1, { order_by: { key, direction }, with_payload: [key] });
  const value = point?.payload[key as 'created_at'];
  return typeof value === 'string' ? value : undefined;
}

async function spacesOf(client: QdrantClient, shelves: readonly Shelf[]): Promise<MemoryStats['spaces']> {
  const counts = new Map<string, MemoryStats['spaces'][number]>();
  for (const points of shelves.flatMap((shelf) => [shelf.points, ...shelf.others])) {
    const space = spaceIn(await infoOf(client, points.name));
    if (space === undefined) continue;
    const count = await points.count({ must: [equal('embedder', spaceText(space))] });
    const known = counts.get(spaceText(space));
    counts.set(spaceText(space), { ...space, count: count + (known?.count ?? 0) });
  }
  return [...counts.values()].filter(({ count }) => count > 0).sort((a, b) => b.count - a.count);
}
