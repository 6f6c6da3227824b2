import { randomUUID } from 'node:crypto';
import {
  WebStandardStreamableHTTPServerTransport,
  type McpServerFactory,
} from '@modelcontextprotocol/server';
import { refuseAsRpc } from '../../../base/http/http-refusals.ts';
import { BODY_LIMIT, sameCaller, whenOver, type Exchange } from '../../../base/http/http-route.ts';
import { authInfoOf } from '../callers.ts';
import { clientIn } from '../client-name.ts';
import { MADE_ROOM, openRequestsOf, SERVER_ENDED } from './last-words.ts';
import { makesRoom, type Held } from './session-room.ts';

const IDLE_MS = 30 * 60_000;
const CHECK_MS = 60_000;

/** The caller who opened it owns it: no other caller may use it. A stream for unsolicited messages keeps it open. */
interface Session extends Held {
  /** What its client calls itself. */
  client: string | undefined;
  handle(exchange: Exchange, message?: unknown): Promise<Response>;
  /** What has no answer yet gets these words. */
  close(words?: string): Promise<void>;
}

export interface Sessions {
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
  const timer = setInterval(() => {
    const since = Date.now() - IDLE_MS;
    for (const session of sessions.values())
      if (session.open === 0 && session.used < since) void session.close();
  }, CHECK_MS).unref();

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
      // Clients that vanish do not say goodbye: what they left makes room for others.
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
      await Promise.all([...sessions.values()].map((session) => session.close()));
    },
  };
}
