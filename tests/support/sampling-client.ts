import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  StreamableHTTPClientTransport,
  type Client,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { afterAll, onTestFinished } from 'vitest';
import { serverFile, temporaryFolder } from './app.ts';
import { writeFiles } from './folders.ts';
import { startHttpServer } from './http-server.ts';
import { connectClient, newClient, textsOf } from './mcp-client.ts';

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

export const home = await temporaryFolder(afterAll);

export async function project(): Promise<string> {
  const cwd = await temporaryFolder(onTestFinished);
  await writeFiles(cwd, {
    '_bmad/core/config.yaml': 'user_name: Ada\n',
    'docs/prd.md': 'The shop sells bread.\n',
  });
  return cwd;
}

interface Setting {
  cwd: string;
  sample?: Sampler;
  args?: readonly string[];
}

export async function connected(
  { era, transport }: Way,
  { cwd, sample, args = [] }: Setting,
): Promise<Client> {
  const mode = era === '2025' ? 'legacy' : MODERN;
  if (transport === 'stdio') {
    const client = await connectClient({
      cwd,
      home,
      mode,
      args,
      ...(sample === undefined ? {} : { sample }),
    });
    onTestFinished(() => client.close());
    return client;
  }
  const server = await startHttpServer({ cwd, home, args: [serverFile, '--http', '--port', '0', ...args] });
  onTestFinished(async () => void (await server.stop()));
  const client = newClient({ mode, sample });
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
  onTestFinished(() => client.close());
  return client;
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
