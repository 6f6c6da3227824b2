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
const INITIALIZE = 'initialize';
const DISCOVER = 'server/discover';
const LISTEN = 'subscriptions/listen';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const CANCELLED = 'notifications/cancelled';
/** All of them under `_meta`. */
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
const CLIENT_KEY = 'io.modelcontextprotocol/clientInfo';
const SUBSCRIPTION_KEY = 'io.modelcontextprotocol/subscriptionId';
/** What may stand there too and is typed; no host says it before it has the lists. */
const SELDOM = ['io.modelcontextprotocol/related-task', 'io.modelcontextprotocol/logLevel'];

/** By what a client of the 2026 protocol asks to hear of changes. */
const CHANGES: Readonly<Record<string, string>> = {
  [TOOLS]: 'toolsListChanged',
  [PROMPTS]: 'promptsListChanged',
  [RESOURCES]: 'resourcesListChanged',
};

/** A longer list is for hosts that have time. */
const MOST_PAGES = 6;

type Fields = Record<string, unknown>;
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isId = (value: unknown): value is string | number =>
  typeof value === 'string' || Number.isSafeInteger(value);

/** A request, which the server takes as one too. */
interface Request {
  jsonrpc: '2.0';
  id: string | number;
  method: string;
  params?: Fields;
}

function isRequest(message: unknown): message is Request {
  if (!isFields(message)) return false;
  const { jsonrpc, id, method, params = {}, ...more } = message;
  const isPlain = jsonrpc === '2.0' && isId(id) && typeof method === 'string' && isFields(params);
  return isPlain && Object.keys(more).length === 0;
}

/** The same, with nothing else beside it that the protocol says what it has to be. */
export const isPlainRequest = (message: unknown): message is Request =>
  isRequest(message) && (message.params?.['_meta'] === undefined || isMeta(message.params['_meta']));

/** It asks for nothing, and the server has nothing to do about it either. */
export const isInitialized = (message: unknown): boolean =>
  isFields(message) && message['method'] === 'notifications/initialized' && !('id' in message);

/** Who asks, of which an answer may depend. */
interface Client {
  isModern: boolean;
  version: string;
  name: string;
  apps: boolean;
}

/** A client that says of itself what the protocol demands. What hosts do not say is left to the server, which reads it to the letter. */
function clientOf(
  isModern: boolean,
  version: unknown,
  capabilities: unknown,
  info: unknown,
): Client | undefined {
  if (typeof version !== 'string' || !isFields(info) || !isFields(capabilities)) return undefined;
  const { name, version: release } = info;
  if (typeof name !== 'string' || typeof release !== 'string') return undefined;
  if (!Object.values(info).every((value) => typeof value === 'string')) return undefined;
  const { experimental = {}, extensions = {}, ...others } = capabilities;
  const isFree = (value: unknown): boolean => isFields(value) && Object.values(value).every(isFields);
  if (!isFree(experimental) || !isFree(extensions) || !isOfObjects(others)) return undefined;
  return { isModern, version, name: name.slice(0, 100), apps: showsApps(capabilities) };
}

/** What a capability is made of: these are true or false, all others are objects, and none lies deeper. */
const FLAGS = new Set(['listChanged', 'applyDefaults']);
const MOST_LEVELS = 5;
const isOfObjects = (value: unknown, levels = MOST_LEVELS): boolean =>
  levels > 0 &&
  isFields(value) &&
  Object.entries(value).every(([name, part]) =>
    FLAGS.has(name) ? typeof part === 'boolean' : isOfObjects(part, levels - 1),
  );

export function isMeta(meta: unknown): meta is Fields {
  if (!isFields(meta) || SELDOM.some((key) => key in meta)) return false;
  const { progressToken } = meta;
  return progressToken === undefined || isId(progressToken);
}

/** Under what the answer to a request is kept: for this client, and as it was made ready for all of its kind. */
interface RequestKey {
  own: string;
  any: string;
}

/** What was answered to the same questions before. */
export interface EarlierAnswers {
  /** An empty one is a mark: what was given for this went wrong. */
  answerTo(key: RequestKey): string | undefined;
  keep(answers: Record<string, string>): void;
}

interface Asked {
  method: string;
  key: string;
  /** What the client has been given for it. */
  given?: string;
}

/**
 * Follows a connection from its first message to its lists, at first without a server. A request that was answered early is
 * answered by the server as well, so that its state is the same; that answer is not sent again. Its fields are private to the compiler only:
 * this is in the one file that every Node has to be able to read, where others become maps.
 */
export class FirstRequests {
  private isServed = false;
  private ofContent: readonly string[] = LISTS;
  private isOfHere = async (): Promise<boolean> => true;
  private readonly earlier: EarlierAnswers;
  private client: Client | undefined;
  /** By the id of the request, the lists of which it wants to hear. */
  private readonly listeners = new Map<unknown, Fields>();
  private readonly asked = new Map<unknown, Asked>();
  private readonly seen = new Set<string>();
  /** Lists whose end was given. */
  private readonly given = new Set<string>();
  private readonly answers: Record<string, string> = {};
  /** Pages of lists that may go on. */
  private readonly pages: Record<string, Record<string, string>> = {};
  private isNew = false;
  private readonly done = new Set<string>();

  constructor(earlier: EarlierAnswers) {
    this.earlier = earlier;
  }

  /**
   * The server is there, and says which lists hang on the content (with a tool for each agent, so does that of the tools), and
   * whether those that it answers are for the folder that it was started in.
   */
  serve(ofContent: readonly string[], isOfHere: () => Promise<boolean>): void {
    this.isServed = true;
    this.ofContent = ofContent;
    this.isOfHere = isOfHere;
  }

  /** Takes note of a message; answers with what can be given to the client before the server has read anything. */
  received(message: unknown): string | undefined {
    if (this.isOver) return undefined;
    if (isFields(message) && message['method'] === CANCELLED && isFields(message['params']))
      this.listeners.delete(message['params']['requestId']);
    // What was asked before the server was there comes a second time.
    if (!isRequest(message) || this.asked.has(message.id)) return undefined;
    const { id, method, params = {} } = message;
    const client = this.clientOf(method, params);
    const key = client && this.keyOf(client, method, params);
    // A client that asks the server again has heard of a change.
    if (key === undefined || (this.isServed && this.seen.has(key.own))) return undefined;
    this.seen.add(key.own);
    if (method === LISTEN) this.listeners.set(id, params['notifications'] as Fields);
    const asked: Asked = { method, key: key.own };
    this.asked.set(id, asked);
    const answer = this.earlier.answerTo(key);
    if (!answer) return undefined;
    asked.given = answer;
    if (!hasMore(answer)) this.given.add(method);
    return earlyLine(method, id, answer);
  }

  /** The lists that could be given to this client, should it ask for them. */
  get expected(): readonly string[] {
    const client = this.client;
    const isKept = (list: string): boolean => {
      const key = client && this.keyOf(client, list, {});
      return key !== undefined && Boolean(this.earlier.answerTo(key));
    };
    return [TOOLS, ...LISTS.filter(isKept)].filter((list) => !this.given.has(list));
  }

  /** Who sends this: in the protocol of 2026 each request says so, and one connection speaks one of them. */
  private clientOf(method: string, params: Fields): Client | undefined {
    const { _meta: meta = {}, protocolVersion, capabilities, clientInfo } = params;
    if (!isMeta(meta)) return undefined;
    const isModern = VERSION_KEY in meta;
    if (this.client !== undefined && this.client.isModern !== isModern) return undefined;
    if (!isModern && (method !== INITIALIZE || this.client !== undefined)) return this.client;
    const nobody = { name: '', version: '' };
    const client = isModern
      ? clientOf(true, meta[VERSION_KEY], meta[CAPABILITIES_KEY], meta[CLIENT_KEY] ?? nobody)
      : clientOf(false, protocolVersion, capabilities, clientInfo);
    // After this one, a client may still choose the other protocol.
    if (method !== DISCOVER) this.client = client ?? this.client;
    return client;
  }

  /**
   * An answer hangs on the protocol, on whether the client shows apps, and on what it calls itself. Nothing for a list whose
   * client would not hear of changes: in the 2026 protocol one has to ask for that first.
   */
  private keyOf(client: Client, method: string, { cursor, notifications }: Fields): RequestKey | undefined {
    const { isModern, version, name, apps } = client;
    const key = (more: string, isOfClient = false): RequestKey => {
      const begin = `${method} ${isModern ? version : 'legacy'}${more}`;
      return isOfClient
        ? { own: `${begin} ${name}`, any: `${begin} ${kindOfHost(name)}` }
        : { own: begin, any: begin };
    };
    switch (method) {
      case INITIALIZE:
      case DISCOVER:
        return isModern === (method === DISCOVER) ? key(isModern ? '' : ` ${version}`) : undefined;
      case LISTEN:
        if (!isModern || !isFields(notifications)) return undefined;
        if (!Object.values(notifications).every((value) => typeof value === 'boolean')) return undefined;
        return key(` ${JSON.stringify(notifications)}`);
      case TOOLS:
        return cursor === undefined ? key(apps ? ' apps' : '', isModern) : undefined;
      case PROMPTS:
      case RESOURCES:
        if (isModern && this.listenersTo(method).length === 0) return undefined;
        if (cursor === undefined) return key('', method === PROMPTS);
        return typeof cursor === 'string' ? key(` ${cursor}`, method === PROMPTS) : undefined;
      default:
        return undefined;
    }
  }

  private listenersTo(method: string): unknown[] {
    const name = CHANGES[method] ?? '';
    return [...this.listeners].filter(([, wanted]) => wanted[name] === true).map(([id]) => id);
  }

  /** What a client is sent in place of this message, which it may have already; nothing if it is to be sent. */
  instead(message: JSONRPCMessage): string | undefined {
    if (this.isOver) return undefined;
    const isAnswer = !('method' in message);
    if (!isAnswer && message.method !== ACKNOWLEDGED) return undefined;
    const id = isAnswer ? message.id : message.params?.['_meta']?.[SUBSCRIPTION_KEY];
    const asked = this.asked.get(id);
    if (asked === undefined) return undefined;
    this.asked.delete(id);
    const answer = isAnswer
      ? 'result' in message
        ? message.result
        : undefined
      : message.params?.['notifications'];
    const text = answer === undefined ? undefined : JSON.stringify(answer);
    if (text !== undefined) this.keep(asked, text);
    if (asked.given === undefined) return undefined;
    return this.ofContent.includes(asked.method) && asked.given !== text ? this.changed(asked.method) : '';
  }

  /**
   * Of a list that goes on, nothing is kept before its end has come. A client that does not want to know its end, or one that goes on too
   * long, would be given the same wrong page at every start: then there is a mark in its place.
   */
  private keep({ method, key, given }: Asked, text: string): void {
    const pages = (this.pages[method] ??= {});
    pages[key] = text;
    this.isNew ||= given !== text;
    if (!hasMore(text)) this.done.add(method);
    const isWhole = this.done.has(method) && Object.keys(pages).length <= MOST_PAGES;
    const [first = key] = Object.keys(pages);
    if (isWhole) Object.assign(this.answers, pages);
    else if (given !== undefined && given !== text) this.answers[first] = '';
    if (!this.isNew || !this.done.has(TOOLS) || !(key in this.answers)) return;
    this.isNew = false;
    void this.keepAll({ ...this.answers });
  }

  /** A list that comes from the content stays where it is that of this folder: a client that works elsewhere may do so somewhere else next time. */
  private async keepAll(answers: Record<string, string>): Promise<void> {
    const others = Object.entries(answers).filter(
      ([key]) => !this.ofContent.includes(key.split(' ', 1)[0] ?? ''),
    );
    this.earlier.keep(Object.fromEntries(others));
    if (others.length < Object.keys(answers).length && (await this.isOfHere())) this.earlier.keep(answers);
  }

  private changed(method: string): string {
    const line = (params: string): string =>
      `{"jsonrpc":"2.0","method":"notifications/${method}_changed"${params}}\n`;
    if (this.client?.isModern !== true) return line('');
    return this.listenersTo(method)
      .map((id) => line(`,"params":{"_meta":{"${SUBSCRIPTION_KEY}":${JSON.stringify(id)}}}`))
      .join('');
  }

  private get isOver(): boolean {
    return [TOOLS, ...LISTS].every((list) => this.done.has(list)) && this.asked.size === 0;
  }
}

const hasMore = (answer: string): boolean =>
  (JSON.parse(answer) as { nextCursor?: unknown }).nextCursor !== undefined;

/** The line that gives a client what was answered before: the result of a request, or that it will hear of changes. */
function earlyLine(method: string, id: string | number, answer: string): string {
  const [told, its] = [JSON.stringify(id), '{"jsonrpc":"2.0",'];
  return method === LISTEN
    ? `${its}"method":"${ACKNOWLEDGED}","params":{"notifications":${answer},"_meta":{"${SUBSCRIPTION_KEY}":${told}}}}\n`
    : `{"result":${answer},"jsonrpc":"2.0","id":${told}}\n`;
}

/** The extension by which hosts show pages of servers, and what such a page is. */
const APPS_EXTENSION = 'io.modelcontextprotocol/ui';
export const APP_TYPE = 'text/html;profile=mcp-app';

/** Whether a client has said that it shows apps. To all others nothing of them is told. */
export function showsApps(capabilities: unknown): boolean {
  const { extensions } = (capabilities ?? {}) as { extensions?: Fields };
  const { mimeTypes } = (extensions?.[APPS_EXTENSION] ?? {}) as { mimeTypes?: unknown };
  return Array.isArray(mimeTypes) && mimeTypes.includes(APP_TYPE);
}
