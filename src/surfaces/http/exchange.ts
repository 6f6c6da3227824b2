import type { IncomingMessage, ServerResponse } from 'node:http';
import { BODY_LIMIT, whenOver } from '../../base/http/http-route.ts';
import { badShape } from '../../base/parse/json-shape.ts';

/** Whatever a route might take for it. */
const JSON_TYPE = /json/i;

export const CLIENT_LEFT = 'The client disconnected during a request.';

/** Bytes that are passed on in one piece: a client that reads them slowly still makes progress. */
const SLICE = 64 * 1024;

/** So much of a body that is too long is read to its end, and for so long. */
const THROWN_AWAY = 8 * BODY_LIMIT;
const THROWN_AWAY_MS = 5_000;

/** A request of node in the web's own type; why not, if its body is over a limit. */
export async function requestOf(
  incoming: IncomingMessage,
  url: string,
  over: AbortSignal,
  { checksShape, turn }: { checksShape: boolean; turn(): Promise<void> },
): Promise<Request | { status: 400 | 413; message: string }> {
  const { method = 'GET' } = incoming;
  const body = method === 'GET' || method === 'HEAD' ? null : await bodyOf(incoming, over);
  // A long body is much to look at.
  if (body !== null) await turn();
  if (body === undefined) return { status: 413, message: `A message may be at most ${BODY_LIMIT} bytes.` };
  const bad =
    checksShape && body !== null && JSON_TYPE.test(incoming.headers['content-type'] ?? '')
      ? badShape(body)
      : undefined;
  if (bad !== undefined) return { status: 400, message: bad };
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  return new Request(url, { method, headers, body: body?.length === 0 ? null : body, signal: over });
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
  // A client that waits for events has to learn immediately that they will come.
  outgoing.flushHeaders();
  const reader = response.body.getReader();
  outgoing.once('close', () => void reader.cancel().catch(() => undefined));
  for (;;) {
    const { done, value } = await reader.read();
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
