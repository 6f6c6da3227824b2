import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { Watch } from './watch.ts';

/**
 * Clients of the 2026 protocol name the resources they want to hear of in `subscriptions/listen`, which the SDK answers
 * without telling the server. This looks at the messages as they pass and keeps the watch informed.
 */
export function createListening(): { see(message: JSONRPCMessage): void; created(watch: Watch): void } {
  const wanted = new Map<string | number, readonly string[]>();
  let current: Watch | undefined;
  const tell = (): void => void current?.follow([...new Set([...wanted.values()].flat())]);

  return {
    see(message) {
      if (!('method' in message)) return;
      if (message.method === 'subscriptions/listen' && 'id' in message) {
        const uris = urisIn(message.params);
        if (uris.length === 0) return;
        wanted.set(message.id, uris);
        tell();
      } else if (message.method === 'notifications/cancelled') {
        const id: unknown = message.params?.['requestId'];
        if ((typeof id === 'string' || typeof id === 'number') && wanted.delete(id)) tell();
      }
    },
    created(watch) {
      current = watch;
      if (wanted.size > 0) tell();
    },
  };
}

function urisIn(params: Readonly<Record<string, unknown>> | undefined): string[] {
  const filter = params?.['notifications'];
  if (typeof filter !== 'object' || filter === null) return [];
  const uris: unknown = 'resourceSubscriptions' in filter ? filter.resourceSubscriptions : undefined;
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : [];
}
