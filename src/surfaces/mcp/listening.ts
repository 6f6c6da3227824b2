import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { Idle } from './idle.ts';
import { createListeners, isWanted, wantedIn, type Listeners } from './listeners.ts';
import type { Watch } from './watch.ts';

/**
 * Clients of the 2026 protocol name what they want to hear of in `subscriptions/listen`, which the SDK answers without
 * telling the server. This looks at the messages of one client as they pass and keeps the watch informed. What it
 * returns has to be awaited before the message is delivered.
 */
export function followListeners(
  watch: Watch,
  idle: Pick<Idle, 'orAfterListing'>,
): (message: JSONRPCMessage) => Promise<void> | undefined {
  // Most clients never listen: then nothing of it is loaded.
  let listeners: Listeners | undefined;
  /** Those that wait for their turn, and may be gone by then. */
  const waiting = new Set<unknown>();
  return (message) => {
    if (!('method' in message)) return undefined;
    if ('id' in message && isListening(message)) {
      const [{ id }, wanted] = [message, wantedIn(message)];
      if (!isWanted(wanted)) return undefined;
      const all = (listeners ??= createListeners(watch));
      if (wanted.uris.length > 0) return all.add(id, wanted);
      // Hosts listen for lists before they ask for any: what the lists are is found out when there is time for it.
      waiting.add(id);
      return idle.orAfterListing(async () => {
        if (waiting.delete(id)) await all.add(id, wanted);
      });
    }
    if (message.method !== 'notifications/cancelled') return undefined;
    const id = message.params?.['requestId'];
    waiting.delete(id);
    return listeners?.remove(id);
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
