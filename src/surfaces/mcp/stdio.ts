import type { Readable, Writable } from 'node:stream';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Context } from '../../operations/context.ts';
import { createListening } from './listening.ts';
import { LineTransport } from './line-transport.ts';
import { mcpServerFactory } from './server.ts';

/** Serves one client over a pair of streams until either side ends. */
export function serveStreams(
  context: Context,
  input: Readable,
  output: Writable,
): { ended: Promise<void>; close(): Promise<void> } {
  const transport = new LineTransport(input, output);
  const listening = createListening();
  const handle = serveStdio(mcpServerFactory(context, { created: listening.created }), {
    transport,
    onerror: (error) => context.log.info('protocol', { error: error.message }),
  });
  // serveStdio has set its own handlers by now; they stay in charge.
  const received = transport.onmessage;
  transport.onmessage = (message, extra) => {
    listening.see(message);
    received?.(message, extra);
  };
  const ended = new Promise<void>((resolve) => {
    // The connection is over for both.
    const theirs = transport.onclose;
    transport.onclose = () => {
      theirs?.();
      resolve();
    };
  });
  return { ended, close: () => handle.close() };
}
