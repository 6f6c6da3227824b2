import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { holds, placeOf, valuesOf, type FakeFilter, type FakePoint } from './fake-qdrant-filter.ts';

/**
 * A small Qdrant with the behaviours that were seen on the official client's local mode: 409 for a second create, 404,
 * 400 for a wrong dimension or for sorting without an index, pages with `next_page_offset`, filters, aliases and keys.
 */

interface FakeCollection {
  config: { vectors?: { size?: number; distance?: string }; metadata?: unknown };
  indexes: Record<string, unknown>;
  points: Map<string, FakePoint>;
}

class Refused extends Error {
  readonly status: number;
  constructor(status: number, reason: string) {
    super(reason);
    this.status = status;
  }
}

interface Body {
  [key: string]: unknown;
  filter?: FakeFilter;
  limit?: number;
  with_payload?: boolean | string[] | { exclude: string[] };
}

/** One request that was answered, and its answer. */
export interface Exchange {
  method: string;
  /** As the path’s pattern in Qdrant’s OpenAPI has it. */
  path: string;
  body: unknown;
  answer: unknown;
}

export class FakeQdrant {
  /** What all of them have answered in this process. */
  static readonly exchanges: Exchange[] = [];
  readonly collections = new Map<string, FakeCollection>();
  readonly aliases = new Map<string, string>();
  /** `METHOD /path` of every request. */
  readonly requests: string[] = [];
  /** Statuses for the next requests, before anything is done. */
  readonly faults: number[] = [];
  readonly #apiKey: string | undefined;
  readonly #server: Server;

  constructor(apiKey?: string) {
    this.#apiKey = apiKey;
    this.#server = createServer((request, response) => {
      const send = async (): Promise<void> => {
        const { status, text } = await this.#answer(request);
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(text);
      };
      void send();
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => void this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage): Promise<{ status: number; text: string }> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = new URL(request.url ?? '/', 'http://fake').pathname;
    const method = request.method ?? 'GET';
    this.requests.push(`${method} ${path}`);
    const fault = this.faults.shift();
    if (fault !== undefined) return { status: fault, text: '{"status":{"error":"injected"}}' };
    if (path === '/readyz') return { status: 200, text: 'all shards are ready' };
    if (path === '/') return { status: 200, text: '{"title":"qdrant - fake","version":"0.0.0-fake"}' };
    const key = request.headers['api-key'];
    if (this.#apiKey !== undefined && key !== this.#apiKey)
      return { status: key === undefined ? 401 : 403, text: 'Invalid API key or JWT' };
    try {
      const body = (chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString('utf8'))) as Body;
      const parts = path.split('/').slice(1).map(decodeURIComponent);
      const sent = chunks.length === 0 ? undefined : structuredClone(body);
      const text = JSON.stringify({ status: 'ok', time: 0, result: this.#run(method, parts, body) });
      const [area, name, ...rest] = parts;
      const isNamed = area === 'collections' && name !== undefined && name !== 'aliases';
      FakeQdrant.exchanges.push({
        method: method.toLowerCase(),
        path: `/${(isNamed ? [area, '{collection_name}', ...rest] : parts).join('/')}`,
        body: sent,
        answer: JSON.parse(text) as unknown,
      });
      return { status: 200, text };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { status: error.status, text: JSON.stringify({ status: { error: error.message } }) };
    }
  }

  #run(method: string, [area, name, ...rest]: string[], body: Body): unknown {
    if (area === 'aliases')
      return {
        aliases: [...this.aliases].map(([alias_name, collection_name]) => ({ alias_name, collection_name })),
      };
    if (area !== 'collections') throw new Refused(404, 'no such path');
    if (name === undefined)
      return { collections: [...this.collections.keys()].map((found) => ({ name: found })) };
    if (name === 'aliases') return this.#changeAliases(body);
    if (method === 'PUT' && rest.length === 0) return this.#create(name, body);
    const collection = this.collections.get(this.aliases.get(name) ?? name);
    if (collection === undefined) throw new Refused(404, `Collection \`${name}\` doesn't exist!`);
    switch ([method, ...rest].join(' ')) {
      case 'GET': {
        const { vectors, metadata } = collection.config;
        return {
          status: 'green',
          optimizer_status: 'ok',
          segments_count: 1,
          points_count: collection.points.size,
          config: {
            params: { vectors },
            hnsw_config: { m: 16, ef_construct: 100, full_scan_threshold: 10_000 },
            optimizer_config: {
              deleted_threshold: 0.2,
              vacuum_min_vector_number: 1_000,
              default_segment_number: 0,
              flush_interval_sec: 5,
            },
            metadata,
          },
          payload_schema: Object.fromEntries(
            Object.entries(collection.indexes).map(([key, index]) => [
              key,
              { ...(index as object), points: collection.points.size },
            ]),
          ),
        };
      }
      case 'PUT index':
        collection.indexes[String(body['field_name'])] = { data_type: body['field_schema'] };
        return { status: 'completed' };
      case 'POST points':
        return (body['ids'] as string[])
          .map((id) => collection.points.get(id))
          .filter((point) => point !== undefined)
          .map((point) => shown(point, body));
      case 'POST points scroll':
        return scroll(collection, body);
      case 'POST points count':
        return { count: matching(collection, body).length };
      case 'POST points query batch':
        return (body['searches'] as Body[]).map((search) => ({ points: query(collection, search) }));
      case 'POST points batch':
        return (body['operations'] as Record<string, Body>[]).map((operation) => {
          apply(collection, operation);
          return { status: 'completed' };
        });
      case 'POST facet':
        return { hits: facet(collection, body) };
      default:
        throw new Refused(404, `no such path: ${method} ${rest.join('/')}`);
    }
  }

  #create(name: string, body: Body): true {
    if (this.collections.has(name)) throw new Refused(409, `Collection \`${name}\` already exists!`);
    if (this.aliases.has(name)) throw new Refused(400, 'an alias has this name');
    this.collections.set(name, { config: body as FakeCollection['config'], indexes: {}, points: new Map() });
    return true;
  }

  #changeAliases(body: Body): true {
    for (const action of body['actions'] as Record<
      string,
      { alias_name: string; collection_name: string }
    >[]) {
      const { create_alias: made, delete_alias: removed } = action;
      if (removed !== undefined) this.aliases.delete(removed.alias_name);
      if (made === undefined) continue;
      if (!this.collections.has(made.collection_name)) throw new Refused(404, 'no such collection');
      if (this.collections.has(made.alias_name)) throw new Refused(409, 'a collection has this name');
      this.aliases.set(made.alias_name, made.collection_name);
    }
    return true;
  }
}

function matching({ points }: FakeCollection, { filter }: Body): FakePoint[] {
  return [...points.values()].filter((point) => holds(point, filter)).sort((a, b) => (a.id < b.id ? -1 : 1));
}

function shown({ id, payload }: FakePoint, { with_payload: wanted = true }: Body): object {
  if (wanted === false) return { id };
  if (wanted === true) return { id, payload };
  const keys = Array.isArray(wanted)
    ? wanted
    : Object.keys(payload).filter((key) => !wanted.exclude.includes(key));
  return {
    id,
    payload: Object.fromEntries(keys.filter((key) => key in payload).map((key) => [key, payload[key]])),
  };
}

function scroll(collection: FakeCollection, body: Body): object {
  const { limit = 10 } = body;
  const order = body['order_by'] as { key: string; direction?: string; start_from?: string } | undefined;
  const found = matching(collection, body);
  if (order === undefined) {
    const from = body['offset'] as string | undefined;
    const rest = from === undefined ? found : found.filter(({ id }) => id >= from);
    return {
      points: rest.slice(0, limit).map((point) => shown(point, body)),
      next_page_offset: rest[limit]?.id ?? null,
    };
  }
  if (!(order.key in collection.indexes))
    throw new Refused(400, `No range index for \`order_by\` key: ${order.key}`);
  const sign = order.direction === 'desc' ? -1 : 1;
  const start = order.start_from === undefined ? undefined : placeOf(order.start_from);
  const sorted = found
    .filter(({ payload }) => Number.isFinite(placeOf(payload[order.key])))
    .filter(({ payload }) => start === undefined || sign * (placeOf(payload[order.key]) - start) >= 0)
    .sort((a, b) => sign * (placeOf(a.payload[order.key]) - placeOf(b.payload[order.key])));
  return { points: sorted.slice(0, limit).map((point) => shown(point, body)), next_page_offset: null };
}

function query(collection: FakeCollection, body: Body): object[] {
  // Without a question, in the order of ids.
  if (body['query'] === undefined)
    return matching(collection, body)
      .slice(0, body.limit ?? 10)
      .map((point) => ({ ...shown(point, body), version: 0, score: 0 }));
  const wanted = normal(collection, body['query'] as number[]);
  return matching(collection, body)
    .flatMap((point) => (point.vector === undefined ? [] : [{ point, score: product(wanted, point.vector) }]))
    .sort((a, b) => b.score - a.score)
    .slice(0, body.limit ?? 10)
    .map(({ point, score }) => ({ ...shown(point, body), version: 0, score }));
}

function facet(collection: FakeCollection, body: Body): object[] {
  const key = String(body['key']);
  if (!(key in collection.indexes)) throw new Refused(400, `No appropriate index for faceting: \`${key}\``);
  const counts = new Map<unknown, number>();
  for (const { payload } of matching(collection, body))
    for (const value of valuesOf(payload[key])) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, count]) => ({ value, count }));
}

function apply(collection: FakeCollection, operation: Record<string, Body>): void {
  const { upsert, set_payload: payload, update_vectors: vectors, delete: removed } = operation;
  if (upsert !== undefined)
    for (const { id, vector, payload: given } of upsert['points'] as FakePoint[]) {
      const before = collection.points.get(id);
      const condition = upsert['update_filter'] as FakeFilter | undefined;
      if (before !== undefined && !holds(before, condition)) continue;
      collection.points.set(id, {
        id,
        vector: Array.isArray(vector) ? normal(collection, vector) : undefined,
        payload: given,
      });
    }
  else if (payload !== undefined) {
    const ids = payload['points'] as string[] | undefined;
    for (const point of matching(collection, payload))
      if (ids?.includes(point.id) ?? true) Object.assign(point.payload, payload['payload']);
  } else if (vectors !== undefined)
    for (const { id, vector } of vectors['points'] as { id: string; vector: number[] }[]) {
      const point = collection.points.get(id);
      if (point === undefined) throw new Refused(404, `No point with id ${id} found`);
      point.vector = normal(collection, vector);
    }
  else if (removed !== undefined)
    for (const { id } of matching(collection, removed)) collection.points.delete(id);
  else throw new Refused(400, 'an operation that the fake does not know');
}

function normal({ config }: FakeCollection, vector: number[]): number[] {
  const size = config.vectors?.size;
  if (size === undefined) throw new Refused(400, 'Not existing vector name error: ');
  if (vector.length !== size)
    throw new Refused(
      400,
      `Wrong input: Vector dimension error: expected dim: ${size}, got ${vector.length}`,
    );
  const length = Math.sqrt(product(vector, vector));
  return length === 0 ? vector : vector.map((value) => value / length);
}

function product(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}
