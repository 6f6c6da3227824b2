import { MOST_FOLLOWED } from './most-followed.ts';
import type { ListName, Interests, Watch } from './watch.ts';

/** Where a request says who sends it. */
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';

/** Who wants to hear of what; the watch follows all of it together. */
export interface Listeners {
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
