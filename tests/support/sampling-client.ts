import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  StreamableHTTPClientTransport,
  type Client,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { afterAll, onTestFinished } from 'vitest';
import { temporaryFolder } from './app.ts';
import { writeFiles } from './folders.ts';
import { isDeep } from './how-much.ts';
import { serveHere } from './http-server.ts';
import { connectClient, newClient, textsOf } from './mcp-client.ts';
import { connectHere } from './mcp-here.ts';

const MODERN: VersionNegotiationMode = { pin: '2026-07-28' };
export const WAYS = [
  { era: '2025', transport: 'stdio' },
  { era: '2026', transport: 'stdio' },
  { era: '2025', transport: 'HTTP' },
  { era: '2026', transport: 'HTTP' },
] as const;
export type Way = (typeof WAYS)[number];

export type Sampler = (
  params: CreateMessageRequestParams,
) => CreateMessageResult | Promise<CreateMessageResult>;

export interface Setting {
  cwd: string;
  sample?: Sampler;
  args?: readonly string[];
  /** A server that no other test has asked anything. */
  own?: boolean;
}

interface Servers {
  home: string;
  /** The project of all servers of a test file, as it is before anything was done in it. */
  project(): Promise<string>;
  connected(way: Way, setting: Setting): Promise<Client>;
}

type OnEnd = (cleanUp: () => Promise<void>) => void;

/** The servers of a test file: one for all tests that ask for the same settings and leave nothing behind in it. */
export async function servers(): Promise<Servers> {
  const [home, folder] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
  const started = new Map<string, Promise<unknown>>();
  const ends: (() => Promise<void>)[] = [];
  afterAll(() => Promise.all(ends.map((end) => end())));

  function shared<T>(
    own: boolean,
    settings: readonly unknown[],
    start: (onEnd: OnEnd) => Promise<T>,
  ): Promise<T> {
    if (own) return start(onTestFinished);
    const key = JSON.stringify(settings);
    const known = (started.get(key) as Promise<T> | undefined) ?? start((cleanUp) => ends.push(cleanUp));
    started.set(key, known);
    return known;
  }

  return {
    home,
    async project() {
      // Tasks are kept once more with the user, whose they are.
      for (const place of [folder, join(home, '.local/state/bmad-mcp-server/mirror')])
        await rm(place, { recursive: true, force: true });
      await writeFiles(folder, {
        '_bmad/core/config.yaml': 'user_name: Ada\n',
        'docs/prd.md': 'The shop sells bread.\n',
      });
      return folder;
    },
    async connected({ era, transport }, { cwd, sample, args = [], own = false }) {
      const mode = era === '2025' ? 'legacy' : MODERN;
      if (transport === 'stdio') {
        const asks = sample !== undefined;
        const host = await shared(own, [transport, era, args, asks], async (onEnd) => {
          const model: { sample: Sampler } = { sample: () => Promise.reject(new Error('No test runs.')) };
          const answers: Sampler = (params) => model.sample(params);
          // What a client is answered hangs on neither pipes nor processes: the program answers those who ask for their own.
          const connect = own || isDeep ? connectClient : connectHere;
          const client = await connect({ cwd, home, mode, args, ...(asks ? { sample: answers } : {}) });
          onEnd(() => client.close());
          return { client, model };
        });
        if (asks) host.model.sample = sample;
        return host.client;
      }
      const server = await shared(own, [transport, args], async (onEnd) => {
        const here = await serveHere({ cwd, home, more: args });
        onEnd(async () => void (await here.stop()));
        return here;
      });
      const client = newClient({ mode, sample });
      await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
      onTestFinished(() => client.close());
      return client;
    },
  };
}

export const said = (text: string, more: object = {}): CreateMessageResult => ({
  role: 'assistant',
  model: 'test-model',
  content: { type: 'text', text },
  ...more,
});

export const promptOf = ({ messages }: CreateMessageRequestParams): string =>
  (messages[0]?.content as { text: string } | undefined)?.text ?? '';

export const GIVEN = { agent_id: 'architect', task: 'Which queue fits a small shop?' };

export async function delegate(client: Client, more: object = {}): Promise<string> {
  const result = await client.callTool({ name: 'delegate_to_agent', arguments: { ...GIVEN, ...more } });
  return textsOf(result).join('\n');
}

/** The names of what is kept in the queue; nothing was written where there is none. */
export async function kept(cwd: string): Promise<string[]> {
  return readdir(join(cwd, '_bmad-output/.tasks')).catch(() => []);
}
