import {
  createMcpHandler,
  isLegacyRequest,
  type McpServerFactory,
  type ServerNotifier,
} from '@modelcontextprotocol/server';
import { refuseAsRpc } from '../../../base/http-refusals.ts';
import { BODY_LIMIT, type HttpRoute } from '../../../base/http-route.ts';
import type { Context } from '../../../operations/context.ts';
import { createListeners, urisListenedFor } from '../listening.ts';
import { mcpServerFactory } from '../server.ts';
import { watchChanges } from '../watch.ts';
import { createSessions } from './sessions.ts';

export interface McpRoute extends HttpRoute {
  /** Tells clients of the 2026 protocol that listen what has changed; those of 2025 have a server of their own. */
  notify: ServerNotifier;
}

/** Serves any number of clients of both protocol eras over Streamable HTTP. */
export function createMcpRoute(
  context: Context,
  extend: (factory: McpServerFactory) => McpServerFactory = (factory) => factory,
): McpRoute {
  const { log } = context;
  const onerror = (error: Error): void => log.info('protocol', { error: error.message });
  // A server of the 2026 protocol lives for one request, so one watch speaks to all who listen.
  const modern = createMcpHandler(extend(mcpServerFactory(context, { watchFor: () => undefined })), {
    legacy: 'reject',
    maxRequestBodySize: BODY_LIMIT,
    onerror,
  });
  const watch = watchChanges(context, modern.notify);
  const listeners = createListeners(watch);
  const sessions = createSessions(extend(mcpServerFactory(context)), onerror);

  return {
    path: '/mcp',
    methods: ['GET', 'POST', 'DELETE'],
    refuse: refuseAsRpc,
    notify: modern.notify,
    async handle(exchange) {
      const { request, over } = exchange;
      const legacy = await isLegacyRequest(request, undefined, { maxRequestBodySize: BODY_LIMIT });
      if (legacy) return sessions.handle(exchange);
      const uris = urisListenedFor(
        await request
          .clone()
          .json()
          .catch(() => undefined),
      );
      if (uris.length > 0) {
        over.addEventListener('abort', () => void listeners.remove(over));
        await listeners.add(over, uris);
      }
      return modern.fetch(request);
    },
    async close() {
      watch.close();
      await Promise.all([modern.close(), sessions.close()]);
    },
  };
}
