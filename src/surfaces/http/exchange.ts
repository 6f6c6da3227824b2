import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { BODY_LIMIT, type Exchange, whenOver } from '../../base/http/http-route.ts';
import { anyJson, badShape } from '../../base/parse/json.ts';

/** Whatever a route might take for it. */
const JSON_TYPE = /json/i;

export const CLIENT_LEFT = 'The client disconnected during a request.';

/** Bytes that are passed on in one piece: a client that reads them slowly still makes progress. */
const SLICE = 64 * 1024;

/** So long the head of an answer waits for what it is about. */
const HEAD_MS = 50;

/** So much of a body that is too long is read to its end, and for so long. */
const THROWN_AWAY = 8 * BODY_LIMIT;
const THROWN_AWAY_MS = 5_000;

interface Taken {
  checksShape: boolean;
  /** Whether a body that is a message is parsed here. */
  takesMessage: boolean;
  turn(): Promise<void>;
}

/**
 * A request of node in the web's own type, or the reason if its body is over a limit. One that has brought a message goes without body and
 * signal: both cost more than most calls.
 */
export async function requestOf(
  incoming: IncomingMessage,
  url: string,
  over: AbortSignal,
  { checksShape, takesMessage, turn }: Taken,
): Promise<Pick<Exchange, 'request' | 'message'> | { status: 400 | 413; why: string }> {
  const { method = 'GET' } = incoming;
  const body = method === 'GET' || method === 'HEAD' ? null : await bodyOf(incoming, over);
  // A long body is much to look at.
  if (body !== null) await turn();
  if (body === undefined) return { status: 413, why: `A message may be at most ${BODY_LIMIT} bytes.` };
  const json = body !== null && JSON_TYPE.test(incoming.headers['content-type'] ?? '') ? body : undefined;
  const bad = checksShape && json !== undefined ? badShape(json) : undefined;
  if (bad !== undefined) return { status: 400, why: bad };
  const message = takesMessage && json !== undefined ? messageIn(json) : undefined;
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  if (message !== undefined) return { request: new Request(url, { method, headers }), message };
  const sent = body?.length === 0 ? null : body;
  return { request: new Request(url, { method, headers, body: sent, signal: over }) };
}

function messageIn(body: Buffer): object | undefined {
  const message = anyJson(body.toString('utf8'));
  return typeof message === 'object' && message !== null ? message : undefined;
}

/** Whether a client says of its request that it is too long. */
export function saysTooLong({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) > BODY_LIMIT;
}

/**
 * Nothing, if it is too long. What still comes is thrown away first, within limits: a client that is cut while it sends
 * does not read why.
 */
async function bodyOf(incoming: IncomingMessage, over: AbortSignal): Promise<Buffer | undefined> {
  // Who waits for a word before sending has got none, and sends nothing.
  if (saysTooLong(incoming) && incoming.headers.expect !== undefined) return undefined;
  const pieces: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    const refused = (): void => resolve(undefined);
    let patience: NodeJS.Timeout | undefined;
    incoming.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size <= BODY_LIMIT) {
        pieces.push(piece);
        return;
      }
      pieces.length = 0;
      patience ??= setTimeout(refused, THROWN_AWAY_MS).unref();
      if (size > THROWN_AWAY) refused();
    });
    incoming.once('end', () => {
      clearTimeout(patience);
      resolve(size > BODY_LIMIT ? undefined : Buffer.concat(pieces));
    });
    const left = (): void => reject(new Error(CLIENT_LEFT));
    incoming.once('close', left);
    whenOver(over, left);
  });
}

/**
 * Writes the answer; a stream of events continues until either side ends it. No more is taken from the stream than the
 * client reads. A client that reads nothing for too long is cut off; one that reads slowly is not.
 */
export async function reply(response: Response, outgoing: ServerResponse, stalledMs: number): Promise<void> {
  if (outgoing.destroyed) {
    // The writer of this answer has to learn that no one reads it.
    await response.body?.cancel();
    return;
  }
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) {
    outgoing.end();
    return;
  }
  // A client that listens has to learn immediately that events will come; an answer mostly follows so soon that both are one packet.
  const head = setTimeout(() => outgoing.flushHeaders(), outgoing.req.method === 'GET' ? 0 : HEAD_MS);
  outgoing.once('close', () => clearTimeout(head));
  const reader = response.body.getReader();
  outgoing.once('close', () => void reader.cancel().catch(() => undefined));
  for (;;) {
    const { done, value } = await reader.read();
    clearTimeout(head);
    if (done || outgoing.destroyed) break;
    for (let start = 0; start < value.length && !outgoing.destroyed; start += SLICE)
      if (!outgoing.write(value.subarray(start, start + SLICE))) await before(stalledMs, 'drain', outgoing);
  }
  outgoing.end();
  await before(stalledMs, 'finish', outgoing);
}

/** Waits until the client has read; it is cut if that takes too long. */
function before(limitMs: number, event: 'drain' | 'finish', outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (outgoing.destroyed || outgoing.writableFinished) return resolve();
    const timer = setTimeout(() => outgoing.destroy(), limitMs).unref();
    const go = (): void => {
      clearTimeout(timer);
      outgoing.off(event, go).off('close', go);
      resolve();
    };
    outgoing.once(event, go).once('close', go);
  });
}

/** The connections of one address, the oldest first; guests have had a call admitted before. */
interface Waiting {
  address: string;
  strangers: Set<Socket>;
  guests: Set<Socket>;
}

/**
 * Connections over which no admitted call runs: nobody knows who is behind them. There is room for `most`, of which one
 * address gets half. For one more, another is closed: of the address that has its half, otherwise of the one with the most,
 * and there the one that has waited longest, guests last. A client that sends its request is through by then; one that only
 * holds connections loses its own.
 */
export function createDoorstep(most: number) {
  const addresses = new Map<string, Waiting>();
  const places = new Map<Socket, Waiting>();
  const calls = new Map<Socket, number>();

  function wait(socket: Socket, as: 'strangers' | 'guests'): void {
    if (socket.destroyed) return;
    const address = networkOf(socket.remoteAddress);
    const known = addresses.get(address);
    if (known !== undefined && sizeOf(known) >= Math.ceil(most / 2)) closeOldest(known);
    else if (places.size >= most) closeOldest(fullest());
    const own = addresses.get(address) ?? { address, strangers: new Set(), guests: new Set() };
    addresses.set(address, own);
    own[as].add(socket);
    places.set(socket, own);
  }

  function leave(socket: Socket): void {
    const own = places.get(socket);
    if (own === undefined) return;
    places.delete(socket);
    own.strangers.delete(socket);
    own.guests.delete(socket);
    if (sizeOf(own) === 0) addresses.delete(own.address);
  }

  function fullest(): Waiting | undefined {
    let found: Waiting | undefined;
    for (const own of addresses.values()) if (found === undefined || sizeOf(own) > sizeOf(found)) found = own;
    return found;
  }

  function closeOldest(own: Waiting | undefined): void {
    const [oldest] = own?.strangers.size === 0 ? own.guests : (own?.strangers ?? []);
    if (oldest === undefined) return;
    leave(oldest);
    oldest.destroy();
  }

  return {
    /** Someone has connected. */
    arrived(socket: Socket): void {
      wait(socket, 'strangers');
      socket.once('close', () => {
        calls.delete(socket);
        leave(socket);
      });
    },
    /** A call that came over it has been admitted. */
    admitted(socket: Socket): void {
      leave(socket);
      calls.set(socket, (calls.get(socket) ?? 0) + 1);
    },
    /** That call is over. */
    answered(socket: Socket): void {
      const left = (calls.get(socket) ?? 0) - 1;
      if (left > 0) calls.set(socket, left);
      else if (calls.delete(socket)) wait(socket, 'guests');
    },
  };
}

const sizeOf = ({ strangers, guests }: Waiting): number => strangers.size + guests.size;

/** A client that has one IPv6 address has the 2^64 beside it, so those count as one. */
export function networkOf(address = ''): string {
  const [four] = /\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.exec(address) ?? [];
  if (four !== undefined) return four;
  const [front = [], back] = address.split('::').map((part) => part.split(':').filter(Boolean));
  if (back === undefined) return front.slice(0, 4).join(':');
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0');
  return [...front, ...zeros, ...back].slice(0, 4).join(':');
}
