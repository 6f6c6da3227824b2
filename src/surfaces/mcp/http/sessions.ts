import { randomUUID } from 'node:crypto';
import {
  WebStandardStreamableHTTPServerTransport,
  type McpServerFactory,
} from '@modelcontextprotocol/server';
import { refuseAsRpc } from '../../../base/http-refusals.ts';
import { BODY_LIMIT, sameCaller, whenOver, type Caller, type Exchange } from '../../../base/http-route.ts';
import { authInfoOf } from '../callers.ts';

const IDLE_MS = 30 * 60_000;
const CHECK_MS = 60_000;

interface Session {
  /** Whoever opened it: nobody else may use it. */
  owner: Caller;
  handle(exchange: Exchange): Promise<Response>;
  close(): Promise<void>;
  /** Exchanges that have not ended, such as the stream for what the server says by itself. */
  open: number;
  used: number;
}

export interface Sessions {
  /** How many are open. */
  count(): number;
  handle(exchange: Exchange): Promise<Response>;
  close(): Promise<void>;
}

/**
 * Clients of the 2025 protocol: `initialize` opens a session with a server of its own, and the id in the header of
 * later requests leads back to it.
 */
export function createSessions(
  factory: McpServerFactory,
  most: number,
  onerror: (error: Error) => void,
): Sessions {
  const sessions = new Map<string, Session>();
  const idle = (): [string, Session][] =>
    [...sessions].filter(([, session]) => session.open === 0).sort(([, a], [, b]) => a.used - b.used);
  const timer = setInterval(() => {
    const since = Date.now() - IDLE_MS;
    for (const [, session] of idle()) if (session.used < since) void session.close();
  }, CHECK_MS).unref();

  async function open(exchange: Exchange): Promise<Response> {
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
      open: 0,
      used: Date.now(),
      handle({ request, over, caller }) {
        session.open += 1;
        whenOver(over, () => {
          session.open -= 1;
          session.used = Date.now();
        });
        return transport.handleRequest(request, { authInfo: authInfoOf(caller) });
      },
      close: () => server.close(),
    };
    await server.connect(transport);
    const response = await session.handle(exchange);
    // A client that has left meanwhile never learns the id.
    if (transport.sessionId === undefined || exchange.over.aborted) await session.close();
    return response;
  }

  return {
    count: () => sessions.size,
    async handle(exchange) {
      const id = exchange.request.headers.get('mcp-session-id');
      if (id !== null) {
        const session = sessions.get(id);
        return session !== undefined && sameCaller(session.owner, exchange.caller)
          ? session.handle(exchange)
          : refuseAsRpc(404, 'There is no such session. Initialize again.');
      }
      if (exchange.request.method !== 'POST')
        return refuseAsRpc(
          400,
          'The header Mcp-Session-Id is missing. It comes with the answer to initialize.',
        );
      // Clients that vanish do not say goodbye: the one that was silent longest makes room for a new one.
      if (sessions.size >= most) {
        const oldest = idle()[0];
        if (oldest === undefined)
          return refuseAsRpc(503, `All ${most} sessions are in use. Try again later.`, {
            'retry-after': '5',
          });
        await oldest[1].close();
      }
      return open(exchange);
    },
    async close() {
      clearInterval(timer);
      await Promise.all([...sessions.values()].map((session) => session.close()));
    },
  };
}
