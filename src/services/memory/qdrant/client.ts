import { setTimeout as pause } from 'node:timers/promises';
import { BmadError } from '../../../base/errors.ts';

export interface QdrantAddress {
  url: string;
  apiKey?: string | undefined;
  /** For one attempt; a call may take several. */
  timeoutMs?: number | undefined;
}

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
    super(`Qdrant answered ${status}: ${reason}`);
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
      throw this.#failure('does not respond like a Qdrant server', 'Check the server’s address.', error);
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
              ? 'takes too long to respond'
              : 'does not respond',
            'Check that the server is running and the address is correct. No memories are lost; they are on that server.',
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
        status === 401 ? 'requires a key' : 'rejects the key',
        'Set BMAD_QDRANT_API_KEY to a key with read and write access.',
      );
    if (PASSING.has(status))
      return this.#failure(`returned an error (${status})`, 'Check that server’s log, then try again.');
    return new QdrantRefusal(status, answer.slice(0, 500));
  }

  #failure(what: string, hint: string, cause?: unknown): BmadError {
    return new BmadError('unavailable', `Qdrant at ${this.place} ${what}.`, {
      subject: this.place,
      hint,
      cause,
    });
  }
}

function address(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && ['http:', 'https:'].includes(url.protocol)) return url;
  throw new BmadError('invalid_input', 'The Qdrant address is not an http or https URL.', {
    hint: 'Use a form such as http://localhost:6333 or https://cluster.example:6333.',
  });
}

export function isRefusal(error: unknown, ...statuses: number[]): boolean {
  return error instanceof QdrantRefusal && statuses.includes(error.status);
}
