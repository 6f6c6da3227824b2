import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** One HTTP exchange as the SDK wants it, with a signal for the end of the connection. */
export interface Exchange {
  request: Request;
  /** Fires when the exchange is over, however it ended. */
  over: AbortSignal;
}

/** A body of more bytes than this is answered with 413 and not read to its end. */
export const BODY_LIMIT = 4 * 1024 * 1024;

/** Nothing, if the body is over the limit. */
export async function exchangeOf(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  url: string,
): Promise<Exchange | undefined> {
  const over = new AbortController();
  outgoing.once('close', () => over.abort());
  const body = incoming.method === 'POST' ? await bodyOf(incoming) : null;
  if (body === undefined) return undefined;
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  return {
    request: new Request(url, { method: incoming.method ?? 'GET', headers, body, signal: over.signal }),
    over: over.signal,
  };
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

/** An answer to what never became a message: JSON-RPC has no id for it. */
export function refusal(status: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, { status, headers });
}
