import {
  isJSONRPCRequest,
  type RequestId,
  type WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

/** A client that hears nothing waits until it gives up, which may take minutes. */
export const SERVER_ENDED = 'The server shut down before this call finished. Call again.';
export const MADE_ROOM =
  'This session was closed before this call finished, to make room for another. Initialize again.';
const errorFor = (id: RequestId, message = SERVER_ENDED) => ({
  jsonrpc: '2.0' as const,
  id,
  error: { code: -32_000, message },
});

/** Follows what a client of the 2025 protocol has asked on a connected transport; answers what is still open with an error. */
export function openRequestsOf(
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

export interface LastWords {
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
