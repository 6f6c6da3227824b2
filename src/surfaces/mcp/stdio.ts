import type { Readable, Writable } from 'node:stream';
import type { Server, Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Context } from '../../operations/context.ts';
import { clientIn } from './requests.ts';
import type { FirstRequests } from './early.ts';
import { followListeners, inTurn } from './listening.ts';
import { LineTransport } from './line-transport.ts';
import { createIdle, prewarmed } from './idle.ts';
import { mcpServerFactory } from './server.ts';
import { ShortWay } from './short-way.ts';
import { notifierOf, watchChanges } from './watch.ts';

/** Serves one client over a pair of streams until either side ends. */
export function serveStreams(
  context: Context,
  input: Readable,
  output: Writable,
  first?: FirstRequests,
  used?: (client: string | undefined) => void,
): { ended: Promise<void>; close(): Promise<void> } {
  return serveTransport(context, new LineTransport(input, output, first), used);
}

/** So long after its first call, a client has its answer. */
const USED_MS = 500;

/** The same over any transport of the protocol. */
export function serveTransport(
  context: Context,
  transport: Transport & { left?: AbortSignal },
  /** Told once that a tool was called, some time after it, with the name of the client. */
  used?: (client: string | undefined) => void,
): { ended: Promise<void>; close(): Promise<void> } {
  let current: Server | undefined;
  let use: NodeJS.Timeout | undefined;
  const watch = watchChanges(
    context,
    notifierOf(() => current),
  );
  const idle = createIdle((error) => context.log.info('idle', { error: String(error) }));
  prewarmed(context, idle);
  const shortWay = new ShortWay(transport);
  const factory = mcpServerFactory(context, {
    idle,
    answers: (server, answer) => shortWay.serve(server, answer),
    ...(transport.left === undefined ? {} : { left: transport.left, ending: transport.left }),
    watchFor(server) {
      current = server;
      return watch;
    },
  });
  const handle = serveStdio(factory, {
    transport,
    onerror: (error) => context.log.info('protocol', { error: error.message }),
  });
  // serveStdio has set its own handlers by now; they stay in charge.
  const received = transport.onmessage;
  const follow = followListeners(watch, idle);
  transport.onmessage = inTurn(
    (message) => {
      idle.heard();
      if (used !== undefined && 'method' in message && message.method === 'tools/call')
        use ??= setTimeout(() => used(clientIn(message, current)), USED_MS).unref();
      return follow(message);
    },
    (message) => void (shortWay.takes(message) || received?.(message)),
  );
  const ended = new Promise<void>((resolve) => {
    // The connection is over for both.
    const theirs = transport.onclose;
    transport.onclose = () => {
      shortWay.close();
      idle.close();
      clearTimeout(use);
      watch.close();
      theirs?.();
      resolve();
    };
  });
  return { ended, close: () => handle.close() };
}
