import type { ServerNotifier } from '@modelcontextprotocol/server';
import { setTimeout as delay } from 'node:timers/promises';
import { mapLimited } from '../../base/async.ts';
import { changeFeed, markOf } from '../../operations/client/change-feed.ts';
import type { Context } from '../../operations/context.ts';

export type ListName = 'tools' | 'prompts' | 'resources';

/** A list as one client sees it: the prompts depend on what the client calls itself. */
export interface SeenList {
  list: ListName;
  host?: string | undefined;
}

/** How to look at what clients see; what cannot be read is nothing. */
export interface Looks {
  resource(uri: string): Promise<unknown>;
  list(seen: SeenList): Promise<unknown>;
}

export interface Interests {
  uris: readonly string[];
  lists: readonly SeenList[];
}

export interface Telling {
  /** Follows a resource that holds this now. */
  subscribe(uri: string, data: unknown): void;
  unsubscribe(uri: string): void;
  /** Follows all of these as well; settled when it is known what they are now. */
  add(wanted: Interests): Promise<void>;
  /** Follows nothing but these. */
  follow(wanted: Interests): Promise<void>;
  /** Whether a list is followed, for whatever host. */
  follows(list: ListName): boolean;
  close(): void;
}

const LOOKS_AT_ONCE = 8;
/** No list is announced twice within this time. */
const GAP_MS = 300;
/** Hosts whose lists are told apart; callers make up names for themselves. */
const MOST_HOSTS = 20;

const TELL = {
  tools: 'toolsChanged',
  prompts: 'promptsChanged',
  resources: 'resourcesChanged',
} as const satisfies Record<ListName, keyof ServerNotifier>;

/** What was found in the course of one event, for all who listen: hundreds of clients look at the same. */
const found = new WeakMap<object, Map<string, Promise<string>>>();

/** The last event that anybody has looked at. */
const latest = new WeakMap<Context, object>();

/**
 * Tells clients what is different from what they have seen, and nothing else: each list and resource has a mark, which
 * is compared whenever something may have changed.
 */
export function openTelling(context: Context, notifier: ServerNotifier, looks: Looks): Telling {
  const resources = new Map<string, string>();
  const lists = new Map<string, { seen: SeenList; mark: string }>();
  let toldAt = -Infinity;

  const markOfUri = (uri: string, event?: object): Promise<string> =>
    marked(`resource ${uri}`, () => looks.resource(uri), event);
  // A mark that is too old costs a message; a new one for each of hundreds of clients would cost time.
  const markOfList = (seen: SeenList, event = latest.get(context)): Promise<string> =>
    marked(`list ${keyOf(seen)}`, () => looks.list(seen), event);

  async function compare(event: object): Promise<boolean> {
    latest.set(context, event);
    const before = toldAt;
    const early = toldAt + GAP_MS - performance.now();
    if (early > 0) await delay(early, undefined, { ref: false });
    const different = new Set<ListName>();
    for (const [key, known] of lists) {
      const mark = await markOfList(known.seen, event);
      if (mark === known.mark || lists.get(key) !== known) continue;
      known.mark = mark;
      different.add(known.seen.list);
    }
    for (const list of different) tell(() => notifier[TELL[list]]());
    await mapLimited([...resources], LOOKS_AT_ONCE, async ([uri, seen]) => {
      const mark = await markOfUri(uri, event);
      if (mark === seen || resources.get(uri) !== seen) return;
      resources.set(uri, mark);
      tell(() => notifier.resourceUpdated(uri));
    });
    return toldAt !== before;
  }

  function tell(send: () => void): void {
    toldAt = performance.now();
    send();
  }

  const feed = changeFeed(context, compare);
  const settle = (): void => feed.listen(resources.size + lists.size > 0);

  async function add({ uris, lists: seen }: Interests): Promise<void> {
    const newLists = seen.filter((each) => !lists.has(keyOf(each)) && lists.size < MOST_HOSTS * 3);
    const newUris = uris.filter((uri) => !resources.has(uri));
    for (const each of newLists) lists.set(keyOf(each), { seen: each, mark: await markOfList(each) });
    await mapLimited(newUris, LOOKS_AT_ONCE, async (uri) => resources.set(uri, await markOfUri(uri)));
    settle();
  }

  return {
    subscribe(uri, data) {
      resources.set(uri, markOf(data));
      settle();
    },
    unsubscribe(uri) {
      resources.delete(uri);
      settle();
    },
    add,
    async follow(wanted) {
      const uris = new Set(wanted.uris);
      const names = new Set(wanted.lists.map(({ list }) => list));
      for (const uri of resources.keys()) if (!uris.has(uri)) resources.delete(uri);
      for (const [key, { seen }] of lists) if (!names.has(seen.list)) lists.delete(key);
      await add(wanted);
    },
    follows: (list) => [...lists.values()].some(({ seen }) => seen.list === list),
    close() {
      resources.clear();
      lists.clear();
      settle();
    },
  };
}

async function marked(key: string, look: () => Promise<unknown>, event?: object): Promise<string> {
  const fresh = async (): Promise<string> => markOf(await look());
  if (event === undefined) return fresh();
  const known = found.get(event) ?? new Map<string, Promise<string>>();
  found.set(event, known);
  const mark = known.get(key) ?? fresh();
  known.set(key, mark);
  return mark;
}

function keyOf({ list, host = '' }: SeenList): string {
  return `${list} ${host}`;
}
