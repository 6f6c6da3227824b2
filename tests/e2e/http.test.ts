import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { startHttpServer } from '../support/http-server.ts';
import { callInParts, textsOf } from '../support/mcp-client.ts';
import { bareEnvironment, bmadServer } from '../support/programs.ts';
import { DEFAULT_TOOLS } from '../support/tool-names.ts';

const cwd = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);
const allowed = await temporaryFolder(afterAll);
let url = '';

beforeAll(async () => {
  const server = await startHttpServer({ cwd, home, more: ['--allow-project', allowed] });
  url = server.url;
  return async () => void (await server.stop());
});

async function connect(mode: VersionNegotiationMode): Promise<Client> {
  return joined(new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } }));
}

async function connectFrom(folder: string): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: 'legacy' }, capabilities: { roots: {} } },
  );
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: pathToFileURL(folder).href }] }));
  return joined(client);
}

async function joined(client: Client, to = url): Promise<Client> {
  await client.connect(new StreamableHTTPClientTransport(new URL(to)));
  return client;
}

const ERAS: { name: string; mode: VersionNegotiationMode; era: string }[] = [
  { name: 'a client of the 2025 era', mode: 'legacy', era: 'legacy' },
  { name: 'a client that finds out the era', mode: 'auto', era: 'modern' },
  { name: 'a client of the 2026 era', mode: { pin: '2026-07-28' }, era: 'modern' },
];

describe.each(ERAS)('over HTTP, $name', ({ mode, era }) => {
  it('gets what it would get over stdin', async () => {
    const client = await connect(mode);
    expect(client.getProtocolEra()).toBe(era);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(
      DEFAULT_TOOLS.filter((name) => name !== 'run_completion_contract'),
    );
    const parts = await callInParts(client, { operation: 'execute', agent: 'architect', message: 'Hello.' });
    expect(parts.join('')).toMatch(/^# Winston[^]*Hello\./);
    const more = await callInParts(client, { operation: 'execute', agent: 'architect', message: 'Go on.' });
    expect(more.join('')).toContain('----- BEGIN');
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toContain('bmad-architect');
    const { contents } = await client.readResource({ uri: 'bmad://agents/architect' });
    expect(contents[0]).toMatchObject({ mimeType: 'text/markdown' });
    const wrong = await client.callTool({ name: 'bmad', arguments: { operation: 'read', agent: 'nobody' } });
    expect(wrong.isError).toBe(true);
    await client.close();
  });

  it('is served beside others', async () => {
    const clients = await Promise.all(Array.from({ length: 8 }, () => connect(mode)));
    const answers = await Promise.all(
      clients.map((client) =>
        client.callTool({ name: 'bmad', arguments: { operation: 'list', query: 'agents' } }),
      ),
    );
    expect(new Set(answers.map((answer) => textsOf(answer)[0])).size).toBe(1);
    await Promise.all(clients.map((client) => client.close()));
  });
});

describe('the server over HTTP', () => {
  it('is moved to no folder by the roots of one client', async () => {
    const project = join(allowed, 'project');
    await mkdir(join(project, '_bmad/custom'), { recursive: true });
    await writeFile(join(project, '_bmad/custom/bmad-agent-dev.toml'), '[agent]\nrole = "Of one client"\n');
    const client = await connectFrom(project);
    const execute = async (more: Record<string, string>): Promise<string> =>
      (await callInParts(client, { operation: 'execute', agent: 'dev', ...more })).join('');
    expect(await execute({})).not.toContain('Of one client');
    expect(await execute({ project })).toContain('Of one client');
    await client.close();
  });

  it('says where it serves, and leaves with code 0 when it is told to, also while clients listen', async () => {
    const server = await startHttpServer({ cwd, home });
    const client = await joined(new Client({ name: 'test', version: '1' }), server.url);
    expect(server.stderr()).toMatch(
      /^BMAD MCP Server \S+ serves http:\/\/127\.0\.0\.1:\d+\/mcp to clients on this machine only\. /,
    );
    expect(await server.stop()).toBe(0);
    await client.close();
  });

  it.each([
    [['--http', '--port', 'many'], '--port: "many" is not a port.'],
    [['--http', '--port', '65536'], '--port: "65536" is not a port.'],
    [['--http', '--port='], '--port: "" is not a port.'],
    [['--http', '--port'], '--port needs a value.'],
    [['--port', '1'], '--port requires --http.'],
    [['--new-token'], '--new-token requires --http.'],
    [['--http', '--host'], '--host needs a value.'],
  ])('is not started by %j', async (args, message) => {
    const { code, stdout, stderr } = await bmadServer(args, { cwd, env: bareEnvironment(home) });
    expect(stderr).toContain(message);
    expect(stdout.toString()).toBe('');
    expect(code).toBe(2);
  });

  it('is not started on a port that is taken', async () => {
    const args = ['--http', '--port', new URL(url).port];
    const { code, stderr } = await bmadServer(args, { cwd, env: bareEnvironment(home) });
    expect(stderr).toContain('(EADDRINUSE). It is in use.');
    expect(code).toBe(6);
  });

  it('can be tested without being started', async () => {
    const { code, stdout } = await bmadServer(['--http', '--test'], { cwd, env: bareEnvironment(home) });
    expect(stdout.toString()).toMatch(/ — Ready\n$/);
    expect(code).toBe(0);
  });
});
