import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BmadError } from '../../base/errors.ts';
import { refuseAsProblem } from '../../base/http-refusals.ts';
import { BODY_LIMIT, matches, type Caller, type HttpRoute } from '../../base/http-route.ts';
import type { Log } from '../../base/log.ts';
import { reply, requestOf } from './exchange.ts';
import { ownOrigin, servedUnder } from './names.ts';

/** The only address it listens on: whoever can connect can read what the user can, and nobody is asked who they are. */
const ADDRESS = '127.0.0.1';

/** How long the ends of streams may take to reach their clients. */
const LAST_WORDS_MS = 300;

const NOBODY: Caller = { known: 'nobody', mayWrite: true };

export interface FrontDoor {
  /** Such as `http://127.0.0.1:2623`. */
  origin: string;
  ended: Promise<void>;
  close(): Promise<void>;
}

export interface FrontDoorOptions {
  /** 0 takes a free one. */
  port: number;
  routes: readonly HttpRoute[];
  log: Log;
}

/** One port for everything that is served over HTTP: checks who comes and how, and shows them to the right route. */
export async function openFrontDoor({ port, routes, log }: FrontDoorOptions): Promise<FrontDoor> {
  let origin = '';

  async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<Response> {
    const { headers, method = '', url = '' } = incoming;
    const path = url.split('?', 1)[0] ?? '';
    const route = routes.find((one) => matches(one, path));
    const refuse = route?.refuse ?? refuseAsProblem;
    if (!servedUnder(headers.host))
      return refuse(403, 'The header Host has to name this machine, e.g. 127.0.0.1.');
    if (!ownOrigin(headers.origin)) return refuse(403, 'Pages of other origins are not served.');
    if (route === undefined)
      return refuse(404, `There is nothing here. Served: ${routes.map((one) => one.path).join(', ')}.`);
    if (!route.methods.includes(method))
      return refuse(405, `Method not allowed. Allowed: ${route.methods.join(', ')}.`, {
        allow: route.methods.join(', '),
      });
    const over = new AbortController();
    outgoing.once('close', () => over.abort());
    const request = await requestOf(incoming, `${origin}${url}`, over.signal);
    if (request === undefined)
      return refuse(413, `A message may have at most ${BODY_LIMIT} bytes.`, { connection: 'close' });
    return route.handle({ request, path, caller: NOBODY, over: over.signal });
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
  origin = `http://${ADDRESS}:${await listen(http, port)}`;
  return {
    origin,
    ended,
    /** Running calls are aborted and streams end; a connection that does not is cut. */
    async close() {
      closing = true;
      http.close();
      const now = AbortSignal.timeout(LAST_WORDS_MS);
      now.addEventListener('abort', () => http.closeAllConnections());
      await Promise.all(routes.map(async (route) => route.close?.(now)));
      await ended;
    },
  };
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
