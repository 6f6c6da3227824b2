import type { JSONRPCMessage } from '@modelcontextprotocol/server';

/** Requests that every host begins with, and whose answers hang on the settings alone. */
const FIRST = new Set(['initialize', 'server/discover', 'tools/list']);

/**
 * Under what the answers to the first requests of one client are kept. A list of tools that says nothing of its client
 * hangs on what that client has said before: whether it shows apps.
 */
export function requestKeys(): (method: string, params: unknown) => string {
  let apps = '';
  return (method, params) => {
    if (method === 'initialize')
      apps = showsApps((params as { capabilities?: unknown } | undefined)?.capabilities) ? ' apps' : '';
    return `${method} ${JSON.stringify(params) ?? ''}${method === 'tools/list' ? apps : ''}`;
  };
}

/** The first answers of a connection: those that were given before the server was loaded, and those to keep. */
export interface FirstAnswers {
  /** What was given already, by the id of the request. */
  readonly given: Map<unknown, string>;
  /** Everything that the first requests were answered with has come. */
  keep(answers: Record<string, string>): void;
  /** What was given turned out to be wrong. */
  forget(): void;
}

/**
 * Follows a connection from its first message to its list of tools. A request that was answered early is answered by
 * the server as well, so that its state is the same; that answer is not sent again.
 */
export class FirstRequests {
  readonly #early: FirstAnswers;
  readonly #keyOf = requestKeys();
  readonly #asked = new Map<unknown, string>();
  readonly #answers: Record<string, string> = {};
  #over = false;

  constructor(early: FirstAnswers) {
    this.#early = early;
  }

  received(message: JSONRPCMessage): void {
    if (this.#over || !('method' in message) || !('id' in message)) return;
    if (FIRST.has(message.method)) this.#asked.set(message.id, this.#keyOf(message.method, message.params));
  }

  /** Whether the client has this answer already. */
  isGiven(message: JSONRPCMessage): boolean {
    if (this.#over || 'method' in message || !('id' in message)) return false;
    const { id } = message;
    const key = this.#asked.get(id);
    if (key === undefined) return this.#early.given.delete(id);
    this.#asked.delete(id);
    const given = this.#early.given.get(id);
    this.#early.given.delete(id);
    const text = 'result' in message ? JSON.stringify(message.result) : undefined;
    if (given !== undefined && given !== text) this.#early.forget();
    if (text !== undefined) this.#answers[key] = text;
    if (key.startsWith('tools/list')) {
      this.#over = this.#early.given.size === 0;
      if (given === undefined && text !== undefined) this.#early.keep(this.#answers);
    }
    return given !== undefined;
  }
}

/** The extension by which hosts show pages of servers, and what such a page is. */
const APPS_EXTENSION = 'io.modelcontextprotocol/ui';
export const APP_TYPE = 'text/html;profile=mcp-app';

/** Whether a client has said that it shows apps. To all others nothing of them is told. */
export function showsApps(capabilities: unknown): boolean {
  const { extensions } = (capabilities ?? {}) as { extensions?: Record<string, unknown> };
  const { mimeTypes } = (extensions?.[APPS_EXTENSION] ?? {}) as { mimeTypes?: unknown };
  return Array.isArray(mimeTypes) && mimeTypes.includes(APP_TYPE);
}
