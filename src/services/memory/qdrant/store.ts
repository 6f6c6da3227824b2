import { t } from '../../../base/text/message.ts';
import { once } from '../../../base/async.ts';
import { BmadError } from '../../../base/errors.ts';
import type { MemoryFilter, MemoryKey } from '../../../model/memory.ts';
import type {
  Answer,
  MemoryQuery,
  MemoryStats,
  Page,
  Stored,
  StoreHealth,
  StoreOptions,
  VectorFor,
  VectorSpace,
  Told,
} from '../engine.ts';
import { SharedIndex } from '../store.ts';
import {
  type ReadyFilter,
  byPosition,
  keyText,
  noneOfEachType,
  pageOf,
  positionOf,
  readyFilter,
  sortedCounts,
  spaceText,
  unit,
} from '../rank.ts';
import { type Operation, type Points, type QdrantAddress, QdrantClient, QdrantRefusal } from './client.ts';
import {
  infoOf,
  openShelves,
  promote,
  reanalysed,
  SCHEMA,
  type Shelf,
  spaceIn,
  wordsOnly,
} from './collections.ts';
import { randomUUID } from 'node:crypto';
import type { Analyser } from '../../../meaning/analyse.ts';
import {
  anyOf,
  type Condition,
  conditions,
  empty,
  equal,
  payloadOf,
  type RawPayload,
  storedOf,
} from './payload.ts';
import { firstOf, searched } from './search.ts';

/** Memories on a Qdrant server or cluster, in the collections of BMAD's own tools. */
export class QdrantIndex extends SharedIndex {
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

  async tell(said: readonly Told[]): Promise<void> {
    await this.#onShelves(async (shelves) => {
      await Promise.all(
        shelves.map((shelf) =>
          told(
            shelf,
            said.filter(({ entry }) => entry.type === shelf.type),
            this.options.analyser,
          ),
        ),
      );
    });
  }

  async remove(keys: readonly MemoryKey[]): Promise<void> {
    await this.#onShelves(async (shelves) => {
      for (const { type, points, others } of shelves) {
        const has_id = keys.filter((key) => key.type === type).map(({ id }) => id);
        if (has_id.length > 0)
          for (const each of [points, ...others])
            await each.write([{ delete: { filter: { must: [{ has_id }] } } }]);
      }
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
        health.notes.push(t`Vectors are being recomputed for ${waiting.map(({ type }) => type).join(', ')}.`);
    } catch (error) {
      health.notes.push(
        error instanceof BmadError ? error.text : t`Qdrant at ${this.#client.place} is not ready.`,
      );
    }
    if (this.#client.keyInTheOpen)
      health.notes.push(t`The Qdrant key is sent unencrypted; use an https address.`);
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
        t`Qdrant at ${this.#client.place} refused a request (${error.status}).`,
        {
          subject: this.#client.place,
          hint: t`That server’s log has the reason. Qdrant 1.16 or later is required.`,
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

/** How often a memory is written again because another process has written it at the same time. */
const ROUNDS = 8;

/**
 * Brings the memories of one shelf to what lines say. Qdrant has no transactions: each write is made only if the memory is still as
 * it was read, and looked at afterwards; one that another process has written meanwhile is judged again.
 */
async function told(shelf: Shelf, said: readonly Told[], analyser: Analyser): Promise<void> {
  const { points, others } = shelf;
  let open = said;
  for (let round = 0; open.length > 0; round++) {
    if (round === ROUNDS) throw contended(shelf);
    const ids = open.map(({ entry }) => entry.id);
    const there = new Map((await points.retrieve(ids)).map(({ id, payload }) => [id, payload]));
    open = open.filter((each) => isBehind(there.get(each.entry.id), each));
    const plans = open.map((each) => {
      const { id } = each.entry;
      const changeId = randomUUID();
      const before = there.get(id);
      const payload = { ...payloadOf(each, analyser, changeId), lines: [changeId, ...each.heads] };
      return { id, before, changeId, payload, isSame: before?.text === each.entry.text };
    });
    await points.write(plans.map(asOperation));
    const after = await points.retrieve(
      plans.map(({ id }) => id),
      ['change_id'],
    );
    const written = new Map(after.map(({ id, payload }) => [id, payload.change_id]));
    const won = plans.filter(({ id, changeId }) => written.get(id) === changeId);
    const copies = won.map(({ id, payload, isSame }) => wordsOnly(id, payload, isSame));
    await Promise.all(others.map(async (other) => other.write(copies)));
    open = open.filter((_, at) => !won.includes(plans[at] as (typeof plans)[number]));
  }
}

interface Planned {
  id: string;
  before: RawPayload | undefined;
  payload: object;
  isSame: boolean;
}

function asOperation({ id, before, payload, isSame }: Planned): Operation {
  const known = before?.change_id;
  const unchanged: Condition =
    typeof known === 'string' || before === undefined
      ? anyOf('change_id', [typeof known === 'string' ? known : 'none'])
      : empty('change_id');
  return isSame
    ? { set_payload: { payload: { ...payload }, filter: { must: [{ has_id: [id] }, unchanged] } } }
    : {
        upsert: {
          points: [{ id, vector: {}, payload: { ...payload, embedder: null } }],
          update_filter: { must: [unchanged] },
        },
      };
}

/** Whether a server has not heard of what lines say. */
function isBehind(there: RawPayload | undefined, { entry, heads, known, isOwn }: Told): boolean {
  if (there === undefined) return true;
  const [change, ...lines] = Array.isArray(there.lines) ? (there.lines as string[]) : [];
  const isOfLines = lines.length > 0 && change === there.change_id;
  if (isOfLines && lines.join() === heads.join()) return false;
  if (isOwn || (isOfLines && lines.every((id) => known.includes(id)))) return true;
  const other = storedOf(entry.id, entry.type, there).entry;
  if (other.updatedAt !== entry.updatedAt) return other.updatedAt < entry.updatedAt;
  const isNew = (mark: 'forgottenAt' | 'supersededAt'): boolean =>
    entry[mark] !== undefined && other[mark] === undefined;
  return isNew('forgottenAt') || isNew('supersededAt');
}

/** Vectors for texts that are still at the revision that was embedded: the mark is set only then. */
async function vectorsSet(shelf: Shelf, vectors: readonly VectorFor[], space: string): Promise<number> {
  const known = await shelf.points.retrieve(
    vectors.map(({ key }) => key.id),
    ['revision'],
  );
  const revisions = new Map(known.map(({ id, payload }) => [id, payload.revision ?? 1]));
  const current = vectors.filter(({ key, revision }) => revisions.get(key.id) === revision);
  await shelf.points.write(
    current.flatMap(({ key: { id }, revision, vector }): Operation[] => {
      const same: Condition =
        revision === 1 ? { should: [equal('revision', 1), empty('revision')] } : equal('revision', revision);
      const now = { change_id: randomUUID(), changed_at: new Date().toISOString() };
      return [
        { update_vectors: { points: [{ id, vector: [...vector] }] } },
        { set_payload: { payload: { embedder: space, ...now }, filter: { must: [{ has_id: [id] }, same] } } },
      ];
    }),
  );
  return current.length;
}

function contended(shelf: Shelf): BmadError {
  return new BmadError('unavailable', t`Other processes keep changing the same memories in ${shelf.type}.`, {
    hint: t`Try again in a moment.`,
  });
}
