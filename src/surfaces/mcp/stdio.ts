import type { Readable, Writable } from 'node:stream';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Context } from '../../operations/context.ts';
import { LineTransport } from './line-transport.ts';
import { mcpServerFactory } from './server.ts';

/** Serves one client over a pair of streams until either side ends. */
export function serveStreams(
  context: Context,
  input: Readable,
  output: Writable,
): { ended: Promise<void>; close(): Promise<void> } {
  const transport = new LineTransport(input, output);
  const handle = serveStdio(mcpServerFactory(context), {
    transport,
    onerror: (error) => context.log.info('protocol', { error: error.message }),
  });
  const ended = new Promise<void>((resolve) => {
    // serveStdio has set its own handler by now; the connection is over for both.
    const theirs = transport.onclose;
    transport.onclose = () => {
      theirs?.();
      resolve();
    };
  });
  return { ended, close: () => handle.close() };
}
