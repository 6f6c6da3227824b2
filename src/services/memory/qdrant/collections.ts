import type { Schemas } from '@qdrant/js-client-rest';
import { BmadError } from '../../../base/errors.ts';
import { t } from '../../../base/text/message.ts';
import { sha256 } from '../../../base/values.ts';
import { MEMORY_TYPES, type MemoryType } from '../../../model/memory.ts';
import { spaceText, type StoreOptions, type VectorSpace } from '../engine.ts';
import { collectionAt, INDEXES, Points, type QdrantClient } from './client.ts';

export interface Shelf {
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
export async function openShelves(client: QdrantClient, options: StoreOptions): Promise<Shelf[]> {
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
