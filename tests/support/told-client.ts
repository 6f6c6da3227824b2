import { InMemoryTransport, type Client, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import type { Context } from '../../src/operations/context.ts';
import { serveTransport } from '../../src/surfaces/mcp/stdio.ts';
import { newClient, type ConnectOptions } from './mcp-client.ts';

/** What clients are told of, in one word each: a list, or the address of a resource. */
export interface Heard {
  /** Everything so far, in order. */
  all: string[];
  /** Settled when all of these have been told since this was last asked; answers with everything told since. */
  until(...words: string[]): Promise<string[]>;
}

/** Takes down what a client is told. */
export function hearing(client: Client): Heard {
  const all: string[] = [];
  let from = 0;
  let waiting: { words: string[]; resolve(heard: string[]): void } | undefined;
  const check = (): void => {
    const since = all.slice(from);
    if (waiting === undefined || !waiting.words.every((word) => since.includes(word))) return;
    from = all.length;
    waiting.resolve(since);
    waiting = undefined;
  };
  const hear = (word: string): void => {
    all.push(word);
    check();
  };
  for (const list of ['tools', 'prompts', 'resources'] as const)
    client.setNotificationHandler(`notifications/${list}/list_changed`, () => hear(list));
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => hear(params.uri));
  return {
    all,
    until: (...words) =>
      new Promise((resolve) => {
        waiting = { words, resolve };
        check();
      }),
  };
}

export const ERAS: { era: string; mode: VersionNegotiationMode }[] = [
  { era: '2025', mode: 'legacy' },
  { era: '2026', mode: { pin: '2026-07-28' } },
];

/** The official client of an application in this process, as it would be over stdin and stdout. */
export async function connectInMemory(
  context: Context,
  mode: VersionNegotiationMode,
  onEnd: (cleanUp: () => Promise<void>) => void,
  options: {
    apps?: true;
    keepContext?: true;
    roots?: ConnectOptions['roots'] | undefined;
    sample?: ConnectOptions['sample'] | undefined;
    elicit?: ConnectOptions['elicit'] | undefined;
  } = {},
): Promise<Client> {
  const [theirs, ours] = InMemoryTransport.createLinkedPair();
  serveTransport(context, ours);
  const { apps, roots, sample, elicit } = options;
  const client = newClient({ mode, apps, roots, sample, elicit });
  await client.connect(theirs);
  onEnd(async () => {
    await client.close();
    if (options.keepContext !== true) context.close();
  });
  return client;
}

/** Follows these resources and all lists, in the way of the client's protocol. */
export async function listenTo(client: Client, uris: readonly string[]): Promise<void> {
  if (client.getNegotiatedProtocolVersion() !== '2026-07-28') {
    await client.listPrompts();
    await client.listResources();
    for (const uri of uris) await client.subscribeResource({ uri });
    return;
  }
  await client.listen({
    resourceSubscriptions: [...uris],
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
  });
}
