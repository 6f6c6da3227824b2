import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { kindOfHost } from './host-ways.ts';

/**
 * The lists from which hosts make slash commands: some read both before they have any, and some want them at once. They hang
 * on the content too, and on where the client works, which it is asked for: what was true here before is answered, and the client
 * hears if it no longer is.
 */
const PROMPTS = 'prompts/list';
const RESOURCES = 'resources/list';
export const LISTS = [PROMPTS, RESOURCES] as const;
export const TOOLS = 'tools/list';
/** Requests that every host begins with. But for the lists, their answers hang on the settings alone. */
const FIRST = new Set(['initialize', 'server/discover', TOOLS, ...LISTS]);
const LISTEN = 'subscriptions/listen';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
/** Both under `_meta`. */
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const SUBSCRIPTION_KEY = 'io.modelcontextprotocol/subscriptionId';

/** By what a client of the 2026 protocol asks to hear of changes. */
const CHANGES = { [PROMPTS]: 'promptsListChanged', [RESOURCES]: 'resourcesListChanged' } as const;

/** A longer list is for hosts that have time. */
const MOST_PAGES = 6;

type Fields = Record<string, unknown>;
const fields = (value: unknown): Fields => (value ?? {}) as Fields;

/** Under what the answer to a request is kept: for this client, and as it was made ready for all of its kind. */
export interface RequestKey {
  own: string;
  any: string;
}

/**
 * Names the first requests of one client. An answer hangs on the protocol, on whether the client shows apps, and on what it
 * calls itself. Nothing for a list whose client would not hear of changes: in the 2026 protocol one has to ask for that first.
 */
export function requestKeys(): (method: string, params: unknown) => RequestKey | undefined {
  let [isConnected, apps, client] = [false, '', ''];
  let wanted: Fields = {};
  return (method, params) => {
    const { _meta, protocolVersion, capabilities, clientInfo, cursor, notifications } = fields(params);
    const envelope = fields(_meta);
    const isModern = VERSION_KEY in envelope;
    if (method === 'initialize' || isModern) {
      const prefix = isModern ? 'io.modelcontextprotocol/' : '';
      const of = (value: unknown, name: string): unknown => (isModern ? envelope[`${prefix}${name}`] : value);
      apps = showsApps(of(capabilities, 'clientCapabilities')) ? ' apps' : '';
      const { name } = fields(of(clientInfo, 'clientInfo'));
      client = typeof name === 'string' ? name.slice(0, 100) : '';
      isConnected ||= !isModern;
    }
    const era = isModern ? String(envelope[VERSION_KEY]) : 'legacy';
    const isOfClient = method === PROMPTS || (method === TOOLS && isModern);
    const key = (more: string): RequestKey => {
      const name = `${method} ${era}${more}`;
      return {
        own: isOfClient ? `${name} ${client}` : name,
        any: isOfClient ? `${name} ${kindOfHost(client)}` : name,
      };
    };
    switch (method) {
      case 'initialize':
        return key(` ${String(protocolVersion)}`);
      case 'server/discover':
        return isModern ? key('') : undefined;
      case TOOLS:
        return cursor === undefined ? key(apps) : undefined;
      case LISTEN:
        wanted = fields(notifications);
        return isModern ? key(` ${JSON.stringify(notifications)}`) : undefined;
      case PROMPTS:
      case RESOURCES:
        return (isModern ? wanted[CHANGES[method]] === true : isConnected)
          ? key(typeof cursor === 'string' ? ` ${cursor}` : '')
          : undefined;
      default:
        return undefined;
    }
  };
}

/** The first answers of a connection: those that were given before the server was loaded, and those to keep. */
export interface FirstAnswers {
  /** What was given already, by the id of the request. */
  readonly given: Map<unknown, string>;
  /** What was answered to the same question before. */
  answerTo(key: RequestKey): string | undefined;
  /** The lists that hang on the content too: with a tool for each agent, so does that of the tools. */
  readonly ofContent: readonly string[];
  /** Everything that the first requests were answered with has come. */
  keep(answers: Record<string, string>): void | Promise<void>;
}

/** The line that gives a client what was answered before: the result of a request, or that it will hear of changes. */
export function earlyLine(method: string, id: string | number, answer: string): string {
  const [told, its] = [JSON.stringify(id), '{"jsonrpc":"2.0",'];
  return method === LISTEN
    ? `${its}"method":"${ACKNOWLEDGED}","params":{"notifications":${answer},"_meta":{"${SUBSCRIPTION_KEY}":${told}}}}\n`
    : `{"result":${answer},"jsonrpc":"2.0","id":${told}}\n`;
}

/**
 * Follows a connection from its first message to its lists. A request that was answered early is answered by
 * the server as well, so that its state is the same; that answer is not sent again.
 */
export class FirstRequests {
  readonly #early: FirstAnswers;
  readonly #keyOf = requestKeys();
  readonly #asked = new Map<unknown, { method: string; key: string }>();
  readonly #answers: Record<string, string> = {};
  /** Pages of lists that may go on. */
  readonly #pages: Readonly<Record<string, Record<string, string>>> = { [PROMPTS]: {}, [RESOURCES]: {} };
  #isNew = false;
  readonly #seen = new Set<string>();
  readonly #done = new Set<string>();
  #listening: unknown;

  constructor(early: FirstAnswers) {
    this.#early = early;
  }

  /** Takes note of a request; answers with what can be given to the client before the server has read anything. */
  received(message: JSONRPCMessage): string | undefined {
    if (this.#isOver || !('method' in message) || !('id' in message)) return undefined;
    const { method, id, params } = message;
    if (method === LISTEN) this.#listening = id;
    else if (!FIRST.has(method)) return undefined;
    const key = this.#keyOf(method, params);
    // A client that asks again has heard of a change.
    if (key === undefined || this.#seen.has(key.own)) return undefined;
    this.#seen.add(key.own);
    this.#asked.set(id, { method, key: key.own });
    const { ofContent, given } = this.#early;
    if (!ofContent.includes(method) || given.has(id)) return undefined;
    const answer = this.#early.answerTo(key);
    if (answer === undefined) return undefined;
    given.set(id, answer);
    return earlyLine(method, id, answer);
  }

  /** What a client is sent in place of this message, which it may have already; nothing if it is to be sent. */
  instead(message: JSONRPCMessage): string | undefined {
    if (this.#isOver) return undefined;
    const isAnswer = !('method' in message);
    if (!isAnswer && message.method !== ACKNOWLEDGED) return undefined;
    const id = isAnswer ? message.id : fields(message.params?.['_meta'])[SUBSCRIPTION_KEY];
    const [given, asked] = [this.#early.given.get(id), this.#asked.get(id)];
    this.#early.given.delete(id);
    this.#asked.delete(id);
    if (asked === undefined) return given === undefined ? undefined : '';
    const answer = isAnswer
      ? 'result' in message
        ? message.result
        : undefined
      : message.params?.['notifications'];
    const text = answer === undefined ? undefined : JSON.stringify(answer);
    if (text !== undefined && fields(answer)['nextCursor'] === undefined) this.#done.add(asked.method);
    if (text !== undefined) this.#keep(asked, text, given);
    if (given === undefined) return undefined;
    return this.#early.ofContent.includes(asked.method) && given !== text ? this.#changed(asked.method) : '';
  }

  /** Of a list that goes on, nothing is kept before its end has come. */
  #keep({ method, key }: { method: string; key: string }, text: string, given: string | undefined): void {
    const { [method]: pages = {} } = this.#pages;
    pages[key] = text;
    this.#isNew ||= given !== text;
    if (!this.#done.has(method)) return;
    if (Object.keys(pages).length <= MOST_PAGES) Object.assign(this.#answers, pages);
    if (!this.#isNew || !this.#done.has(TOOLS)) return;
    this.#isNew = false;
    void this.#early.keep({ ...this.#answers });
  }

  #changed(method: string): string {
    const params =
      this.#listening === undefined
        ? ''
        : `,"params":{"_meta":{"${SUBSCRIPTION_KEY}":${JSON.stringify(this.#listening)}}}`;
    return `{"jsonrpc":"2.0","method":"notifications/${method}_changed"${params}}\n`;
  }

  get #isOver(): boolean {
    return [TOOLS, ...LISTS].every((list) => this.#done.has(list)) && this.#early.given.size === 0;
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
