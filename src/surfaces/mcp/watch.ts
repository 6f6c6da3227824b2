import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerNotifier,
} from '@modelcontextprotocol/server';
import { once } from '../../base/async.ts';
import { KINDS_OF } from '../../operations/catalogue/names.ts';
import type { Call, Context } from '../../operations/context.ts';
import { dataOf } from './requests.ts';
import { ask } from './steps.ts';
import type { Interests, ListName, Looks, SeenList, Telling } from './telling.ts';
import { toolList } from './tools.ts';

export type { ListName, Interests };

/** What one client, or one entry point for many, wants to hear about. */
export interface Watch {
  /** Remembers what the resource holds now; refuses one that cannot be read. */
  subscribe(uri: string, call: Call): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
  /** The same for clients that name all they want to hear of at once, whether it exists or not. */
  follow(wanted: Interests): Promise<void>;
  /**
   * A client is about to be shown a list, and hears when that is different. One that names what it wants to hear of has
   * to have named it.
   */
  seen(list: SeenList, named: boolean): Promise<void>;
  close(): void;
}

/** Passes changes on to clients. What it takes to compare is loaded when a client is first interested in anything. */
export function watchChanges(context: Context, notifier: ServerNotifier): Watch {
  const subscribed = new Set<string>();
  const lists: ListName[] = context.tools.agents
    ? ['tools', 'prompts', 'resources']
    : ['prompts', 'resources'];
  let listened: readonly ListName[] = [];
  let open: Telling | undefined;
  let closed = false;
  const telling = once(async () => {
    const { openTelling } = await import('./telling.ts');
    open ??= openTelling(context, notifier, looksOf(context));
    if (closed) open.close();
    return open;
  });
  async function seenAll(): Promise<void> {
    const all = await telling();
    await all.add({ uris: [], lists: lists.filter((list) => !all.follows(list)).map((list) => ({ list })) });
  }

  /** What was not looked at by anybody needs no mark: which kinds of things have changed says enough. */
  const leave = context.onChange(({ current, lists: kinds, files }) => {
    // What has no project in its name is about the project the server runs for.
    if (!current) return;
    const started = kinds.some((kind) => STARTED.has(kind));
    const unseen = (list: ListName): boolean => changing(list) && open?.follows(list) !== true;
    if (started && unseen('prompts')) notifier.promptsChanged();
    if (kinds.includes('agent') && unseen('tools')) notifier.toolsChanged();
    if ((started || files) && unseen('resources')) notifier.resourcesChanged();
  });
  const changing = (list: ListName): boolean => lists.includes(list);

  return {
    async subscribe(uri, call) {
      if (subscribed.size >= MOST_FOLLOWED && !subscribed.has(uri)) {
        const message = `The limit of ${MOST_FOLLOWED} subscriptions is reached. Unsubscribe from some first.`;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
      }
      const data = dataOf(await ask('read_resource', { uri }, context, call));
      subscribed.add(uri);
      (await telling()).subscribe(uri, data);
      await seenAll();
    },
    async unsubscribe(uri) {
      if (subscribed.delete(uri)) (await telling()).unsubscribe(uri);
    },
    async follow({ uris, lists: named }) {
      const wanted = named.filter(({ list }) => changing(list));
      listened = wanted.map(({ list }) => list);
      if (uris.length + wanted.length > 0 || open !== undefined)
        await (await telling()).follow({ uris: uris.slice(0, MOST_FOLLOWED), lists: wanted });
    },
    async seen(list, named) {
      if (changing(list.list) && (!named || listened.includes(list.list)))
        await (await telling()).add({ uris: [], lists: [list] });
    },
    close() {
      closed = true;
      leave();
      open?.close();
    },
  };
}

/** The kinds that have a prompt and a skill. */
const STARTED = new Set<string>(Object.values(KINDS_OF).flat());

function looksOf(context: Context): Looks {
  // Nobody waits for it, and nobody counts it.
  const quiet = { ...context, observe: undefined };
  const asked = async (...[name, args]: [Parameters<typeof ask>[0], Record<string, unknown>]) => {
    const outcome = await ask(name, args, quiet, unattended());
    return outcome.ok ? outcome.data : undefined;
  };
  return {
    resource: (uri) => asked('read_resource', { uri }),
    list: ({ list, host }) =>
      list === 'tools' ? toolList(quiet, unattended()) : asked('list_mark', { list, host }),
  };
}

export function unattended(): Call {
  return { signal: new AbortController().signal, progress: () => undefined, mayWrite: false };
}

/** The change messages of one connection. On 2026 connections the SDK passes on those that the client listens for. */
export function notifierOf(connected: () => Server | undefined): ServerNotifier {
  const send = (message: (server: Server) => Promise<void>): void => {
    const server = connected();
    // A client that has left, or has not said who it is yet, misses nothing.
    if (server !== undefined) void message(server).catch(() => undefined);
  };
  return {
    toolsChanged: () => send((server) => server.sendToolListChanged()),
    promptsChanged: () => send((server) => server.sendPromptListChanged()),
    resourcesChanged: () => send((server) => server.sendResourceListChanged()),
    resourceUpdated: (uri) => send((server) => server.sendResourceUpdated({ uri })),
  };
}

/** Resources that one watch follows. */
export const MOST_FOLLOWED = 1_000;
