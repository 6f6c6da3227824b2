import { t } from '../../../base/text/message.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { BmadError } from '../../../base/errors.ts';
import type { Schemas } from '@qdrant/js-client-rest';
import type { Analyser } from '../../../meaning/analyse.ts';
import type { MemoryEntry, MemoryRevision, MemoryType } from '../../../model/memory.ts';
import type { Stored } from '../engine.ts';
import { type ReadyFilter, termsOf } from '../rank.ts';

export interface QdrantAddress {
  url: string;
  apiKey?: string | undefined;
  /** For one attempt; a call may take several. */
  timeoutMs?: number | undefined;
}

/** The first version whose collections can say how their vectors were made. */
export const OLDEST_QDRANT = '1.16';
const TIMEOUT_MS = 10_000;
const ATTEMPTS = 4;
const BACKOFF_MS = 120;
/** Answers of a server, or of a balancer before it, that may be another one a moment later. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Statuses that a caller knows what to do about. */
export class QdrantRefusal extends Error {
  override readonly name = 'QdrantRefusal';
  readonly status: number;

  constructor(status: number, reason: string) {
    super(t`Qdrant answered ${status}: ${reason}`);
    this.status = status;
  }
}

/** The REST interface of Qdrant, as far as memories need it. Every call we make can be repeated without harm. */
export class QdrantClient {
  readonly #base: URL;
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;

  constructor({ url, apiKey, timeoutMs }: QdrantAddress) {
    this.#base = address(url);
    this.#headers = {
      'content-type': 'application/json',
      ...(apiKey === undefined || apiKey === '' ? {} : { 'api-key': apiKey }),
    };
    this.#timeoutMs = timeoutMs ?? TIMEOUT_MS;
  }

  /** The address without what may be secret in it. */
  get place(): string {
    return `${this.#base.origin}${this.#base.pathname}`.replace(/\/$/, '');
  }

  get keyInTheOpen(): boolean {
    const near = /^(?:localhost|127\.|\[::1\])/.test(this.#base.hostname);
    return this.#base.protocol === 'http:' && !near && 'api-key' in this.#headers;
  }

  /** The `result` of the answer. Throws a refusal for 400, 404, 409 and the like, a `BmadError` for all else. */
  async call<T>(
    method: 'GET' | 'PUT' | 'POST' | 'DELETE',
    path: readonly string[],
    body?: unknown,
  ): Promise<T> {
    const text = await this.text(method, path, body);
    try {
      return (JSON.parse(text) as { result: T }).result;
    } catch (error) {
      throw this.#failure(t`does not respond like a Qdrant server`, t`Check the server’s address.`, error);
    }
  }

  async text(method: string, path: readonly string[], body?: unknown, attempts = ATTEMPTS): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const last = attempt >= attempts;
      try {
        const response = await fetch(this.#url(path), {
          method,
          headers: this.#headers,
          // The key is for this server, not for one that it names.
          redirect: 'error',
          signal: AbortSignal.timeout(this.#timeoutMs),
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const answer = await response.text();
        if (response.ok) return answer;
        if (last || !PASSING.has(response.status)) throw this.#refused(response.status, answer);
      } catch (error) {
        if (error instanceof BmadError || error instanceof QdrantRefusal) throw error;
        if (last)
          throw this.#failure(
            error instanceof Error && error.name === 'TimeoutError'
              ? t`takes too long to respond`
              : t`does not respond`,
            t`Check that the server is running and the address is correct. No memories are lost; they are on that server.`,
            error,
          );
      }
      // Waits grow, and differ from one process to the next.
      await pause(BACKOFF_MS * 2 ** (attempt - 1) * (0.5 + Math.random()));
    }
  }

  #url(path: readonly string[]): URL {
    const url = new URL(this.#base);
    const [last = '', query] = (path.at(-1) ?? '').split('?');
    const parts = [...path.slice(0, -1), last].map(encodeURIComponent);
    url.pathname = `${url.pathname.replace(/\/$/, '')}/${parts.join('/')}`;
    url.search = query ?? '';
    return url;
  }

  #refused(status: number, answer: string): Error {
    if (status === 401 || status === 403)
      return this.#failure(
        status === 401 ? t`requires a key` : t`rejects the key`,
        t`Set BMAD_QDRANT_API_KEY to a key with read and write access.`,
      );
    if (PASSING.has(status))
      return this.#failure(t`returned an error (${status})`, t`Check that server’s log, then try again.`);
    return new QdrantRefusal(status, answer.slice(0, 500));
  }

  #failure(what: string, hint: string, cause?: unknown): BmadError {
    return new BmadError('unavailable', t`Qdrant at ${this.place} ${what}.`, {
      subject: this.place,
      hint,
      cause,
    });
  }
}

function address(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && ['http:', 'https:'].includes(url.protocol)) return url;
  throw new BmadError('invalid_input', t`The Qdrant address is not an http or https URL.`, {
    hint: t`Use a form such as http://localhost:6333 or https://cluster.example:6333.`,
  });
}

export function isRefusal(error: unknown, ...statuses: number[]): boolean {
  return error instanceof QdrantRefusal && statuses.includes(error.status);
}

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

  /** How many have each value of a key; those without one are not counted. */
  async facet(key: string, filter: Filter): Promise<{ value: string; count: number }[]> {
    const body: Schemas['FacetRequest'] = { key, filter, exact: true, limit: 10_000 };
    const { hits } = await this.#post<Schemas['FacetResponse']>(['facet'], body);
    return hits.map(({ value, count }) => ({ value: String(value), count }));
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

export const INDEXES: Record<string, 'keyword' | 'datetime' | 'integer'> = {
  agent: 'keyword',
  type: 'keyword',
  tags: 'keyword',
  created_at: 'datetime',
  updated_at: 'datetime',
  changed_at: 'datetime',
  forgotten_at: 'datetime',
  superseded_at: 'datetime',
  terms: 'keyword',
  analyser: 'keyword',
  embedder: 'keyword',
  change_id: 'keyword',
  revision: 'integer',
};

/** The first six keys are those of BMAD's own memory; its readers ignore the others. */
export function payloadOf({ entry, revisions }: Stored, analyser: Analyser, changeId: string) {
  return {
    text: entry.text,
    agent: entry.agent,
    type: entry.type,
    tags: entry.tags,
    project: entry.project,
    created_at: entry.createdAt,
    updated_at: entry.updatedAt,
    revision: entry.revision,
    revisions,
    forgotten_at: entry.forgottenAt ?? null,
    superseded: entry.supersededAt !== undefined,
    superseded_by: entry.supersededBy ?? null,
    superseded_at: entry.supersededAt ?? null,
    /** Analysed words, and by which analyser. */
    terms: termsOf(analyser, entry),
    analyser: analyser.id,
    /** Identifies one write: a writer that finds another one here knows that another process was faster. */
    change_id: changeId,
    changed_at: new Date().toISOString(),
  };
}

/**
 * `lines` has the write that it came with and the lines that nothing followed then. `embedder` is the space of the vector, empty
 * for a memory that waits for one, and says so only where a vector is written.
 */
export type RawPayload = Partial<Record<keyof ReturnType<typeof payloadOf> | 'lines' | 'embedder', unknown>>;

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Times without a zone are taken as the server takes them when it sorts: as UTC. */
function timeOf(value: unknown): string | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  const time = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  return Number.isFinite(time) ? new Date(time).toISOString() : undefined;
}

/** A memory from a point; BMAD's own tools write points with fewer keys. */
export function storedOf(id: string, type: MemoryType, payload: RawPayload): Stored {
  const createdAt = timeOf(payload.created_at) ?? new Date(0).toISOString();
  const forgottenAt = timeOf(payload.forgotten_at);
  const supersededAt = timeOf(payload.superseded_at) ?? (payload.superseded === true ? createdAt : undefined);
  const supersededBy = textOf(payload.superseded_by);
  const entry: MemoryEntry = {
    id,
    type,
    agent: textOf(payload.agent) ?? '',
    text: textOf(payload.text) ?? '',
    tags: Array.isArray(payload.tags) ? payload.tags.filter((tag) => typeof tag === 'string') : [],
    project: textOf(payload.project) ?? '',
    createdAt,
    updatedAt: timeOf(payload.updated_at) ?? createdAt,
    revision: typeof payload.revision === 'number' ? payload.revision : 1,
    ...(forgottenAt === undefined ? {} : { forgottenAt }),
    ...(supersededBy === undefined ? {} : { supersededBy }),
    ...(supersededAt === undefined ? {} : { supersededAt }),
  };
  return {
    entry,
    revisions: Array.isArray(payload.revisions) ? (payload.revisions as MemoryRevision[]) : [],
  };
}

export type Filter = Schemas['Filter'];
export type Condition = Schemas['Condition'];

export const anyOf = (key: string, values: Iterable<string>): Condition => ({
  key,
  match: { any: [...values] },
});
export const equal = (key: string, value: string | number): Condition => ({ key, match: { value } });
export const empty = (key: string): Condition => ({ is_empty: { key } });

/** BMAD's own tools write letters as they come. */
const bothForms = (text: string): string[] => [text.normalize('NFC'), text.normalize('NFD')];

/**
 * The server compares names letter by letter, and to ask it how they are spelled would take a request to each collection: it
 * is asked for the ways in which names are written.
 */
function spellings(key: string): string[] {
  const capital = (text: string): string => text.replace(/^\p{L}/u, (letter) => letter.toUpperCase());
  const each = key.replace(/\p{L}+/gu, capital);
  return [...new Set([key, key.toUpperCase(), capital(key), each].flatMap(bothForms))];
}

/** The filter as conditions that all have to hold. Types are collections, so they are not among them. */
export function conditions(filter: ReadyFilter): Condition[] {
  const must: Condition[] = [];
  if (filter.agents !== undefined) must.push(anyOf('agent', [...filter.agents].flatMap(spellings)));
  for (const tag of filter.tagsAll) must.push(anyOf('tags', bothForms(tag)));
  if (filter.since !== undefined || filter.until !== undefined) {
    const range = {
      ...(filter.since === undefined ? {} : { gte: filter.since }),
      ...(filter.until === undefined ? {} : { lte: filter.until }),
    };
    // Points of BMAD's own tools have no time of change.
    must.push({
      should: [{ key: 'updated_at', range }, { must: [empty('updated_at'), { key: 'created_at', range }] }],
    });
  }
  if (!filter.superseded) must.push(empty('superseded_at'));
  if (!filter.forgotten) must.push(empty('forgotten_at'));
  return must;
}

/** Memories that were reworded, forgotten or superseded. */
export const CHANGED: Filter = {
  should: [
    { key: 'revision', range: { gt: 1 } },
    { must_not: [empty('forgotten_at')] },
    { must_not: [empty('superseded_at')] },
  ],
};
