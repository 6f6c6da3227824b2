import type { Schemas } from '@qdrant/js-client-rest';
import { isRefusal, type QdrantClient } from './client.ts';
import type { Filter, RawPayload } from './payload.ts';

export interface Point {
  id: string;
  payload: RawPayload;
  score: number | undefined;
}

export type Operation = Schemas['UpdateOperation'];

/** One collection, in the words of Qdrant. Points in a request are few enough for any server's limit. */
const CHUNK = 200;

export class Points {
  readonly #client: QdrantClient;
  readonly name: string;

  constructor(client: QdrantClient, name: string) {
    this.#client = client;
    this.name = name;
  }

  async #post<T>(what: readonly string[], body: unknown): Promise<T> {
    return this.#client.call<T>('POST', ['collections', this.name, ...what], body);
  }

  async retrieve(ids: readonly string[], keys: readonly string[] | true = true): Promise<Point[]> {
    const points: Point[] = [];
    for (let from = 0; from < ids.length; from += CHUNK) {
      const body = { ids: ids.slice(from, from + CHUNK), with_payload: keys, with_vector: false };
      points.push(...(await this.#post<RawPoint[]>(['points'], body)).map(pointOf));
    }
    return points;
  }

  async scroll(
    filter: Filter,
    limit: number,
    more: Partial<Schemas['ScrollRequest']> = {},
  ): Promise<Point[]> {
    const { points } = await this.#page({ filter, limit, with_payload: true, ...more });
    return points;
  }

  async *all(filter: Filter, keys: readonly string[] | true): AsyncGenerator<Point[]> {
    let offset: Schemas['ExtendedPointId'] | undefined;
    do {
      const { points, next } = await this.#page({
        filter,
        limit: CHUNK * 4,
        with_payload: keys as string[] | true,
        ...(offset === undefined ? {} : { offset }),
      });
      yield points;
      offset = next;
    } while (offset !== undefined);
  }

  async #page(
    body: Schemas['ScrollRequest'],
  ): Promise<{ points: Point[]; next: Schemas['ExtendedPointId'] | undefined }> {
    const result = await this.#post<{
      points: RawPoint[];
      next_page_offset?: Schemas['ExtendedPointId'] | null;
    }>(['points', 'scroll'], body);
    return { points: result.points.map(pointOf), next: result.next_page_offset ?? undefined };
  }

  async query(searches: readonly Schemas['QueryRequest'][]): Promise<Point[][]> {
    const results = await this.#post<{ points: RawPoint[] }[]>(['points', 'query', 'batch'], { searches });
    return results.map(({ points }) => points.map(pointOf));
  }

  async count(filter: Filter): Promise<number> {
    const body: Schemas['CountRequest'] = { filter, exact: true };
    return (await this.#post<{ count: number }>(['points', 'count'], body)).count;
  }

  async facet(key: string, filter: Filter): Promise<{ value: string; count: number }[]> {
    const body: Schemas['FacetRequest'] = { key, filter, exact: true, limit: 10_000 };
    try {
      const { hits } = await this.#post<Schemas['FacetResponse']>(['facet'], body);
      return hits.map(({ value, count }) => ({ value: String(value), count }));
    } catch (error) {
      // Servers before 1.12 cannot count values.
      if (isRefusal(error, 404, 405)) return [];
      throw error;
    }
  }

  /** Answers when the changes can be read. */
  async write(operations: readonly Operation[]): Promise<void> {
    for (let from = 0; from < operations.length; from += CHUNK)
      await this.#post(['points', 'batch?wait=true'], { operations: operations.slice(from, from + CHUNK) });
  }
}

interface RawPoint {
  id: string | number;
  payload?: RawPayload | null;
  score?: number;
}

function pointOf({ id, payload, score }: RawPoint): Point {
  return { id: String(id), payload: payload ?? {}, score };
}
