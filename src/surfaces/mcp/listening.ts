import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { Watch } from './watch.ts';

/**
 * Clients of the 2026 protocol name the resources they want to hear of in `subscriptions/listen`, which the SDK answers
 * without telling the server. This looks at the messages as they pass and keeps the watch informed. What it returns has
 * to be awaited before the message is delivered: until the watch knows what the resources hold, it would miss a change.
 */
export function followListeners(watch: Watch): (message: JSONRPCMessage) => Promise<void> | undefined {
  const wanted = new Map<string | number, readonly string[]>();
  const tell = (): Promise<void> => watch.follow([...new Set([...wanted.values()].flat())]);

  return (message) => {
    if (!('method' in message)) return undefined;
    if (message.method === 'subscriptions/listen' && 'id' in message) {
      const uris = urisIn(message.params);
      if (uris.length === 0) return undefined;
      wanted.set(message.id, uris);
      return tell();
    }
    if (message.method === 'notifications/cancelled') {
      const id: unknown = message.params?.['requestId'];
      if ((typeof id === 'string' || typeof id === 'number') && wanted.delete(id)) return tell();
    }
    return undefined;
  };
}

function urisIn(params: Readonly<Record<string, unknown>> | undefined): string[] {
  const filter = params?.['notifications'];
  if (typeof filter !== 'object' || filter === null) return [];
  const uris: unknown = 'resourceSubscriptions' in filter ? filter.resourceSubscriptions : undefined;
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : [];
}

/** Passes messages on in the order they come, each after what it has to wait for; at once where there is nothing. */
export function inTurn<M>(
  before: (message: M) => Promise<void> | undefined,
  deliver: (message: M) => void,
): (message: M) => void {
  let last: Promise<void> | undefined;
  let held = 0;
  return (message) => {
    const ready = before(message);
    if (ready === undefined && last === undefined) return deliver(message);
    last = afterBoth(last, ready, message);
  };

  async function afterBoth(
    earlier: Promise<void> | undefined,
    ready: Promise<void> | undefined,
    message: M,
  ): Promise<void> {
    held += 1;
    await Promise.allSettled([earlier, ready]);
    held -= 1;
    if (held === 0) last = undefined;
    deliver(message);
  }
}
