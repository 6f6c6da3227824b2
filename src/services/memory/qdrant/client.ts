import { t } from '../../../base/text/message.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { BmadError } from '../../../base/errors.ts';
import { present, sha256 } from '../../../base/values.ts';
import { type Line, lineJson, lineOf, NO_ONE, readLine } from '../../../lines/line.ts';
import type { Schemas } from '@qdrant/js-client-rest';
import type { MemoryKey } from '../../../model/memory.ts';
import type { Told } from '../followed.ts';
import { entityOf, memoryOf } from '../fold.ts';

export interface QdrantAddress {
  url: string;
  apiKey?: string | undefined;
}

/** The first version whose collections can say how their vectors were made. */
export const OLDEST_QDRANT = '1.16';
const TIMEOUT_MS = 10_000;
const ATTEMPTS = 4;
const BACKOFF_MS = 120;
/** Answers of a server, or of a balancer before it, that may be another one a moment later. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/** The REST interface of Qdrant, as far as memories need it. Every call we make can be repeated without harm. */
export class QdrantClient {
  readonly #base: URL;
  readonly #headers: Record<string, string>;

  constructor({ url, apiKey }: QdrantAddress) {
    this.#base = address(url);
    this.#headers = {
      'content-type': 'application/json',
      ...(apiKey === undefined || apiKey === '' ? {} : { 'api-key': apiKey }),
    };
  }

  get place(): string {
    return `${this.#base.origin}${this.#base.pathname}`.replace(/\/$/, '');
  }

  get keyInTheOpen(): boolean {
    const near = /^(?:localhost|127\.|\[::1\])/.test(this.#base.hostname);
    return this.#base.protocol === 'http:' && !near && 'api-key' in this.#headers;
  }

  /** The `result` of the answer. */
  async call<T>(method: 'GET' | 'PUT' | 'POST', path: string, body?: unknown): Promise<T> {
    const text = await this.text(method, path, body);
    try {
      return (JSON.parse(text) as { result: T }).result;
    } catch (error) {
      throw this.#failure(t`does not respond like a Qdrant server`, t`Check the server’s address.`, error);
    }
  }

  async text(method: string, path: string, body?: unknown, attempts = ATTEMPTS): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const last = attempt >= attempts;
      try {
        const response = await fetch(`${this.place}/${path}`, {
          method,
          headers: this.#headers,
          // The key is for this server, not for one that it names.
          redirect: 'error',
          signal: AbortSignal.timeout(TIMEOUT_MS),
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const answer = await response.text();
        if (response.ok) return answer;
        if (last || !PASSING.has(response.status)) throw this.#refused(response.status, answer);
      } catch (error) {
        if (error instanceof BmadError) throw error;
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

  #refused(status: number, answer: string): Error {
    if (status === 401 || status === 403)
      return this.#failure(
        status === 401 ? t`requires a key` : t`rejects the key`,
        t`Set BMAD_QDRANT_API_KEY to a key with read and write access.`,
      );
    if (PASSING.has(status))
      return this.#failure(t`returned an error (${status})`, t`Check that server’s log, then try again.`);
    return new BmadError(
      status === 409 ? 'conflict' : 'unavailable',
      t`Qdrant at ${this.place} refused a request (${status}).`,
      {
        subject: this.place,
        hint: t`That server’s log has the reason. Qdrant ${OLDEST_QDRANT} or later is required.`,
        cause: new Error(answer.slice(0, 500)),
      },
    );
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

/** Where everything about a collection is, below the address of the server. */
export const collectionAt = (name: string): string => `collections/${encodeURIComponent(name)}`;

export type Operation = Schemas['UpdateOperation'];
export type Filter = Schemas['Filter'];
export type Condition = Schemas['Condition'];

export const anyOf = (key: string, values: readonly string[]): Condition => ({
  key,
  match: { any: [...values] },
});
export const empty = (key: string): Condition => ({ is_empty: { key } });

export interface Point {
  id: string;
  payload: RawPayload;
  vector: Float32Array | undefined;
}

/** Other programs may number their points, and the server knows a number from a text. */
export const pointId = (id: string): string | number => (/^\d+$/.test(id) ? Number(id) : id);

/** Points in a request are few enough for any server's limit. */
const CHUNK = 200;

export class Points {
  readonly #client: QdrantClient;
  readonly name: string;

  constructor(client: QdrantClient, name: string) {
    this.#client = client;
    this.name = name;
  }

  async #post<T>(what: string, body: unknown): Promise<T> {
    return this.#client.call<T>('POST', `${collectionAt(this.name)}/${what}`, body);
  }

  async *retrieve(ids: readonly string[]): AsyncGenerator<Point[]> {
    for (let from = 0; from < ids.length; from += CHUNK) {
      const some = ids.slice(from, from + CHUNK).map(pointId);
      const body = { ids: some, with_payload: true, with_vector: true };
      yield (await this.#post<RawPoint[]>('points', body)).map(pointOf);
    }
  }

  /** Page by page; with the vectors, where nothing is left out. */
  async *all(filter: Filter, keys: readonly string[] | true): AsyncGenerator<Point[]> {
    let offset: Schemas['ExtendedPointId'] | null | undefined;
    do {
      const body: Schemas['ScrollRequest'] = {
        filter,
        limit: keys === true ? CHUNK : CHUNK * 20,
        with_payload: keys as string[] | true,
        with_vector: keys === true,
        ...(offset === undefined ? {} : { offset }),
      };
      const { points, next_page_offset: next } = await this.#post<{
        points: RawPoint[];
        next_page_offset?: Schemas['ExtendedPointId'] | null;
      }>('points/scroll', body);
      yield points.map(pointOf);
      offset = next ?? undefined;
    } while (offset !== undefined);
  }

  async write(operations: readonly Operation[]): Promise<void> {
    for (let from = 0; from < operations.length; from += CHUNK)
      await this.#post('points/batch?wait=true', { operations: operations.slice(from, from + CHUNK) });
  }
}

interface RawPoint {
  id: string | number;
  payload?: RawPayload | null;
  vector?: unknown;
}

const pointOf = ({ id, payload, vector }: RawPoint): Point => ({
  id: String(id),
  payload: payload ?? {},
  vector: Array.isArray(vector) ? Float32Array.from(vector as number[]) : undefined,
});

export const INDEXES: Record<string, 'keyword' | 'datetime'> = {
  agent: 'keyword',
  type: 'keyword',
  tags: 'keyword',
  created_at: 'datetime',
  changed_at: 'datetime',
  change_id: 'keyword',
};

/**
 * The first six keys are those of BMAD's own memory; its readers ignore the others. What was removed for good leaves a point
 * without a text, by which every other machine hears of it.
 */
export function payloadOf({ key, events }: Omit<Told, 'vector'>, project: string, changeId: string) {
  const now = new Date().toISOString();
  const { entry } = memoryOf(key, project, events) ?? {};
  return {
    text: entry?.text ?? '',
    agent: entry?.agent ?? '',
    type: key.type,
    tags: entry?.tags ?? [],
    project,
    created_at: entry?.createdAt ?? now,
    updated_at: entry?.updatedAt ?? now,
    revision: entry?.revision ?? 1,
    forgotten_at: entry === undefined ? now : (entry.forgottenAt ?? null),
    superseded: entry?.supersededAt !== undefined,
    superseded_by: entry?.supersededBy ?? null,
    superseded_at: entry?.supersededAt ?? null,
    /** All that was said about it, so that whoever finds it can go on from there. */
    lines: events.map((event) => lineJson(lineOf(event))),
    /** Identifies one write, and when it was. */
    change_id: changeId,
    changed_at: now,
  };
}

/** `embedder` is the space of the vector, empty for a memory that waits for one. */
export type RawPayload = Partial<
  Record<keyof ReturnType<typeof payloadOf> | 'embedder' | 'revisions', unknown>
>;

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Times without a zone are taken as the server takes them when it sorts: as UTC. */
export function timeOf(value: unknown): string | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  const time = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  return Number.isFinite(time) ? new Date(time).toISOString() : undefined;
}

/** What a point is known by from one look to the next: our own write, or the time that the kit's own tools write anew. */
export const versionOf = ({ change_id: change, changed_at: at, created_at: created }: RawPayload): string =>
  typeof change === 'string' && typeof at === 'string'
    ? `${at} ${change}`
    : `${THEIRS}${textOf(created) ?? ''}`;

/** Sorts before every time. */
export const THEIRS = '- ';
export const VERSION_KEYS: readonly string[] = ['change_id', 'changed_at', 'created_at'];

/**
 * What a point says, as lines: those that came with it, or for one of another program a single one that is made from the point
 * alone, so that all machines make the same.
 */
export function linesIn(key: MemoryKey, payload: RawPayload): Line[] {
  const of = entityOf(key);
  const said = Array.isArray(payload.lines) ? payload.lines.map(String) : [];
  const lines = said.flatMap((text) => readLine(text) ?? []).filter(({ events }) => isAbout(events, of));
  if (lines.length > 0) return lines;
  const createdAt = timeOf(payload.created_at) ?? new Date(0).toISOString();
  const at = timeOf(payload.updated_at) ?? createdAt;
  const data = present({
    text: textOf(payload.text) ?? '',
    agent: textOf(payload.agent) ?? '',
    tags: Array.isArray(payload.tags) ? payload.tags.filter((tag) => typeof tag === 'string') : [],
    createdAt,
    updatedAt: at,
    forgottenAt: timeOf(payload.forgotten_at),
    supersededBy: textOf(payload.superseded_by),
    supersededAt: timeOf(payload.superseded_at) ?? (payload.superseded === true ? createdAt : undefined),
    earlier: Array.isArray(payload.revisions) ? (payload.revisions as unknown[]).toReversed() : undefined,
  });
  const id = sha256(JSON.stringify([of, data])).slice(0, 24);
  return [lineOf({ of, after: [], do: 'moved', data, id, at, by: NO_ONE, machine: '', newer: false })];
}

const isAbout = (events: Line['events'], of: string): boolean => events.every((event) => event.of === of);
