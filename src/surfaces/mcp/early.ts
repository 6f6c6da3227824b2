import type { JSONRPCMessage } from '@modelcontextprotocol/server';

/** Requests that every host begins with, and whose answers hang on the settings alone. */
const FIRST = new Set(['initialize', 'server/discover', 'tools/list']);
/**
 * The list from which hosts make slash commands, some of them only where it comes at once. It hangs on the content too, and
 * on where the client works, which it is asked for: what was true here before is answered, and the client hears if it
 * no longer is.
 */
export const PROMPTS = 'prompts/list';

/**
 * Under what the answers to the first requests of one client are kept. A list that says nothing of its client hangs on what
 * that client has said before: whether it shows apps, and what it is called. Nothing for a list of prompts in a connection
 * that has no beginning: its client would not hear of changes.
 */
export function requestKeys(): (method: string, params: unknown) => string {
  let [apps, client] = ['', ''];
  return (method, params) => {
    if (method === 'initialize') {
      const { capabilities, clientInfo } = (params ?? {}) as Record<string, unknown>;
      apps = showsApps(capabilities) ? ' apps' : '';
      client = ` ${String((clientInfo as { name?: unknown } | undefined)?.name)}`;
    }
    if (method === PROMPTS && client === '') return '';
    const more = method === 'tools/list' ? apps : method === PROMPTS ? client : '';
    // Of the list of prompts, hosts ask with empty parameters or with none.
    const asked = method === PROMPTS ? (params ?? {}) : params;
    return `${method} ${JSON.stringify(asked) ?? ''}${more}`;
  };
}

/** The first answers of a connection: those that were given before the server was loaded, and those to keep. */
export interface FirstAnswers {
  /** What was given already, by the id of the request. */
  readonly given: Map<unknown, string>;
  /** What was answered to the same questions before. */
  readonly kept: Readonly<Record<string, string>>;
  /** Everything that the first requests were answered with has come. */
  keep(answers: Record<string, string>): void | Promise<void>;
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
  readonly #seen = new Set<string>();
  readonly #done = new Set<string>();

  constructor(early: FirstAnswers) {
    this.#early = early;
  }

  /** Takes note of a request; answers with what can be given to the client before the server has read anything. */
  received(message: JSONRPCMessage): string | undefined {
    if (this.#isOver || !('method' in message) || !('id' in message)) return undefined;
    const { method, id, params } = message;
    // A client that asks again has heard of a change.
    if ((!FIRST.has(method) && method !== PROMPTS) || this.#seen.has(method)) return undefined;
    const key = this.#keyOf(method, params);
    if (key === '') return undefined;
    this.#seen.add(method);
    this.#asked.set(id, key);
    const kept = method === PROMPTS && !this.#early.given.has(id) ? this.#early.kept[key] : undefined;
    if (kept !== undefined) this.#early.given.set(id, kept);
    return kept;
  }

  /** Whether the client has this answer already, or has to hear that it is another one by now. */
  isGiven(message: JSONRPCMessage): boolean | 'otherwise' {
    if (this.#isOver || 'method' in message || !('id' in message)) return false;
    const { id } = message;
    const key = this.#asked.get(id);
    const given = this.#early.given.get(id);
    this.#early.given.delete(id);
    if (key === undefined) return given !== undefined;
    this.#asked.delete(id);
    const method = key.slice(0, key.indexOf(' '));
    this.#done.add(method);
    const text = 'result' in message ? JSON.stringify(message.result) : undefined;
    const isOther = given !== undefined && given !== text;
    // A list of prompts may be another one in the next session too; all else is wrong as a whole.
    if (isOther && method !== PROMPTS) this.#early.forget();
    if (text !== undefined) this.#answers[key] = text;
    const isNew = isOther ? method === PROMPTS : given === undefined && this.#done.has('tools/list');
    if (isNew && text !== undefined) void this.#early.keep(this.#answers);
    return given === undefined ? false : isOther && method === PROMPTS ? 'otherwise' : true;
  }

  get #isOver(): boolean {
    return this.#done.has('tools/list') && this.#done.has(PROMPTS) && this.#early.given.size === 0;
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
