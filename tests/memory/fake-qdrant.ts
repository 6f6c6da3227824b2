import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { holds, type FakeFilter, type FakePoint } from './fake-qdrant-filter.ts';

/**
 * A small Qdrant with the behaviours that were seen on the official client's local mode: 409 for a second create, 404,
 * 400 for a wrong dimension, pages with `next_page_offset`, filters and keys.
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
  with_payload?: boolean | string[];
  with_vector?: boolean;
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
      const isNamed = area === 'collections' && name !== undefined;
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
    if (area === 'aliases') return { aliases: [] };
    if (area !== 'collections') throw new Refused(404, 'no such path');
    if (name === undefined)
      return { collections: [...this.collections.keys()].map((found) => ({ name: found })) };
    if (method === 'PUT' && rest.length === 0) return this.#create(name, body);
    const collection = this.collections.get(name);
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
      case 'POST points query':
        return { points: query(collection, body) };
      case 'POST points batch':
        return (body['operations'] as Record<string, Body>[]).map((operation) => {
          apply(collection, operation);
          return { status: 'completed' };
        });
      default:
        throw new Refused(404, `no such path: ${method} ${rest.join('/')}`);
    }
  }

  #create(name: string, body: Body): true {
    if (this.collections.has(name)) throw new Refused(409, `Collection \`${name}\` already exists!`);
    this.collections.set(name, { config: body as FakeCollection['config'], indexes: {}, points: new Map() });
    return true;
  }
}

function matching({ points }: FakeCollection, { filter }: Body): FakePoint[] {
  return [...points.values()].filter((point) => holds(point, filter)).sort((a, b) => (a.id < b.id ? -1 : 1));
}

function shown({ id, payload, vector }: FakePoint, body: Body): object {
  const { with_payload: wanted = true, with_vector: whole = false } = body;
  const vectors = whole ? { vector: vector ?? {} } : {};
  if (wanted === true) return { id, payload, ...vectors };
  const keys = wanted === false ? [] : wanted;
  return {
    id,
    payload: Object.fromEntries(keys.filter((key) => key in payload).map((key) => [key, payload[key]])),
    ...vectors,
  };
}

function scroll(collection: FakeCollection, body: Body): object {
  const { limit = 10 } = body;
  const from = body['offset'] as string | undefined;
  const found = matching(collection, body).filter(({ id }) => from === undefined || id >= from);
  return {
    points: found.slice(0, limit).map((point) => shown(point, body)),
    next_page_offset: found[limit]?.id ?? null,
  };
}

function query(collection: FakeCollection, body: Body): object[] {
  const wanted = normal(collection, body['query'] as number[]);
  return matching(collection, body)
    .flatMap((point) => (point.vector === undefined ? [] : [{ point, score: product(wanted, point.vector) }]))
    .sort((a, b) => b.score - a.score)
    .slice(0, body.limit ?? 10)
    .map(({ point, score }) => ({ ...shown(point, body), version: 0, score }));
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
