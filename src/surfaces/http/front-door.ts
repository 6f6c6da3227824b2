import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, Server as SocketServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as round, setTimeout as pause } from 'node:timers/promises';
import { BmadError } from '../../base/errors.ts';
import {
  type Caller,
  callerKey,
  type HttpRoute,
  matches,
  type Refuse,
  refuseAsProblem,
} from '../../base/http/http-route.ts';
import { createShares, type Turn } from '../../base/http/turns.ts';
import type { Log } from '../../base/log.ts';
import { speaking } from '../../base/text/message.ts';
import { CLIENT_LEFT, createDoorstep, reply, requestOf, saysTooLong } from './exchange.ts';
import { openGate, type Gate } from './gate.ts';
import { createRefusals, type Refusal, type ToldRefusal } from './refusals.ts';
import { inUrl, notServedUnder, ownOrigin, servedUnder, socketPlace } from './names.ts';

/** How long the ends of streams may take to reach their clients. */
const LAST_WORDS_MS = 300;

/** Nothing that is served without a token can write. */
const ANYBODY: Caller = { known: 'anonymous', mayWrite: false };

export interface FrontDoor {
  /** Such as `http://127.0.0.1:2623`. */
  origin: string;
  ended: Promise<void>;
  /** How many calls have no answer yet. */
  running(): number;
  /** Keeps serving for the time of the limit, but reports when asked that it will stop. */
  drain(): Promise<void>;
  /** Finishes what runs, as long as the limit allows; then ends streams and connections. */
  close(): Promise<void>;
}

export interface FrontDoorOptions {
  /** The address to listen on; without it, only this machine can connect. */
  host?: string;
  /** 0 takes a free one. */
  port: number;
  routes: readonly HttpRoute[];
  log: Log;
  /** Identifies callers; without it, anyone is served. */
  gate?: Gate;
  /** Additional host names the server is served under. */
  names?: readonly string[];
  /** Origins whose pages may call. */
  origins?: readonly string[];
  limits?: Partial<Limits>;
  /** Addresses of proxies in front of this server. */
  proxies?: readonly string[];
  /** Hears of each request that was not admitted. */
  refused?: (reason: Refusal) => void;
  /** Hears of all of them together, at most once a minute. */
  toldRefusals?: (refusals: readonly ToldRefusal[]) => void;
  /** Folders of projects that refusals may name. */
  projects?: readonly string[];
  /** Callers take turns; without it, what comes is looked at when it comes. */
  turn?: Turn | undefined;
}

/** One port for everything that is served over HTTP: checks who comes and how, and shows them to the right route. */
export async function openFrontDoor({
  host = '127.0.0.1',
  port,
  routes,
  log,
  gate = openGate,
  names = [],
  origins = [],
  limits: given = {},
  turn,
  proxies = [],
  refused,
  toldRefusals,
  projects,
}: FrontDoorOptions): Promise<FrontDoor> {
  const limits: Limits = { ...USUAL_LIMITS, ...given };
  const served = { host, allowed: names };
  const pages = pageRules(origins);
  const open = new Map<ServerResponse, HttpRoute | undefined>();
  const room = createRoom(limits);
  const doorstep = createDoorstep(limits.waiting);
  const refusals = createRefusals({ log, proxies, refused, told: toldRefusals, projects });
  let origin = '';
  let closing = false;
  let draining = false;

  /** One for all: each would note where it was made, which takes longer than to tell of it. */
  const left = new DOMException(CLIENT_LEFT, 'AbortError');

  const isTooLate = (route: HttpRoute | undefined): boolean => closing && route?.whileEnding !== true;

  async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<Response> {
    const { headers, method = '', url = '', rawHeaders } = incoming;
    const path = pathOf(url);
    const route = routes.find((one) => matches(one, path));
    const refuse = route?.refuse ?? refuseAsProblem;
    if (isTooLate(route)) return aboutToEnd(refuse);
    if (rawHeaders.length > 2 * limits.headers)
      return refuse(431, `A request may have at most ${limits.headers} headers.`, { connection: 'close' });
    if ((incoming.headersDistinct['host']?.length ?? 0) > 1)
      return refuse(400, 'A request must have exactly one Host header.', { connection: 'close' });
    if (!servedUnder(headers.host, served)) return refuse(403, notServedUnder(headers.host));
    if (!ownOrigin(headers.origin, served) && !pages.allows(headers.origin))
      return refuse(
        403,
        'Requests from other origins are not allowed. List allowed origins in allow_origins.',
      );
    if (route === undefined) return refuse(404, `Not found. Available: ${shownPaths(routes)}.`);
    const preflight = pages.preflight(method, headers, route.methods);
    if (preflight !== undefined) return preflight;
    if (!route.methods.includes(method)) {
      const allow = ((await route.methodsAt?.(path)) ?? route.methods).join(', ');
      return refuse(405, `Method not allowed. Allowed: ${allow}.`, { allow });
    }
    // Before anything is awaited: a client may leave at any time, and leaves only once.
    const over = new AbortController();
    outgoing.once('close', () => over.abort(left));
    // Nothing that a program gets is said in the words of a person, whoever has started the server.
    const words = await gate.wordsFor?.(headers);
    return speaking(words, () => admitted(route, incoming, outgoing, over.signal), true);
  }

  async function admitted(
    route: HttpRoute,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    over: AbortSignal,
  ): Promise<Response> {
    const { headers, method = '', url = '' } = incoming;
    const { refuse } = route;
    const caller =
      route.open === true ? ANYBODY : await gate.admit(headers.authorization, { method, headers });
    if (over.aborted) throw new Error(CLIENT_LEFT);
    if ('status' in caller) {
      const { status, message, headers: more } = refusals.answer(caller, incoming);
      return refuse(status, message, more);
    }
    const turned = refusals.bounded(caller, route.part, incoming);
    if (turned !== undefined) return refuse(turned.status, turned.message, turned.headers);
    // Only now is it known whose share it is; so no caller, however slowly it sends, shuts out another.
    if (route.open !== true && !room.enter(outgoing, caller)) {
      refusals.count('unavailable', incoming, caller);
      const why = `Too many requests are open; the limit for all clients is ${limits.requests}. Try again.`;
      return refuse(503, why, { 'retry-after': '1' });
    }
    if (route.open !== true) {
      doorstep.admitted(incoming.socket);
      outgoing.once('close', () => doorstep.answered(incoming.socket));
    }
    // Unknown callers are told apart by their sessions; those without one have no one to take turns with.
    const key = callerKey(caller) ?? incoming.headers['mcp-session-id']?.toString();
    const taken = await requestOf(incoming, `${origin}${url}`, over, {
      checksShape: route.checksDepth !== true,
      takesMessage: route.takesMessage === true,
      turn: async () => (key === undefined ? undefined : turn?.(key)),
    });
    if ('why' in taken) return refuse(taken.status, taken.why, { connection: 'close' });
    // A request that did not arrive completely is not a call, and no one has waited for it.
    if (isTooLate(route)) return aboutToEnd(refuse);
    open.set(outgoing, route);
    const stays = (): boolean => room.stay(outgoing, caller);
    const { localAddress, localPort } = incoming.socket;
    const place = socketPlace(localAddress, localPort);
    return route.handle({ ...taken, path: pathOf(url), caller, place, over, stays });
  }

  function takeIn(incoming: IncomingMessage, outgoing: ServerResponse): void {
    open.set(outgoing, undefined);
    if (draining) outgoing.shouldKeepAlive = false;
    outgoing.once('close', () => {
      open.delete(outgoing);
      room.leave(outgoing);
      if (closing) http.closeIdleConnections();
    });
    respond(incoming, outgoing)
      .then((response) => reply(pages.opened(response, incoming.headers.origin), outgoing, limits.stalledMs))
      .catch((error: unknown) => {
        // A client that has left needs no answer; anything else is ended rather than left hanging.
        log.info('http', { error: withoutAddress(error, incoming.url ?? '') });
        if (outgoing.headersSent) outgoing.destroy();
        else outgoing.writeHead(500).end();
      });
  }

  const http = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headerMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keptMs,
      connectionsCheckingInterval: Math.min(1_000, limits.headerMs),
    },
    takeIn,
  );
  // A client that asks before it sends learns immediately that the body is too large.
  http.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (!saysTooLong(incoming)) outgoing.writeContinue();
    takeIn(incoming, outgoing);
  });
  // More than node would take are counted, so that they are refused and not dropped.
  http.maxHeadersCount = 0;
  http.on('connection', (socket) => doorstep.arrived(socket));
  // Each call and each stream has a connection at most, so this is the last resort.
  http.maxConnections = limits.waiting + limits.requests + limits.streams + 1;
  answerBrokenRequests(http);
  const ended = new Promise<void>((resolve) => void http.once('close', resolve));
  // A connection that could not be taken, for want of file handles, must not end the server.
  http.on('error', (error) => log.info('http', { error: error.message }));
  origin = `http://${inUrl(host)}:${await listen(http, host, port)}`;

  const exchangesOf = (route: HttpRoute): ServerResponse[] =>
    [...open].flatMap(([outgoing, its]) => (its === route ? [outgoing] : []));

  /** For a route that has no end of its own: waits for its exchanges. */
  async function finished(route: HttpRoute, now: AbortSignal): Promise<void> {
    const exchanges = exchangesOf(route);
    // Each wait is one more listener of the signal, and there are many routes.
    if (exchanges.length === 0) return;
    const all = Promise.all(
      exchanges.map((outgoing) => new Promise<void>((resolve) => void outgoing.once('close', resolve))),
    );
    await Promise.race([all, fired(now)]);
  }

  return {
    origin,
    ended,
    running: () => routes.reduce((sum, route) => sum + (route.running?.() ?? exchangesOf(route).length), 0),
    async drain() {
      // Load balancers learn that they should send no more clients, before the listener is closed.
      for (const route of routes) route.ending?.();
      // Nobody sends another request over a connection that is about to end.
      draining = true;
      for (const outgoing of open.keys()) if (!outgoing.headersSent) outgoing.shouldKeepAlive = false;
      if (limits.drainMs === 0) return;
      await pause(limits.drainMs);
      // What has come is still answered. Right after the loop has taken in who waits at the door, nobody is left there.
      await round();
      SocketServer.prototype.close.call(http);
      await pause(LAST_CALLS_MS);
      const begun = [...open.keys()].map(
        (outgoing) => new Promise<void>((resolve) => void outgoing.once('close', resolve)),
      );
      // Streams have no end of their own, and the time for all of it is given out already.
      await Promise.race([Promise.all(begun), pause(LAST_CALLS_MS)]);
    },
    async close() {
      for (const route of routes) route.ending?.();
      closing = true;
      http.close();
      const now = AbortSignal.timeout(limits.shutdownMs);
      await Promise.all(routes.map((route) => route.close?.(now) ?? finished(route, now)));
      // What has been answered may still be on its way.
      const cut = setTimeout(() => http.closeAllConnections(), LAST_WORDS_MS);
      await ended;
      refusals.close();
      clearTimeout(cut);
    },
  };
}

/** A proxy has sent by then what it sent before it noticed. */
const LAST_CALLS_MS = 250;

const pathOf = (url: string): string => url.split('?', 1)[0] ?? '';

/** What went wrong, without what the client has put into the address: that may be a token. */
function withoutAddress(error: unknown, url: string): string {
  const message = error instanceof Error ? error.message : String(error);
  return url.length > 1 ? message.replaceAll(url, '…') : message;
}

const aboutToEnd = (refuse: Refuse): Response =>
  refuse(503, 'The server is shutting down. Connect again.', { connection: 'close' });

/** The same place with and without a slash at its end is named once. */
function shownPaths(routes: readonly HttpRoute[]): string {
  return routes
    .map(({ path }) => path)
    .filter((path) => !path.endsWith('/'))
    .join(', ');
}

function fired(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function listen(http: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => reject(notListening(host, port, error));
    http.once('error', failed);
    http.listen(port, host, () => {
      http.off('error', failed);
      resolve();
    });
  });
  return (http.address() as AddressInfo).port;
}

const ADDRESS_TROUBLE = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL', 'EAFNOSUPPORT']);

function notListening(host: string, port: number, error: NodeJS.ErrnoException): BmadError {
  const code = error.code ?? 'unknown';
  if (ADDRESS_TROUBLE.has(code))
    return new BmadError('unavailable', `This machine cannot listen on ${inUrl(host)} (${code}).`, {
      hint: 'Use one of this machine’s addresses with --host; 0.0.0.0 means all of them.',
      cause: error,
    });
  const taken = code === 'EADDRINUSE' ? ' It is in use.' : '';
  return new BmadError('unavailable', `Cannot use port ${port} on ${host} (${code}).${taken}`, {
    hint: 'Choose another port with --port, or let the system choose one with --port 0.',
    cause: error,
  });
}

/** What never became a request, by the code of node's parser. */
const ANSWERS: Record<string, [status: string, detail: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too long.'],
};

const BROKEN: [string, string] = ['400 Bad Request', 'Malformed HTTP request.'];

/** Answers what node could not read, or did not get in time, and cuts the connection. */
function answerBrokenRequests(http: Server): void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  http.prependListener('request', (incoming, outgoing) => void latest.set(incoming.socket, outgoing));
  http.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const answering = latest.get(socket);
    const midAnswer = answering !== undefined && answering.headersSent && !answering.writableFinished;
    if (!socket.writable || midAnswer || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const [status, detail] = ANSWERS[error.code ?? ''] ?? BROKEN;
    const number = Number(status.slice(0, 3));
    const body = JSON.stringify({ type: 'about:blank', title: status.slice(4), status: number, detail });
    const head = `HTTP/1.1 ${status}\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}`;
    socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`, () => socket.destroy());
  });
}

/** How long a browser may cache the answer. */
const MAX_AGE_S = 600;

const EXPOSED =
  'mcp-session-id, mcp-protocol-version, www-authenticate, retry-after, etag, link, idempotency-replayed';

/** Lets pages of the origins that were allowed by name call the server; without any, browsers get nothing from it. */
function pageRules(origins: readonly string[]) {
  const known = new Set(origins.map((origin) => new URL(origin).origin));
  const allows = (origin: string | undefined): origin is string => origin !== undefined && known.has(origin);
  return {
    allows,
    /** The question of a browser before the request proper; nothing, if it is something else. */
    preflight(
      method: string,
      headers: IncomingHttpHeaders,
      methods: readonly string[],
    ): Response | undefined {
      const asked = headers['access-control-request-method'];
      if (method !== 'OPTIONS' || asked === undefined || !allows(headers.origin)) return undefined;
      return new Response(null, {
        status: 204,
        headers: {
          'access-control-allow-methods': methods.join(', '),
          // Whatever the page wants to send is checked when it comes.
          'access-control-allow-headers':
            headers['access-control-request-headers'] ?? 'authorization, content-type',
          'access-control-max-age': String(MAX_AGE_S),
        },
      });
    },
    /** Lets the page read the answer. */
    opened(response: Response, origin: string | undefined): Response {
      if (known.size > 0) response.headers.append('vary', 'origin');
      if (!allows(origin)) return response;
      response.headers.set('access-control-allow-origin', origin);
      response.headers.set('access-control-expose-headers', EXPOSED);
      return response;
    },
  };
}

/** What one server bears; more is refused, slower is cut. */
interface Limits {
  /** Calls that may be open at once. */
  requests: number;
  /** Streams that may be open at once; what is served without a token is in neither number. */
  streams: number;
  /** Connections that may be open at once without a call that was admitted; for one more, another is closed. */
  waiting: number;
  /** Bytes and number of headers. */
  headerBytes: number;
  headers: number;
  /** Time for the headers to come, and for the whole request. */
  headerMs: number;
  requestMs: number;
  /** How long a connection is kept for the next request: longer than clients and proxies usually want to use it again. */
  keptMs: number;
  /** How long a client may go without reading what it was sent. */
  stalledMs: number;
  /** How long the server keeps serving after a stop signal, so that load balancers notice in time. */
  drainMs: number;
  /** How long what runs may take to finish when the server ends. */
  shutdownMs: number;
}

const USUAL_LIMITS: Limits = {
  requests: 1_000,
  streams: 1_000,
  // Above what the system hands over at once, so that one that has just come is looked at before it can be closed.
  waiting: 2_000,
  headerBytes: 16_384,
  headers: 100,
  headerMs: 10_000,
  requestMs: 60_000,
  keptMs: 75_000,
  stalledMs: 30_000,
  drainMs: 0,
  shutdownMs: 10_000,
};

/** How many exchanges are open: calls and streams are counted separately, so that listeners do not shut out callers. */
function createRoom({ requests, streams: most }: Limits) {
  const calls = createShares<object>(requests);
  const streams = createShares<object>(most);
  return {
    /** Takes a place among the calls; `false` where there is none, or where the caller has its share of them. */
    enter: (who: object, caller: Caller): boolean => calls.take(who, callerKey(caller)),
    /** Goes over to the streams; `false` where there are enough, or where the caller has its share of them. */
    stay(who: object, caller: Caller): boolean {
      if (!streams.take(who, callerKey(caller))) return false;
      calls.giveBack(who);
      return true;
    },
    leave(who: object): void {
      calls.giveBack(who);
      streams.giveBack(who);
    },
  };
}
