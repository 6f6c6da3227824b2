import type { Schemas } from '@qdrant/js-client-rest';
import { randomUUID } from 'node:crypto';
import { once } from '../../../base/async.ts';
import { BmadError } from '../../../base/errors.ts';
import { t } from '../../../base/text/message.ts';
import { sha256 } from '../../../base/values.ts';
import type { Mark } from '../../../lines/line.ts';
import { MEMORY_TYPES, type MemoryType } from '../../../model/memory.ts';
import { POINT, spaceText, type StoreHealth, type StoreOptions, type VectorSpace } from '../engine.ts';
import type { PointPage, SharedPlace, Told } from '../followed.ts';
import {
  anyOf,
  collectionAt,
  type Condition,
  empty,
  type Filter,
  INDEXES,
  linesIn,
  payloadOf,
  pointId,
  type Point,
  Points,
  type QdrantAddress,
  QdrantClient,
  THEIRS,
  timeOf,
  VERSION_KEYS,
  versionOf,
} from './client.ts';

/** How often all points are looked through: nothing else tells that one was removed, or changed without a newer time. */
const LOOK_MS = 600_000;
const LOOKED = `${POINT}-looked`;
/** Known ones that a question for new ones leaves out by name; beyond them, it asks from a day before the newest. */
const MOST_NAMED = 300;
const DAY_MS = 86_400_000;

const nameOf = (points: Points, id = ''): string => `${POINT}/${points.name}/${id}`;

type Taking = (page: PointPage) => Promise<void>;

/** A Qdrant server or cluster: points are taken in from the collections of BMAD's own tools, and written back there. */
export class QdrantPlace implements SharedPlace {
  readonly at: string;
  readonly #options: StoreOptions;
  readonly #client: QdrantClient;
  readonly #shelves: () => Promise<Shelf[]>;
  /** The versions of points that were changed last, by name; those of other programs by themselves. */
  #recent: Map<string, Map<string, string>> | undefined;
  #lookedAt = 0;

  constructor({ address, ...options }: StoreOptions & { address: QdrantAddress }) {
    this.#options = options;
    this.#client = new QdrantClient(address);
    this.at = `${this.#client.place} ${options.project} ${options.space === undefined ? '' : spaceText(options.space)}`;
    this.#shelves = once(() => openShelves(this.#client, options));
  }

  async news(isNew: boolean, known: () => Promise<Mark>, take: Taking): Promise<void> {
    const shelves = await this.#shelves();
    const mark = isNew || this.#recent === undefined ? await known() : undefined;
    if (mark !== undefined) {
      this.#recent = undefined;
      this.#lookedAt = Number(mark.get(LOOKED));
      for (const [name, version] of mark) this.#known(name, version);
    }
    const now = Date.now();
    if (Math.abs(now - this.#lookedAt) <= LOOK_MS) {
      const read = async ({ type, points }: Shelf): Promise<void> => {
        for await (const page of points.all(this.#unknown(points.name), true))
          await this.#take(type, points, page, take);
      };
      await Promise.all(shelves.map(read));
      return;
    }
    const all = mark ?? (await known());
    for (const { type, points, others } of shelves)
      for (const each of [points, ...others]) await this.#takeAll(type, each, all, take);
    await take({ lines: [], gone: [], marks: new Map([[LOOKED, String(now)]]), vectors: [] });
    this.#lookedAt = now;
  }

  async #takeAll(type: MemoryType, points: Points, known: Mark, take: Taking): Promise<void> {
    const left = new Set([...known.keys()].filter((name) => name.startsWith(nameOf(points))));
    const fresh: string[] = [];
    for await (const page of points.all({}, VERSION_KEYS))
      for (const { id, payload } of page) {
        const name = nameOf(points, id);
        left.delete(name);
        if (known.get(name) !== versionOf(payload)) fresh.push(id);
      }
    for await (const page of points.retrieve(fresh)) await this.#take(type, points, page, take);
    if (left.size === 0) return;
    const marks = new Map([...left].map((name) => [name, undefined]));
    await take({ lines: [], gone: [...left], marks, vectors: [] });
  }

  async #take(type: MemoryType, points: Points, some: readonly Point[], take: Taking): Promise<void> {
    if (some.length === 0) return;
    const { space } = this.#options;
    const named = some.map((each) => ({
      ...each,
      key: { type, id: each.id },
      name: nameOf(points, each.id),
    }));
    await take({
      // A point that says something else begins again.
      gone: named.map(({ name }) => name),
      lines: named.flatMap(({ key, name: file, payload }) =>
        linesIn(key, payload).map((line) => ({ line, file })),
      ),
      marks: new Map(named.map(({ name, payload }) => [name, versionOf(payload)])),
      vectors: named.flatMap(({ key, vector, payload: { text, embedder } }) =>
        vector === undefined || space === undefined || embedder !== spaceText(space)
          ? []
          : [{ key, vector, text: String(text) }],
      ),
    });
    for (const { name, payload } of named) this.#known(name, versionOf(payload));
  }

  #known(name: string, version: string): void {
    if (!name.startsWith(`${POINT}/`)) return;
    const kind = recentOf(name.split('/')[1] ?? '', version.startsWith(THEIRS));
    this.#recent ??= new Map();
    const own = this.#recent.get(kind) ?? new Map<string, string>();
    this.#recent.set(kind, own.set(name, version));
    if (own.size > MOST_NAMED * 4) this.#recent.set(kind, new Map(newest(own).slice(0, MOST_NAMED * 2)));
  }

  /** What a server has of a type that was not taken in: of ours by the names of writes, of others by their own time. */
  #unknown(collection: string): Filter {
    const [ours = [], theirs = []] = [false, true].map((isOther) =>
      newest(this.#recent?.get(recentOf(collection, isOther)) ?? NONE),
    );
    const from = (key: string, some: Versions, at: (version: string) => string): Condition[] => {
      const [first, last] = [some[0], some[MOST_NAMED]].map((each) => Date.parse(at(each?.[1] ?? '')));
      if (last === undefined || Number.isNaN(last)) return [];
      return [{ key, range: { gte: new Date(Math.max(last, Number(first) - DAY_MS)).toISOString() } }];
    };
    const created = (version: string): string => version.slice(THEIRS.length);
    const changes = ours.slice(0, MOST_NAMED).map(([, version]) => version.split(' ')[1] ?? '');
    return {
      should: [
        {
          must: from('changed_at', ours, (version) => version.split(' ')[0] ?? ''),
          must_not: [empty('changed_at'), ...(changes.length === 0 ? [] : [anyOf('change_id', changes)])],
        },
        {
          must: [empty('changed_at'), ...from('created_at', theirs, created)],
          must_not: theirs.slice(0, MOST_NAMED).map(([name, version]) => sameAs(name, created(version))),
        },
      ],
    };
  }

  /**
   * Qdrant has no transactions: where two write a memory at once, the later one stands until the other has taken it in, and
   * tells what both say.
   */
  async tell(said: readonly Told[], take: Taking): Promise<void> {
    const { space, project } = this.#options;
    for (const { type, points } of await this.#shelves()) {
      const own = said.filter(({ key }) => key.type === type);
      const now = own.map(({ vector, ...each }) => {
        const embedder = vector === undefined || space === undefined ? null : spaceText(space);
        return {
          id: each.key.id,
          payload: { ...payloadOf(each, project, randomUUID()), embedder },
          vector: vector ? [...vector] : {},
        };
      });
      await points.write(
        now.map(({ id, ...point }) => ({ upsert: { points: [{ id: pointId(id), ...point }] } })),
      );
      const told = now.map(({ id, payload }) => ({ id, payload, vector: undefined }));
      await this.#take(type, points, told, take);
    }
  }

  async health(): Promise<StoreHealth> {
    const { place, keyInTheOpen } = this.#client;
    const details: Record<string, string> = {};
    const notes: string[] = [];
    try {
      await this.#client.text('GET', 'readyz', undefined, 1);
      const { version } = JSON.parse(await this.#client.text('GET', '', undefined, 1)) as {
        version?: string;
      };
      if (version !== undefined) details['qdrant'] = version;
      for (const { type, points } of await this.#shelves()) details[type] = points.name;
    } catch (error) {
      notes.push(error instanceof BmadError ? error.text : t`Qdrant at ${place} is not ready.`);
    }
    if (keyInTheOpen) notes.push(t`The Qdrant key is sent unencrypted; use an https address.`);
    return { engine: 'qdrant', place, details, degraded: notes.length > 0, notes };
  }
}

const recentOf = (collection: string, isOther: boolean): string => `${collection} ${isOther}`;

type Versions = readonly (readonly [name: string, version: string])[];
const NONE: ReadonlyMap<string, string> = new Map();

const newest = (known: ReadonlyMap<string, string>): Versions =>
  [...known].sort(([, a], [, b]) => (a > b ? -1 : 1));

/** A point of another program as it was taken in; one without a time is known by its id alone. */
function sameAs(name: string, created: string): Condition {
  const id: Condition = { has_id: [pointId(name.slice(name.lastIndexOf('/') + 1))] };
  const isTime = timeOf(created) !== undefined;
  return isTime ? { must: [id, { key: 'created_at', range: { gte: created, lte: created } }] } : id;
}

interface Shelf {
  type: MemoryType;
  /** Where this process reads and writes: it holds vectors of our space only. */
  points: Points;
  /** Those with other vectors, of another program or another embedder: they are read, and never written to. */
  others: readonly Points[];
}

const SCHEMA = 2;

/**
 * Finds or creates the collections. BMAD's own tools use the name `{project}-{type}`; if that is already a collection of
 * vectors that are not ours, ours are stored beside it.
 */
async function openShelves(client: QdrantClient, options: StoreOptions): Promise<Shelf[]> {
  const { collections } = await client.call<{ collections: { name: string }[] }>('GET', 'collections');
  const { aliases } = await client.call<{ aliases: { alias_name: string }[] }>('GET', 'aliases');
  const names = [...collections.map(({ name }) => name), ...aliases.map((each) => each.alias_name)];
  return Promise.all(MEMORY_TYPES.map(async (type) => openShelf(client, options, type, names)));
}

async function openShelf(
  client: QdrantClient,
  { project, space }: StoreOptions,
  type: MemoryType,
  names: readonly string[],
): Promise<Shelf> {
  const plain = `${project}-${type}`;
  const isFree = !names.includes(plain) || fits(await infoOf(client, plain), space);
  const name = isFree ? plain : `${plain}--${space === undefined ? 'words' : slug(space)}`;
  if (!names.includes(name)) await create(client, name, space);
  const info = await infoOf(client, name);
  if (!fits(info, space)) throw foreign(client, name, info);
  for (const [field_name, field_schema] of Object.entries(INDEXES))
    if (info.payload_schema[field_name] === undefined)
      await client.call('PUT', `${collectionAt(name)}/index?wait=true`, {
        field_name,
        field_schema,
      } satisfies Schemas['CreateFieldIndex']);
  const others = names.filter(
    (other) => other !== name && (other === plain || other.startsWith(`${plain}--`)),
  );
  return { type, points: new Points(client, name), others: others.map((other) => new Points(client, other)) };
}

async function create(client: QdrantClient, name: string, space: VectorSpace | undefined): Promise<void> {
  const body: Schemas['CreateCollection'] = {
    vectors: space === undefined ? {} : { size: space.dim, distance: 'Cosine' },
    metadata: { schema: SCHEMA, ...space },
  };
  try {
    await client.call('PUT', collectionAt(name), body);
  } catch (error) {
    // Somebody else was faster.
    if (!(error instanceof BmadError) || error.code !== 'conflict') throw error;
  }
}

async function infoOf(client: QdrantClient, name: string): Promise<Schemas['CollectionInfo']> {
  return client.call('GET', collectionAt(name));
}

function vectorsOf({ config }: Schemas['CollectionInfo']) {
  const { vectors } = config.params;
  const metadata = (config.metadata ?? {}) as { schema?: unknown; embedder?: unknown };
  const dim = vectors !== undefined && 'size' in vectors ? Number(vectors.size) : undefined;
  const embedder = typeof metadata.embedder === 'string' ? metadata.embedder : undefined;
  return { dim, embedder, isOurs: metadata.schema !== undefined };
}

/** The model of BMAD's own tools, whose collections say nothing about it. */
const OWN_MODEL = /all-minilm(?:-l6-v2)?(?::|$)/i;
const OWN_DIM = 384;

/** Whether our points may go into a collection, with our vectors or without any. */
function fits(info: Schemas['CollectionInfo'], space: VectorSpace | undefined): boolean {
  const { dim, embedder, isOurs } = vectorsOf(info);
  if (space === undefined) return isOurs;
  if (dim !== space.dim) return false;
  return embedder === undefined
    ? dim === OWN_DIM && OWN_MODEL.test(space.embedder)
    : embedder === space.embedder;
}

function foreign(client: QdrantClient, name: string, info: Schemas['CollectionInfo']): BmadError {
  const { dim, embedder } = vectorsOf(info);
  return new BmadError(
    'unavailable',
    t`The collection ${name} on ${client.place} contains vectors from another embedder (${embedder ?? t`unknown`}, ${dim ?? t`no`} dimensions).`,
    { subject: name, hint: t`Rename or remove that collection; the server will then create its own.` },
  );
}

function slug(space: VectorSpace): string {
  const readable = space.embedder
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40);
  return `${readable}-${space.dim}-${sha256(spaceText(space)).slice(0, 8)}`;
}
