import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { Watch } from './watch.ts';

/** Who wants to hear of which resources; the watch follows all of them together. */
export interface Listeners {
  /** Has to be awaited before the request is answered: until the watch knows what they hold, it would miss a change. */
  add(who: unknown, uris: readonly string[]): Promise<void>;
  remove(who: unknown): Promise<void> | undefined;
}

export function createListeners(watch: Watch): Listeners {
  const wanted = new Map<unknown, readonly string[]>();
  const tell = (): Promise<void> => watch.follow([...new Set([...wanted.values()].flat())]);
  return {
    add(who, uris) {
      wanted.set(who, uris);
      return tell();
    },
    remove: (who) => (wanted.delete(who) ? tell() : undefined),
  };
}

/**
 * Clients of the 2026 protocol name the resources they want to hear of in `subscriptions/listen`, which the SDK answers
 * without telling the server. This looks at the messages of one client as they pass and keeps the watch informed. What
 * it returns has to be awaited before the message is delivered.
 */
export function followListeners(watch: Watch): (message: JSONRPCMessage) => Promise<void> | undefined {
  const listeners = createListeners(watch);
  return (message) => {
    if (!('method' in message)) return undefined;
    const uris = urisListenedFor(message);
    if (uris.length > 0 && 'id' in message) return listeners.add(message.id, uris);
    return message.method === 'notifications/cancelled'
      ? listeners.remove(message.params?.['requestId'])
      : undefined;
  };
}

/** The resources a message asks to hear of; none in any other message. */
export function urisListenedFor(message: unknown): string[] {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: Record<string, unknown> };
  return method === 'subscriptions/listen' ? urisIn(params) : [];
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
