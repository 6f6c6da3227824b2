import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { BODY_LIMIT } from '../../base/http-route.ts';

/** A request of node in the web's own type; nothing, if its body is over the limit. */
export async function requestOf(
  incoming: IncomingMessage,
  url: string,
  over: AbortSignal,
): Promise<Request | undefined> {
  const body = incoming.method === 'POST' ? await bodyOf(incoming) : null;
  if (body === undefined) return undefined;
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  return new Request(url, { method: incoming.method ?? 'GET', headers, body, signal: over });
}

/** Nothing, if it is too long. What still comes is thrown away, so that the client gets to read the refusal. */
async function bodyOf(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let size = Number(incoming.headers['content-length'] ?? 0) > BODY_LIMIT ? Infinity : 0;
  return new Promise((resolve, reject) => {
    incoming.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size > BODY_LIMIT) resolve(undefined);
      else pieces.push(piece);
    });
    incoming.once('end', () => resolve(size > BODY_LIMIT ? undefined : Buffer.concat(pieces)));
    incoming.once('close', () => reject(new Error('The client has left in the middle of a request.')));
    if (size > BODY_LIMIT) resolve(undefined);
  });
}

/** Writes the answer; a stream of events goes on until either side ends it. */
export async function reply(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) {
    outgoing.end();
    return;
  }
  // A client that waits for events has to learn at once that they will come.
  outgoing.flushHeaders();
  await pipeline(Readable.fromWeb(response.body), outgoing);
}
