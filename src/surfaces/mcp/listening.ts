import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { Idle } from './idle.ts';
import { type Interests, type ListName, MOST_FOLLOWED, type Watch } from './watch.ts';

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

/** Where a request says who sends it. */
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';

/** Who wants to hear of what; the watch follows all of it together. */
interface Listeners {
  /** Has to be awaited before the request is answered: until the watch knows what is there, it would miss a change. */
  add(who: unknown, wanted: Interests, owner?: string): Promise<void>;
  remove(who: unknown): Promise<void> | undefined;
  /** Whether so many more resources can be followed. A caller who is known gets no more than is left for all others. */
  fits(uris: readonly string[], owner?: string): boolean;
}

export function createListeners(watch: Watch): Listeners {
  const wanted = new Map<unknown, Interests & { owner: string | undefined }>();
  const all = (): Set<string> => new Set([...wanted.values()].flatMap(({ uris }) => uris));
  const tell = (): Promise<void> =>
    watch.follow({ uris: [...all()], lists: [...wanted.values()].flatMap(({ lists }) => lists) });
  return {
    add(who, what, owner) {
      wanted.set(who, { ...what, owner });
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

export const NOTHING: Interests = { uris: [], lists: [] };

const LISTS = {
  toolsListChanged: 'tools',
  promptsListChanged: 'prompts',
  resourcesListChanged: 'resources',
} as const satisfies Record<string, ListName>;

export function isWanted({ uris, lists }: Interests): boolean {
  return uris.length + lists.length > 0;
}

/** What a message that opens a stream of changes asks to hear of. */
export function wantedIn(message: { params?: Record<string, unknown> }): Interests {
  const filter = message.params?.['notifications'];
  if (typeof filter !== 'object' || filter === null) return NOTHING;
  const { resourceSubscriptions: uris, ...flags } = filter as Record<string, unknown>;
  const { name: host } = ((message.params?.['_meta'] as Record<string, unknown> | undefined)?.[CLIENT_INFO] ??
    {}) as { name?: unknown };
  return {
    uris: Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : [],
    lists: Object.entries(LISTS).flatMap(([flag, list]) =>
      flags[flag] === true
        ? [{ list, ...(typeof host === 'string' ? { host: host.slice(0, 100) } : {}) }]
        : [],
    ),
  };
}
