import { randomBytes } from 'node:crypto';
import {
  createMcpHandler,
  createRequestStateCodec,
  isLegacyRequest,
  type McpServerFactory,
  type RequestStateCodec,
  type ServerNotifier,
} from '@modelcontextprotocol/server';
import {
  BODY_LIMIT,
  callerKey,
  type Exchange,
  type HttpRoute,
  refuseAsRpc,
  whenOver,
} from '../../../base/http/http-route.ts';
import type { Context } from '../../../operations/context.ts';
import { broughtBy, tellOfRefusal } from '../../../operations/observed.ts';
import { mayRead } from '../../../operations/toolsets.ts';
import { createIdle, prewarmed } from '../idle.ts';
import { createListeners, isListening, isWanted, mayBeResource, NOTHING, wantedIn } from '../listening.ts';
import { authInfoOf, clientIn } from '../requests.ts';
import type { RoundState } from '../sampling.ts';
import { mcpServerFactory } from '../server.ts';
import { type Watch, watchChanges } from '../watch.ts';
import { createLastWords, createSessions } from './sessions.ts';

export interface McpRoute extends HttpRoute {
  /** Notifies listening clients of the 2026 protocol of changes; each client of 2025 has a separate server. */
  notify: ServerNotifier;
  /** How many sessions of clients of the 2025 protocol are open. */
  sessions(): number;
  /** Who has called of late, by name; clients of the 2025 protocol as long as their session is open. */
  clients(): { name: string; last: number }[];
}

interface McpRouteOptions {
  extend?(factory: McpServerFactory): McpServerFactory;
  /** Seals what clients carry from one request to the next; replicas need the same. */
  key?: Uint8Array | undefined;
  /** How many sessions of the 2025 protocol, and how many streams of the 2026 one, may be open at once. */
  sessions?: number;
  streams?: number;
}

const SESSIONS = 500;
const STREAMS = 500;

const JSON_TYPE = /application\/json/i;

/** Serves any number of clients of both protocol eras over Streamable HTTP. */
export function createMcpRoute(
  context: Context,
  { extend = (factory) => factory, key, sessions: kept = SESSIONS, streams = STREAMS }: McpRouteOptions = {},
): McpRoute {
  const { log } = context;
  const onerror = (error: Error): void => log.info('protocol', { error: error.message });
  const codec = stateCodec(key);
  // A server of the 2026 protocol lives for one request, so one watch speaks to all who listen.
  const idle = createIdle((error) => log.info('idle', { error: String(error) }));
  prewarmed(context, idle);
  const modern = createMcpHandler(extend(mcpServerFactory(context, { watchFor: () => watch, codec, idle })), {
    legacy: 'reject',
    maxRequestBodySize: BODY_LIMIT,
    maxSubscriptions: streams,
    onerror,
  });
  const watch: Watch = watchChanges(context, modern.notify);
  const listeners = createListeners(watch);
  const ending = new AbortController();
  const ofSession = mcpServerFactory(context, { codec, idle, ending: ending.signal });
  const sessions = createSessions(extend(ofSession), kept, onerror);
  const lastWords = createLastWords();
  const seen = createSeen();
  const calls = new Set<AbortSignal>();
  let allDone = (): void => undefined;

  /** A call is finished before the server ends; a stream has no end of its own. */
  function follow({ request, over }: Exchange, message: unknown): void {
    if (request.method !== 'POST' || isListening(message)) return;
    calls.add(over);
    whenOver(over, () => {
      calls.delete(over);
      if (calls.size === 0) allDone();
    });
  }

  return {
    path: '/mcp',
    methods: ['GET', 'POST', 'DELETE'],
    takesMessage: true,
    refuse: refuseAsRpc,
    notify: modern.notify,
    sessions: sessions.count,
    clients: () => [...sessions.clients(), ...seen.clients()].sort((a, b) => b.last - a.last),
    async handle(exchange) {
      const { request, message, over, caller } = exchange;
      idle.heard();
      // Before it is parsed: its depth was only checked if it claims to be JSON.
      if (request.method === 'POST' && !JSON_TYPE.test(request.headers.get('content-type') ?? ''))
        return refuseAsRpc(415, 'Send application/json.');
      // What could not be parsed is answered by the SDK.
      const parsed = message === undefined ? {} : { parsedBody: message };
      const legacy = await isLegacyRequest(request, message, { maxRequestBodySize: BODY_LIMIT });
      const writing = caller.challenge === undefined ? undefined : writingTool(message, context);
      if (writing !== undefined && caller.challenge !== undefined) {
        await tellOfRefusal(context, writing.name, broughtBy(caller), writing.arguments);
        return refuseAsRpc(403, 'This needs an access token that allows writing.', {
          'www-authenticate': caller.challenge,
        });
      }
      follow(exchange, legacy ? undefined : message);
      if (request.method === 'GET' || (!legacy && isListening(message))) {
        if (exchange.stays?.() === false)
          return refuseAsRpc(503, 'Too many streams are open. Close some of yours, or try again later.', {
            'retry-after': '5',
          });
      }
      if (legacy) return sessions.handle(exchange, message);
      seen.heard(message, isListening(message) ? over : undefined);
      const wanted = isListening(message) ? wantedIn(message) : NOTHING;
      const { uris } = wanted;
      if (!uris.every(mayBeResource))
        return refuseAsRpc(
          400,
          'Only resources with addresses such as bmad://… or skill://… can be subscribed to.',
        );
      const owner = callerKey(caller);
      if (!listeners.fits(uris, owner))
        return refuseAsRpc(503, 'Too many resources are subscribed to. Name fewer, or try again later.', {
          'retry-after': '5',
        });
      if (isWanted(wanted)) {
        const added = listeners.add(over, wanted, owner);
        whenOver(over, () => void listeners.remove(over));
        await added;
      }
      const heard = message === undefined ? request : new Request(request, { signal: over });
      const response = await modern.fetch(heard, { authInfo: authInfoOf(caller), ...parsed });
      return isListening(message) ? response : lastWords.follow(response, message);
    },
    running: () => calls.size,
    async close(now) {
      // The answer to a question would be a new request, and those are not taken any more.
      ending.abort();
      if (calls.size > 0)
        await new Promise<void>((resolve) => {
          allDone = resolve;
          whenOver(now, resolve);
        });
      idle.close();
      watch.close();
      lastWords.say();
      await Promise.all([modern.close(), sessions.close()]);
    },
  };
}

/**
 * The call of a tool that does nothing but write, where a message is one. A client that can ask its issuer for more then does so; any
 * other write is refused where it happens.
 */
function writingTool(
  message: unknown,
  { tools }: Context,
): { name: string; arguments?: unknown } | undefined {
  const { method, params } = (message ?? {}) as {
    method?: unknown;
    params?: { name?: unknown; arguments?: unknown };
  };
  const tool = method === 'tools/call' ? tools.fixed.find(({ name }) => name === params?.name) : undefined;
  return tool === undefined || mayRead(tool) ? undefined : { name: tool.name, arguments: params?.arguments };
}

/** Clients of the 2026 protocol have no session: who has said nothing for so long has left, unless it listens. */
const GONE_MS = 5 * 60_000;
const MOST = 100;

interface Seen {
  last: number;
  /** Streams of changes that are open. */
  streams: number;
}

/** The clients of the 2026 protocol that have called of late, by the name they give themselves. */
export function createSeen(now: () => number = Date.now) {
  const known = new Map<string, Seen>();

  function leaveOut(): void {
    const since = now() - GONE_MS;
    for (const [name, { last, streams }] of known) if (streams === 0 && last < since) known.delete(name);
  }

  return {
    /** A message has come; one that opens a stream keeps its client until that is over. */
    heard(message: unknown, stream?: AbortSignal): void {
      const name = clientIn(message);
      if (name === undefined) return;
      if (!known.has(name) && known.size >= MOST) leaveOut();
      const entry = known.get(name) ?? { last: 0, streams: 0 };
      if (!known.has(name) && known.size >= MOST) return;
      known.set(name, entry);
      entry.last = now();
      if (stream === undefined) return;
      entry.streams += 1;
      whenOver(stream, () => {
        entry.streams -= 1;
        entry.last = now();
      });
    },
    clients(): { name: string; last: number }[] {
      leaveOut();
      return [...known].map(([name, { last, streams }]) => ({ name, last: streams > 0 ? now() : last }));
    },
  };
}

const LIFE_SECONDS = 600;

/**
 * Seals what a client of the 2026 protocol carries from one round of a call to the next. State that was changed, is too
 * old, or belongs to another caller or another kind of call is refused. Replicas need the same key.
 */
export function stateCodec<T = RoundState>(key: Uint8Array = randomBytes(32)): RequestStateCodec<T> {
  return createRequestStateCodec<T>({
    key,
    ttlSeconds: LIFE_SECONDS,
    bind: ({ mcpReq, http }) => `${mcpReq.method}\0${http?.authInfo?.clientId ?? ''}`,
  });
}
