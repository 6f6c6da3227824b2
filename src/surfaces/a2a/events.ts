import { formatSSEErrorEvent, formatSSEEvent, SSE_HEADERS } from '@a2a-js/sdk';

/** Sent while nothing happens, so that proxies do not take the connection for dead. */
const STILL_HERE = ':\n\n';
const STILL_HERE_MS = 15_000;

export interface EventStream {
  /** The first event, which is known already. */
  first: unknown;
  rest: AsyncGenerator<unknown, void, undefined>;
  /** How an error is reported; undefined if no one is left to receive it. */
  failed(error: unknown): object | undefined;
  /** Called once, however it ends. */
  ended(): void;
}

/** A stream of events for a client that listens until the end. */
export function eventResponse({ first, rest, failed, ended }: EventStream): Response {
  const encoder = new TextEncoder();
  let beat: NodeJS.Timeout | undefined;
  let isOver = false;
  // A client that leaves ends the stream, and then the wait for the next event fails too: that is one end.
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    clearInterval(beat);
    ended();
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(formatSSEEvent(first)));
      beat = setInterval(() => controller.enqueue(encoder.encode(STILL_HERE)), STILL_HERE_MS);
      beat.unref();
    },
    async pull(controller) {
      const next = await rest.next().catch((error: unknown) => ({ error }));
      if (isOver) return;
      if ('error' in next) {
        const told = failed(next.error);
        if (told !== undefined) controller.enqueue(encoder.encode(formatSSEErrorEvent(told)));
      } else if (next.done !== true) {
        controller.enqueue(encoder.encode(formatSSEEvent(next.value)));
        return;
      }
      over();
      controller.close();
    },
    cancel() {
      over();
      // Not awaited: what it waits for ends with the exchange.
      void rest.return().catch(() => undefined);
    },
  });
  return new Response(body, { headers: SSE_HEADERS });
}
