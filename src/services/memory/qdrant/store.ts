import type { Schemas } from '@qdrant/js-client-rest';
import { t } from '../../../base/text/message.ts';
import { once } from '../../../base/async.ts';
import { BmadError } from '../../../base/errors.ts';
import type { MemoryEntry, MemoryHit, MemoryKey } from '../../../model/memory.ts';
import { randomUUID } from 'node:crypto';
import type { Analyser } from '../../../meaning/analyse.ts';
import {
  type IndexFilter,
  keyText,
  type MemoryQuery,
  type MemoryStats,
  type Page,
  spaceText,
  type Stored,
  type StoreHealth,
  type StoreOptions,
  type VectorFor,
  type VectorSpace,
} from '../engine.ts';
import type { SharedIndex, Told } from '../followed.ts';
import {
  anyOf,
  CHANGED,
  type Condition,
  conditions,
  empty,
  equal,
  type Filter,
  OLDEST_QDRANT,
  type Operation,
  payloadOf,
  type QdrantAddress,
  QdrantClient,
  QdrantRefusal,
  type RawPayload,
  storedOf,
} from './client.ts';
import { figuresOf, openShelves, promote, reanalysed, type Shelf, wordsOnly } from './collections.ts';
import {
  byPosition,
  candidatesFor,
  pageOf,
  positionOf,
  ranked,
  readyFilter,
  tally,
  termsOf,
  type Candidate,
  type Position,
  weighed,
} from '../rank.ts';

/** Memories on a Qdrant server or cluster, in the collections of BMAD's own tools. */
export class QdrantIndex implements SharedIndex {
  /** What it is known by, without its key. */
  readonly at: string;
  readonly #options: StoreOptions;
  readonly #client: QdrantClient;
  readonly #shelves: () => Promise<Shelf[]>;

  constructor({ address, ...options }: StoreOptions & { address: QdrantAddress }) {
    this.#options = options;
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

  async list(filter: IndexFilter, { limit, after }: Page) {
    const from = after === undefined ? undefined : positionOf(after);
    const parts = await this.#each(filter, (shelf, wanted) => firstOf(shelf, wanted, limit + 1, from));
    return pageOf(parts.flat().sort(byPosition), limit);
  }

  async count(filter: IndexFilter): Promise<number> {
    const counts = await this.#each(filter, ({ points }, wanted) => points.count(wanted));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Does something with each collection that a filter is about. */
  #each<T>(filter: IndexFilter, work: (shelf: Shelf, wanted: Filter) => Promise<T>): Promise<T[]> {
    const { space } = this.#options;
    const ready = readyFilter(filter);
    const isWithout = filter.unembedded === true && space !== undefined;
    const must_not = isWithout ? [equal('embedder', spaceText(space))] : [];
    const wanted = { must: conditions(ready), must_not };
    return this.#onShelves((shelves) =>
      Promise.all(
        shelves.filter(({ type }) => ready.types?.has(type) ?? true).map((shelf) => work(shelf, wanted)),
      ),
    );
  }

  async stats(): Promise<MemoryStats> {
    const groups = await this.#onShelves((shelves) => Promise.all(shelves.map(figuresOf)));
    return tally(groups.flat());
  }

  async changed(): Promise<Stored[]> {
    return this.#onShelves(async (shelves) => {
      const found: Stored[] = [];
      for (const { points, type } of shelves)
        for await (const page of points.all(CHANGED, true))
          found.push(...page.map(({ id, payload }) => storedOf(id, type, payload)));
      return found;
    });
  }

  async search(query: MemoryQuery) {
    return (await this.#onShelves((shelves) => searched(shelves, query, false, this.#options))).hits;
  }

  searchWithChanged(query: MemoryQuery) {
    return this.#onShelves((shelves) => searched(shelves, query, true, this.#options));
  }

  async tell(said: readonly Told[]): Promise<void> {
    await this.#onShelves(async (shelves) => {
      await Promise.all(
        shelves.map((shelf) =>
          told(
            shelf,
            said.filter(({ entry }) => entry.type === shelf.type),
            this.#options.analyser,
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
    const { space } = this.#options;
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
          hint: t`That server’s log has the reason. Qdrant ${OLDEST_QDRANT} or later is required.`,
          cause: error,
        },
      );
    }
  }
}

/**
 * Brings the memories of one shelf to what lines say. Qdrant has no transactions: where two write a memory at once the later one
 * stands, until the other has heard of its line, and tells what both say.
 */
async function told({ points, others }: Shelf, said: readonly Told[], analyser: Analyser): Promise<void> {
  const there = new Map(
    (await points.retrieve(said.map(({ entry }) => entry.id))).map(({ id, payload }) => [id, payload]),
  );
  const writes = said
    .filter((each) => isBehind(there.get(each.entry.id), each))
    .map((each) => {
      const { id, text } = each.entry;
      const changeId = randomUUID();
      const payload = { ...payloadOf(each, analyser, changeId), lines: [changeId, ...each.heads] };
      return wordsOnly(id, payload, there.get(id)?.text === text);
    });
  for (const each of [points, ...others]) await each.write(writes);
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

/** Memories that are looked at because they have any of the words, from each collection. */
const BY_WORDS = 300;
/** And for each word, so that a common one does not hide what a rare one leads to. */
const BY_EACH_WORD = 30;
const WORDS_ASKED = 48;
/** Changed, forgotten and superseded ones, whose copies in files are behind. */
const MOST_CHANGED = 2_000;

const WITHOUT_REVISIONS = { exclude: ['revisions'] };

/** Of a long text the longest words are asked for, which are seldom the common ones. */
function asked(terms: readonly string[]): string[] {
  const each = [...new Set(terms)];
  return each.length <= WORDS_ASKED ? each : each.sort((a, b) => b.length - a.length).slice(0, WORDS_ASKED);
}

/**
 * The best of all collections together, with one request to each. How rare a word is, is taken from what was looked at: to
 * count it in each collection takes a request a word.
 */
async function searched(
  shelves: readonly Shelf[],
  query: MemoryQuery,
  withChanged: boolean,
  options: StoreOptions,
): Promise<{ hits: MemoryHit[]; changed: Stored[] }> {
  const filter = readyFilter(query.filter);
  const terms = asked(query.terms);
  const found = await Promise.all(
    shelves
      .filter(({ type }) => filter.types?.has(type) ?? true)
      .map((shelf) => candidates(shelf, { ...query, terms }, conditions(filter), withChanged, options)),
  );
  const looked = found.flatMap(({ near }) => near);
  const frequency = new Map<string, number>();
  for (const candidate of looked)
    for (const term of new Set(candidate.terms)) frequency.set(term, (frequency.get(term) ?? 0) + 1);
  const words = weighed(terms, (term) => frequency.get(term) ?? 0, looked.length, query.ways);
  return { hits: ranked(words, looked, query), changed: found.flatMap(({ changed }) => changed) };
}

async function candidates(
  { points, type }: Shelf,
  query: MemoryQuery,
  must: readonly Condition[],
  withChanged: boolean,
  { space, analyser }: StoreOptions,
): Promise<{ near: Candidate[]; changed: Stored[] }> {
  const near = query.vector === undefined || space === undefined ? undefined : [...query.vector];
  const inSpace = space === undefined ? [] : [equal('embedder', spaceText(space))];
  const search = (more: readonly Condition[], limit: number): Schemas['QueryRequest'] => ({
    ...(near === undefined ? {} : { query: near }),
    filter: { must: [...must, ...(near === undefined ? [] : inSpace), ...more] },
    limit,
    with_payload: WITHOUT_REVISIONS,
  });
  /** What has no vector to compare yet. */
  const waiting = (more: readonly Condition[]): Schemas['QueryRequest'] => ({
    filter: { must: [...must, ...more], must_not: inSpace },
    limit: BY_WORDS,
    with_payload: WITHOUT_REVISIONS,
  });
  const withWords = query.terms.length === 0 ? [] : [anyOf('terms', query.terms)];
  const searches = [
    ...(near === undefined ? [] : [search([], candidatesFor(query.limit))]),
    ...(withWords.length === 0 ? [] : [search(withWords, BY_WORDS)]),
    ...(query.terms.length < 2
      ? []
      : query.terms.map((term) => search([equal('terms', term)], BY_EACH_WORD))),
    ...(near === undefined || withWords.length === 0 ? [] : [waiting(withWords)]),
    ...(query.all ? [near === undefined ? search([], query.limit) : waiting([])] : []),
  ];
  const changes = { filter: CHANGED, limit: MOST_CHANGED, with_payload: true };
  if (searches.length === 0 && !withChanged) return { near: [], changed: [] };
  const results = await points.query([...searches, ...(withChanged ? [changes] : [])]);
  const changed = withChanged ? (results.pop() ?? []) : [];
  // A point without a vector of ours has no score, and one without a question has one that says nothing.
  const found = new Map(results.flat().map((point) => [point.id, point]));
  return {
    near: [...found.values()].map(({ id, payload, score }) => {
      const { entry } = storedOf(id, type, payload);
      const isCompared = near !== undefined && payload.embedder === spaceText(space as VectorSpace);
      return { entry, terms: termsOf(analyser, entry), cosine: isCompared ? score : undefined };
    }),
    changed: changed.map(({ id, payload }) => storedOf(id, type, payload)),
  };
}

/** The first entries of a collection after a place in the order of lists. */
async function firstOf(
  { points, type }: Shelf,
  filter: Filter,
  count: number,
  from: Position | undefined,
): Promise<MemoryEntry[]> {
  // The server sorts by time only, so it is asked for more until those of one moment are all there.
  for (let size = count + 16; ; size *= 4) {
    const start =
      from === undefined ? {} : { start_from: new Date(Date.parse(from.createdAt) + 1).toISOString() };
    const found = await points.scroll(filter, size, {
      order_by: { key: 'created_at', direction: 'desc', ...start },
      with_payload: WITHOUT_REVISIONS,
    });
    const entries = found.map(({ id, payload }) => storedOf(id, type, payload).entry).sort(byPosition);
    const last = entries.at(-1)?.createdAt;
    const rest = from === undefined ? entries : entries.filter((entry) => byPosition(from, entry) < 0);
    if (found.length < size) return rest.slice(0, count);
    // The last timestamp may continue after what was read.
    const whole = rest.filter(({ createdAt }) => createdAt !== last);
    if (whole.length >= count) return whole.slice(0, count);
  }
}
