import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { MOST_FOLLOWED, type Watch } from './watch.ts';

/** Who wants to hear of which resources; the watch follows all of them together. */
export interface Listeners {
  /** Has to be awaited before the request is answered: until the watch knows what they hold, it would miss a change. */
  add(who: unknown, uris: readonly string[], owner?: string): Promise<void>;
  remove(who: unknown): Promise<void> | undefined;
  /** Whether so many more can be followed. A caller who is known gets no more than is left for all others. */
  fits(uris: readonly string[], owner?: string): boolean;
}

export function createListeners(watch: Watch): Listeners {
  const wanted = new Map<unknown, { uris: readonly string[]; owner: string | undefined }>();
  const all = (): Set<string> => new Set([...wanted.values()].flatMap(({ uris }) => uris));
  const tell = (): Promise<void> => watch.follow([...all()]);
  return {
    add(who, uris, owner) {
      wanted.set(who, { uris, owner });
      return tell();
    },
    remove: (who) => (wanted.delete(who) ? tell() : undefined),
    fits(uris, owner) {
      const left = MOST_FOLLOWED - new Set([...all(), ...uris]).size;
      if (owner === undefined || uris.length === 0) return left >= 0;
      const own = [...wanted.values()].flatMap((each) => (each.owner === owner ? each.uris : []));
      return new Set([...own, ...uris]).size <= left + 1;
    },
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

/** Whether a message opens a stream of changes. */
export function isListening(message: unknown): message is { params?: Record<string, unknown> } {
  return ((message ?? {}) as { method?: unknown }).method === 'subscriptions/listen';
}

const SERVED = /^(?:bmad|skill):\/\//i;
const LONGEST_URI = 2_000;

/** Whether it looks like the address of something that is served, or could be one day. */
export function mayBeResource(uri: string): boolean {
  return uri.length <= LONGEST_URI && SERVED.test(uri);
}

/** The resources a message asks to hear of; none in any other message. */
export function urisListenedFor(message: unknown): string[] {
  return isListening(message) ? urisIn(message.params) : [];
}

function urisIn(params: Readonly<Record<string, unknown>> | undefined): string[] {
  const filter = params?.['notifications'];
  if (typeof filter !== 'object' || filter === null) return [];
  const uris: unknown = 'resourceSubscriptions' in filter ? filter.resourceSubscriptions : undefined;
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : [];
}

/** Passes messages on in order, each after what it has to wait for; immediately if there is nothing to wait for. */
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
