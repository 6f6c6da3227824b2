import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createMcpHandler,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
  type McpServerFactory,
  type ServerNotifier,
} from '@modelcontextprotocol/server';
import { BmadError } from '../../../base/errors.ts';
import type { Context } from '../../../operations/context.ts';
import { createListeners, urisListenedFor } from '../listening.ts';
import { mcpServerFactory } from '../server.ts';
import { watchChanges } from '../watch.ts';
import { BODY_LIMIT, exchangeOf, refusal, reply, type Exchange } from './exchange.ts';
import { createSessions } from './sessions.ts';

/** The only address it listens on: whoever can connect can read what the user can, and nobody is asked who they are. */
const ADDRESS = '127.0.0.1';

/** How long the ends of streams may take to reach their clients. */
const LAST_WORDS_MS = 300;

const PATH = '/mcp';
const METHODS = ['GET', 'POST', 'DELETE'];

export interface HttpServing {
  url: string;
  /** Tells clients of the 2026 protocol that listen what has changed; those of 2025 have a server of their own. */
  notify: ServerNotifier;
  ended: Promise<void>;
  close(): Promise<void>;
}

export interface HttpOptions {
  /** 0 takes a free one. */
  port: number;
  /** Puts something around the servers that are made; the tests of conformance do. */
  extend?: (factory: McpServerFactory) => McpServerFactory;
}

/** Serves any number of clients of both protocol eras over Streamable HTTP, on this machine only. */
export async function serveHttp(
  context: Context,
  { port, extend = (factory) => factory }: HttpOptions,
): Promise<HttpServing> {
  const { log } = context;
  const onerror = (error: Error): void => log.info('protocol', { error: error.message });
  // A server of the 2026 protocol lives for one request, so one watch speaks to all who listen.
  const modern = createMcpHandler(extend(mcpServerFactory(context, { watchFor: () => undefined })), {
    legacy: 'reject',
    maxRequestBodySize: BODY_LIMIT,
    onerror,
  });
  const watch = watchChanges(context, modern.notify);
  const listeners = createListeners(watch);
  const sessions = createSessions(extend(mcpServerFactory(context)), onerror);
  let url = '';

  async function answer({ request, over }: Exchange): Promise<Response> {
    const legacy = await isLegacyRequest(request, undefined, { maxRequestBodySize: BODY_LIMIT });
    if (legacy) return sessions.handle({ request, over });
    const uris = urisListenedFor(
      await request
        .clone()
        .json()
        .catch(() => undefined),
    );
    if (uris.length > 0) {
      over.addEventListener('abort', () => void listeners.remove(over));
      await listeners.add(over, uris);
    }
    return modern.fetch(request);
  }

  async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<Response> {
    const refused = refusalOf(incoming);
    if (refused !== undefined) return refused;
    const exchange = await exchangeOf(incoming, outgoing, url);
    return exchange === undefined
      ? refusal(413, `A message may have at most ${BODY_LIMIT} bytes.`, { connection: 'close' })
      : answer(exchange);
  }

  let closing = false;
  const http = createServer((incoming, outgoing) => {
    outgoing.once('close', () => closing && http.closeIdleConnections());
    respond(incoming, outgoing)
      .then((response) => reply(response, outgoing))
      .catch((error: unknown) => {
        // A client that has left needs no answer; anything else is ended rather than left hanging.
        log.info('http', { error: error instanceof Error ? error.message : String(error) });
        if (outgoing.headersSent) outgoing.destroy();
        else outgoing.writeHead(500).end();
      });
  });
  const ended = new Promise<void>((resolve) => void http.once('close', resolve));
  url = `http://${ADDRESS}:${await listen(http, port)}${PATH}`;
  return {
    url,
    notify: modern.notify,
    ended,
    /** Running calls are aborted and streams end; a connection that does not is cut. */
    async close() {
      closing = true;
      http.close();
      setTimeout(() => http.closeAllConnections(), LAST_WORDS_MS).unref();
      watch.close();
      await Promise.all([modern.close(), sessions.close()]);
      await ended;
    },
  };
}

/**
 * What no client of ours would send. A page in a browser can reach this machine too, under a name of its own that
 * leads here; it cannot choose the headers Host and Origin.
 */
function refusalOf({ headers, method = '', url = '' }: IncomingMessage): Response | undefined {
  const host = validateHostHeader(headers.host, localhostAllowedHostnames());
  if (!host.ok) return refusal(403, 'The header Host has to name this machine, e.g. 127.0.0.1.');
  const origin = validateOriginHeader(headers.origin, localhostAllowedOrigins());
  if (!origin.ok) return refusal(403, 'Pages of other origins are not served.');
  if (url.split('?', 1)[0] !== PATH) return refusal(404, `There is only ${PATH}.`);
  if (!METHODS.includes(method)) return refusal(405, 'Method not allowed.', { allow: METHODS.join(', ') });
  return undefined;
}

async function listen(http: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new BmadError(
          'unavailable',
          `Port ${port} of ${ADDRESS} cannot be used (${error.code ?? 'unknown'}).`,
          {
            hint: 'Name another one with --port, or let the system choose with --port 0.',
            cause: error,
          },
        ),
      ),
    );
    http.listen(port, ADDRESS, resolve);
  });
  return (http.address() as AddressInfo).port;
}
