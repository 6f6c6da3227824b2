import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerNotifier,
} from '@modelcontextprotocol/server';
import { sha256 } from '../../base/sha256.ts';
import { mapLimited } from '../../base/async.ts';
import type { Call, Changes, Context } from '../../operations/context.ts';
import { KINDS_OF } from '../../operations/catalogue/targets.ts';
import { ask } from './ask.ts';
import { dataOf } from './errors.ts';

/** What one client, or one entry point for many, wants to hear about. */
export interface Watch {
  /** Remembers what the resource holds now; refuses one that cannot be read. */
  subscribe(uri: string, call: Call): Promise<void>;
  unsubscribe(uri: string): void;
  /** The same for clients that name all their resources at once, whether they exist or not. */
  follow(uris: readonly string[]): Promise<void>;
  close(): void;
}

/** Resources that one watch follows. */
export const MOST_FOLLOWED = 1_000;
const READS_AT_ONCE = 8;

/** What stands for a resource that cannot be read. */
const ABSENT = '';

/**
 * Passes changes of the content on to clients: which lists are different, and which of the resources they have
 * subscribed to. Each of those is read again; only what really differs is announced.
 */
export function watchChanges(context: Context, notifier: ServerNotifier): Watch {
  const seen = new Map<string, string>();

  async function fingerprint(uri: string, call: Call): Promise<string> {
    const outcome = await ask('read_resource', { uri }, context, call);
    return outcome.ok ? markOf(outcome.data) : ABSENT;
  }

  async function announce({ current, lists, files }: Changes): Promise<void> {
    // What has no project in its name is about the project the server runs for.
    if (!current) return;
    const started = lists.some((kind) => STARTED.has(kind));
    if (started) notifier.promptsChanged();
    if (context.tools.agents && lists.includes('agent')) notifier.toolsChanged();
    if (started || files) notifier.resourcesChanged();
    for (const [uri, before] of seen) {
      const now = await fingerprint(uri, unattended());
      if (now === before || !seen.has(uri)) continue;
      seen.set(uri, now);
      notifier.resourceUpdated(uri);
    }
  }

  let announced: Promise<void> = Promise.resolve();
  const leave = context.onChange((changes) => {
    announced = announced
      .then(() => announce(changes))
      .catch((error: unknown) => context.log.info('changes', { error: String(error) }));
  });

  return {
    async subscribe(uri, call) {
      if (seen.size >= MOST_FOLLOWED && !seen.has(uri)) {
        const message = `The limit of ${MOST_FOLLOWED} subscriptions is reached. Unsubscribe from some first.`;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
      }
      seen.set(uri, markOf(dataOf(await ask('read_resource', { uri }, context, call))));
    },
    unsubscribe: (uri) => void seen.delete(uri),
    async follow(uris) {
      const wanted = new Set(uris.slice(0, MOST_FOLLOWED));
      for (const uri of seen.keys()) if (!wanted.has(uri)) seen.delete(uri);
      await mapLimited(
        [...wanted].filter((uri) => !seen.has(uri)),
        READS_AT_ONCE,
        async (uri) => seen.set(uri, await fingerprint(uri, unattended())),
      );
    },
    close: leave,
  };
}

/** The kinds that have a prompt and a skill. */
const STARTED = new Set<string>(Object.values(KINDS_OF).flat());

function markOf(data: unknown): string {
  return sha256(JSON.stringify(data));
}

function unattended(): Call {
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
