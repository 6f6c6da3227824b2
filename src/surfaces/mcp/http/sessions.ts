import { randomUUID } from 'node:crypto';
import { freemem, totalmem } from 'node:os';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  isJSONRPCRequest,
  type McpServerFactory,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import {
  BODY_LIMIT,
  type Caller,
  callerKey,
  type Exchange,
  refuseAsRpc,
  sameCaller,
  whenOver,
} from '../../../base/http/http-route.ts';
import { authInfoOf, clientIn } from '../requests.ts';

const IDLE_MS = 30 * 60_000;
/** Where memory is short, for those whose clients may come back in a moment. */
const SHORT_IDLE_MS = 60_000;
const CHECK_MS = 60_000;
/** Until then, nothing holds what has ended. */
const SETTLED_MS = 1_000;

/** The caller who opened it owns it: no other caller may use it. A stream for unsolicited messages keeps it open. */
interface Session extends Held {
  /** What its client calls itself. */
  client: string | undefined;
  handle(exchange: Exchange, message?: unknown): Promise<Response>;
  /** What has no answer yet gets these words. */
  close(words?: string): Promise<void>;
}

interface Sessions {
  /** How many are open. */
  count(): number;
  /** Their clients, by name, and when each was heard last; now, where a stream is open. */
  clients(): { name: string; last: number }[];
  /** What was sent is parsed already, where that was possible. */
  handle(exchange: Exchange, message: unknown): Promise<Response>;
  close(): Promise<void>;
}

/**
 * Clients of the 2025 protocol: `initialize` opens a session with a separate server, and the id in the header of later
 * requests leads back to it.
 */
export function createSessions(
  factory: McpServerFactory,
  most: number,
  onerror: (error: Error) => void,
): Sessions {
  const sessions = new Map<string, Session>();
  let giving: NodeJS.Timeout | undefined;
  /** Clients that vanish do not say goodbye. One that has not gets 404 with its next call, and initializes again. */
  function endSilent(): void {
    const isShort = isMemoryShort();
    const since = Date.now() - (isShort ? SHORT_IDLE_MS : IDLE_MS);
    const silent = [...sessions.values()].filter(({ open: held, used }) => held === 0 && used < since);
    for (const session of silent) void session.close();
    if (!isShort || silent.length === 0) return;
    clearTimeout(giving);
    giving = setTimeout(giveMemoryBack, SETTLED_MS).unref();
  }
  const timer = setInterval(endSilent, CHECK_MS).unref();

  async function open(exchange: Exchange, message: unknown): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: BODY_LIMIT,
      onsessioninitialized: (id) => void sessions.set(id, session),
    });
    transport.onerror = onerror;
    transport.onclose = () => void sessions.delete(transport.sessionId ?? '');
    const server = await factory({ era: 'legacy', requestInfo: exchange.request });
    const session: Session = {
      owner: exchange.caller,
      client: clientIn(message),
      open: 0,
      used: Date.now(),
      handle({ request, over, caller }, parsedBody) {
        session.open += 1;
        whenOver(over, () => {
          session.open -= 1;
          session.used = Date.now();
        });
        return transport.handleRequest(request, {
          authInfo: authInfoOf(caller),
          ...(parsedBody === undefined ? {} : { parsedBody }),
        });
      },
      async close(words = SERVER_ENDED) {
        await answerOpen(words);
        await server.close();
      },
    };
    await server.connect(transport);
    const answerOpen = openRequestsOf(transport);
    const response = await session.handle(exchange, message);
    // A client that has left meanwhile never learns the id.
    if (transport.sessionId === undefined || exchange.over.aborted) await session.close();
    return response;
  }

  return {
    count: () => sessions.size,
    clients: () =>
      [...sessions.values()].map(({ client, open: streams, used }) => ({
        name: client ?? '',
        last: streams > 0 ? Date.now() : used,
      })),
    async handle(exchange, message) {
      const id = exchange.request.headers.get('mcp-session-id');
      if (id !== null) {
        const session = sessions.get(id);
        return session !== undefined && sameCaller(session.owner, exchange.caller)
          ? session.handle(exchange, message)
          : refuseAsRpc(404, 'Session not found. Initialize again.');
      }
      if (exchange.request.method !== 'POST')
        return refuseAsRpc(
          400,
          'The header Mcp-Session-Id is missing. Use the one from the answer to initialize.',
        );
      endSilent();
      // What those have left who were there until a moment ago makes room for others.
      if (sessions.size >= most) {
        const ending = makesRoom([...sessions.values()], exchange.caller);
        if (ending === undefined)
          return refuseAsRpc(503, `All ${most} sessions are in use. Try again later.`, {
            'retry-after': '5',
          });
        await ending.close(MADE_ROOM);
      }
      return open(exchange, message);
    },
    async close() {
      clearInterval(timer);
      clearTimeout(giving);
      await Promise.all([...sessions.values()].map((session) => session.close()));
    },
  };
}

/** How much of the memory that this process may have it has before it is short, and what the machine has left then. */
const MUCH = 0.7;
const LITTLE = 0.05;

/** A unit and a container bound the process, Node its heap; without that, the machine is what there is. */
function isMemoryShort(): boolean {
  const all = totalmem();
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  const bound = Math.min(process.constrainedMemory() || all, all);
  return process.memoryUsage.rss() > bound * MUCH || used > limit * MUCH || freemem() < all * LITTLE;
}

/** Node keeps what was freed until it needs it again, and then only looks through a part of it. */
function giveMemoryBack(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
}

/** What decides which session makes room for another. */
export interface Held {
  owner: Caller;
  /** Exchanges that have not ended. */
  open: number;
  used: number;
}

/**
 * The session to close so that a caller can have a new one when all places are taken. It is one of the caller that has
 * the most: the new caller itself, if no one has more. So a flood from one caller never closes another's sessions. The
 * session that was silent longest goes first. If all of theirs are listening, an idle one of the new caller's goes; a
 * listening one goes only for a caller who has clearly fewer and nothing idle.
 */
export function makesRoom<S extends Held>(sessions: readonly S[], caller: Caller): S | undefined {
  const held = new Map<string | undefined, number>();
  for (const { owner } of sessions) held.set(callerKey(owner), (held.get(callerKey(owner)) ?? 0) + 1);
  const own = held.get(callerKey(caller)) ?? 0;
  const most = Math.max(...held.values());
  const bySilence = sessions.toSorted((a, b) => a.used - b.used);
  const ofMost = most > own ? bySilence.filter(({ owner }) => held.get(callerKey(owner)) === most) : [];
  const ofCaller = bySilence.filter(({ owner }) => callerKey(owner) === callerKey(caller));
  return [...ofMost, ...ofCaller].find(({ open }) => open === 0) ?? (most > own + 1 ? ofMost[0] : undefined);
}

/** A client that hears nothing waits until it gives up, which may take minutes. */
const SERVER_ENDED = 'The server shut down before this call finished. Call again.';
const MADE_ROOM =
  'This session was closed before this call finished, to make room for another. Initialize again.';
const errorFor = (id: RequestId, message = SERVER_ENDED) => ({
  jsonrpc: '2.0' as const,
  id,
  error: { code: -32_000, message },
});

/** Follows what a client of the 2025 protocol has asked on a connected transport; answers what is still open with an error. */
function openRequestsOf(
  transport: WebStandardStreamableHTTPServerTransport,
): (message: string) => Promise<void> {
  const open = new Set<RequestId>();
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    if (isJSONRPCRequest(message)) open.add(message.id);
    onmessage?.(message, extra);
  };
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!('method' in message) && message.id !== undefined) open.delete(message.id);
    return send(message, options);
  };
  return async (message) => {
    // One whose client has left has nowhere to go.
    await Promise.all([...open].map((id) => send(errorFor(id, message)).catch(() => undefined)));
  };
}

interface LastWords {
  /** The answer to a request of the 2026 protocol, which ends with an error if the server ends before. */
  follow(response: Response, message: unknown): Response;
  say(): void;
}

export function createLastWords(): LastWords {
  const open = new Set<() => void>();
  let said = false;
  return {
    follow(response, message) {
      const { id } = (message ?? {}) as { id?: unknown };
      if (typeof id !== 'string' && typeof id !== 'number') return response;
      // What the SDK makes of a request that was cut before there was anything to say.
      if (said && response.status === 499) return Response.json(errorFor(id), { status: 503 });
      const { body } = response;
      if (body === null || response.headers.get('content-type') !== 'text/event-stream') return response;
      const event = `event: message\ndata: ${JSON.stringify(errorFor(id))}\n\n`;
      return new Response(endable(body, new TextEncoder().encode(event), open), response);
    },
    say() {
      said = true;
      for (const end of open) end();
    },
  };
}

/** The same stream, which can be ended with a last piece. */
function endable(
  body: ReadableStream<Uint8Array>,
  last: Uint8Array,
  open: Set<() => void>,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let end = (): void => undefined;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      end = () => {
        open.delete(end);
        controller.enqueue(last);
        controller.close();
        void reader.cancel().catch(() => undefined);
      };
      open.add(end);
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (!open.has(end)) return;
      if (!done) return controller.enqueue(value);
      open.delete(end);
      controller.close();
    },
    cancel(reason) {
      open.delete(end);
      return reader.cancel(reason);
    },
  });
}
