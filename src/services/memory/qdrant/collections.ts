import { t } from '../../../base/text/message.ts';
import type { Schemas } from '@qdrant/js-client-rest';
import { sha256 } from '../../../base/values.ts';
import { BmadError } from '../../../base/errors.ts';
import { MEMORY_TYPES, type MemoryEntry, type MemoryType } from '../../../model/memory.ts';
import { randomUUID } from 'node:crypto';
import type { Analyser } from '../../../meaning/analyse.ts';
import { spaceText, type StoreOptions, type VectorSpace } from '../engine.ts';
import {
  empty,
  equal,
  type Filter,
  INDEXES,
  isRefusal,
  type Operation,
  payloadOf,
  type Point,
  Points,
  QdrantClient,
  type RawPayload,
  storedOf,
} from './client.ts';
import type { Group } from '../rank.ts';

/** The collections of one type of memories. */
export interface Shelf {
  type: MemoryType;
  /** Where this process reads and writes: it holds vectors of our space only. */
  points: Points;
  /** The name that others use; it moves here once every memory has its vector. */
  alias: { name: string; target: string } | undefined;
  /** Collections of the same memories in other spaces: they get the words, never our vectors. */
  others: Points[];
}

/** Of the payloads, for those who look at a collection. */
const SCHEMA = 1;

/**
 * Finds or creates the collections. The name that BMAD's own tools use, `{project}-{type}`, is an alias to a collection
 * of one space. If that name is already a collection of vectors that are not ours, ours are stored beside it and its
 * memories are copied one time; it is never written to.
 */
export async function openShelves(client: QdrantClient, options: StoreOptions): Promise<Shelf[]> {
  const { aliases } = await client.call<{ aliases: Schemas['AliasDescription'][] }>('GET', ['aliases']);
  const { collections } = await client.call<{ collections: { name: string }[] }>('GET', ['collections']);
  const names = new Set(collections.map(({ name }) => name));
  const targets = new Map(aliases.map(({ alias_name, collection_name }) => [alias_name, collection_name]));
  return Promise.all(MEMORY_TYPES.map(async (type) => openShelf(client, options, type, names, targets)));
}

async function openShelf(
  client: QdrantClient,
  options: StoreOptions,
  type: MemoryType,
  names: ReadonlySet<string>,
  targets: ReadonlyMap<string, string>,
): Promise<Shelf> {
  const { project, space, analyser } = options;
  const plain = `${project}-${type}`;
  let alias = plain;
  if (names.has(plain)) {
    if (fits(await infoOf(client, plain), space)) {
      await ensureIndexes(client, plain);
      return { type, points: new Points(client, plain), alias: undefined, others: [] };
    }
    alias = `${plain}--bmad`;
  }
  const target = targets.get(alias);
  const name = space === undefined ? (target ?? `${alias}--words`) : `${alias}--${slug(space)}`;
  if (!names.has(name)) await create(client, name, space);
  await ensureIndexes(client, name);
  refuseForeign(client, name, await infoOf(client, name), space);
  const points = new Points(client, name);
  const source = target ?? (alias === plain ? undefined : plain);
  if (source !== undefined && source !== name)
    await copied(new Points(client, source), points, type, analyser);
  if (target === undefined) await pointAlias(client, alias, name, undefined);
  const others = [...names].filter((other) => other.startsWith(`${alias}--`) && other !== name);
  return {
    type,
    points,
    alias: { name: alias, target: target ?? name },
    others: others.sort().map((other) => new Points(client, other)),
  };
}

/** Lets others see the collection of our space under the common name: in one step, so that no reader finds nothing. */
export async function promote(client: QdrantClient, shelf: Shelf): Promise<void> {
  if (shelf.alias === undefined || shelf.alias.target === shelf.points.name) return;
  await pointAlias(client, shelf.alias.name, shelf.points.name, shelf.alias.target);
  shelf.alias.target = shelf.points.name;
}

async function pointAlias(
  client: QdrantClient,
  alias: string,
  name: string,
  before: string | undefined,
): Promise<void> {
  const make = { create_alias: { alias_name: alias, collection_name: name } };
  const actions = before === undefined ? [make] : [{ delete_alias: { alias_name: alias } }, make];
  await client.call('POST', ['collections', 'aliases'], {
    actions,
  } satisfies Schemas['ChangeAliasesOperation']);
}

async function create(client: QdrantClient, name: string, space: VectorSpace | undefined): Promise<void> {
  const body: Schemas['CreateCollection'] = {
    vectors: space === undefined ? {} : { size: space.dim, distance: 'Cosine' },
    metadata: {
      schema: SCHEMA,
      ...(space === undefined ? {} : { embedder: space.embedder, dim: space.dim }),
    },
  };
  try {
    await client.call('PUT', ['collections', name], body);
  } catch (error) {
    // Another process was faster.
    if (!isRefusal(error, 409)) throw error;
  }
}

async function ensureIndexes(client: QdrantClient, name: string): Promise<void> {
  const { payload_schema: known } = await infoOf(client, name);
  for (const [field_name, field_schema] of Object.entries(INDEXES)) {
    if (known[field_name] !== undefined) continue;
    const body: Schemas['CreateFieldIndex'] = { field_name, field_schema };
    await client.call('PUT', ['collections', name, 'index?wait=true'], body);
  }
}

async function infoOf(client: QdrantClient, name: string): Promise<Schemas['CollectionInfo']> {
  return client.call('GET', ['collections', name]);
}

function sizeOf({ config }: Schemas['CollectionInfo']): number | undefined {
  const { vectors } = config.params;
  return vectors !== undefined && 'size' in vectors && typeof vectors.size === 'number'
    ? vectors.size
    : undefined;
}

function spaceIn(info: Schemas['CollectionInfo']): VectorSpace | undefined {
  const metadata = info.config.metadata as { embedder?: unknown } | null | undefined;
  const dim = sizeOf(info);
  return typeof metadata?.embedder === 'string' && dim !== undefined
    ? { embedder: metadata.embedder, dim }
    : undefined;
}

/** The model of BMAD's own tools, whose collections say nothing about it. */
const OWN_MODEL = /all-minilm(?:-l6-v2)?(?::|$)/i;
const OWN_DIM = 384;

/** Whether our vectors may go into a collection that another program created. */
function fits(info: Schemas['CollectionInfo'], space: VectorSpace | undefined): boolean {
  if (space === undefined || sizeOf(info) !== space.dim) return false;
  const known = spaceIn(info);
  if (known !== undefined) return spaceText(known) === spaceText(space);
  return space.dim === OWN_DIM && OWN_MODEL.test(space.embedder);
}

function refuseForeign(
  client: QdrantClient,
  name: string,
  info: Schemas['CollectionInfo'],
  space: VectorSpace | undefined,
): void {
  if (space === undefined) return;
  const known = spaceIn(info);
  if (sizeOf(info) === space.dim && (known === undefined || spaceText(known) === spaceText(space))) return;
  throw new BmadError(
    'unavailable',
    t`The collection ${name} on ${client.place} contains vectors from another embedder (${known?.embedder ?? t`unknown`}, ${sizeOf(info) ?? t`no`} dimensions).`,
    { subject: name, hint: t`Rename or remove that collection; the server will then create its own.` },
  );
}

function slug(space: VectorSpace): string {
  const readable = space.embedder
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40);
  const exact = sha256(spaceText(space)).slice(0, 8);
  return `${readable}-${space.dim}-${exact}`;
}

/** Brings the words of one collection into another, without vectors: whatever is missing there or older. */
async function copied(from: Points, to: Points, type: MemoryType, analyser: Analyser): Promise<void> {
  const there = new Map<string, string>();
  for await (const points of to.all({}, ['changed_at']))
    for (const { id, payload } of points) there.set(id, changedAt(payload));
  for await (const points of from.all({}, ['changed_at'])) {
    const newer = points.filter(({ id, payload }) => {
      const known = there.get(id);
      return known === undefined || known < changedAt(payload);
    });
    const full = await from.retrieve(newer.map(({ id }) => id));
    const before = await to.retrieve(
      newer.map(({ id }) => id),
      ['text'],
    );
    const texts = new Map(before.map(({ id, payload }) => [id, payload.text]));
    await to.write(
      full.map((point) => copyOf(point, type, analyser, texts.get(point.id) === point.payload.text)),
    );
  }
}

const changedAt = ({ changed_at: at }: RawPayload): string => (typeof at === 'string' ? at : '');

function copyOf({ id, payload }: Point, type: MemoryType, analyser: Analyser, sameText: boolean): Operation {
  const stored = storedOf(id, type, payload);
  const changeId = typeof payload.change_id === 'string' ? payload.change_id : randomUUID();
  const copy = payloadOf(stored, analyser, changeId);
  return wordsOnly(id, { ...copy, changed_at: changedAt(payload) || stored.entry.createdAt }, sameText);
}

/** A write without a vector: an existing one is kept if its text is. */
export function wordsOnly(id: string, payload: object, sameText: boolean): Operation {
  return sameText
    ? { set_payload: { payload: { ...payload }, points: [id] } }
    : { upsert: { points: [{ id, vector: {}, payload: { ...payload, embedder: null } }] } };
}

/** Recomputes the words of points that a different analyser, or none, has processed. */
export async function reanalysed(points: Points, type: MemoryType, analyser: Analyser): Promise<void> {
  for await (const page of points.all({ must_not: [equal('analyser', analyser.id)] }, true))
    await points.write(
      page.map(({ id, payload }) => {
        const { terms, analyser: by } = payloadOf(storedOf(id, type, payload), analyser, '');
        return { set_payload: { payload: { terms, analyser: by }, points: [id] } };
      }),
    );
}

const TIMES = ['created_at', 'updated_at'];
const LIVE: Filter = { must: [empty('forgotten_at'), empty('superseded_at')] };

/** The figures of a collection, from a few requests however much is in it: clients that follow a project ask for them often. */
export async function figuresOf({ type, points }: Shelf): Promise<Group[]> {
  const edge = async (key: string, direction: 'asc' | 'desc'): Promise<MemoryEntry> => {
    const [point] = await points.scroll({}, 1, { order_by: { key, direction }, with_payload: TIMES });
    return storedOf('', type, point?.payload ?? {}).entry;
  };
  const [total, live, forgotten, agents, first, last, changed] = await Promise.all([
    points.count({}),
    points.count(LIVE),
    points.count({ must_not: [empty('forgotten_at')] }),
    points.facet('agent', LIVE),
    edge('created_at', 'asc'),
    // BMAD's own tools write no time of change.
    edge('created_at', 'desc'),
    edge('updated_at', 'desc'),
  ]);
  const newest = last.updatedAt > changed.updatedAt ? last.updatedAt : changed.updatedAt;
  const group = { type, agent: '', superseded: false, forgotten: false, oldest: first.createdAt, newest };
  const named = agents.map(({ value, count }) => ({ ...group, agent: value, n: count }));
  return [
    ...named,
    { ...group, n: live - named.reduce((sum, { n }) => sum + n, 0) },
    { ...group, superseded: true, n: total - live - forgotten },
    { ...group, forgotten: true, n: forgotten },
  ].filter(({ n }) => n > 0);
}
