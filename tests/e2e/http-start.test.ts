import { createServer } from 'node:http';
import { mkdir, readFile, realpath } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import {
  type HttpServer,
  type HttpServerOptions,
  serveHere,
  startHttpServer,
} from '../support/http-server.ts';
import { bareEnvironment, bmad, bmadServer, type Ended } from '../support/programs.ts';
import { INITIALIZE, sendRequest, type Received } from '../support/raw-http.ts';

const TOKEN = 'token-of-this-test-0123456789';
const cwd = await realpath(await temporaryFolder(afterAll));
await mkdir(join(cwd, '_bmad'));

async function start(more: Partial<HttpServerOptions> = {}, begin = serveHere): Promise<HttpServer> {
  const server = await begin({ cwd, home: await temporaryFolder(onTestFinished), ...more });
  onTestFinished(async () => void (await server.stop()));
  return server;
}

async function refusedStart(args: readonly string[], home?: string): Promise<Ended> {
  const env = bareEnvironment(home ?? (await temporaryFolder(onTestFinished)));
  return bmadServer(['--http', '--port', '0', ...args], { cwd, env });
}

/** A port that something else has. */
async function takenPort(): Promise<string> {
  const http = createServer((_request, response) => void response.end('something else'));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void http.close());
  return String((http.address() as AddressInfo).port);
}

describe('a start that fails', () => {
  it('leaves the token that was made as it is, and shows no new one', async () => {
    const home = await temporaryFolder(onTestFinished);
    const first = await start({ home, more: ['--http-auth', 'token'] }, startHttpServer);
    const file = join(home, '.local/state/bmad-mcp-server/http-token');
    const token = await readFile(file, 'utf8');
    const { port } = new URL(first.url);
    const { code, stderr } = await refusedStart(['--port', port, '--new-token'], home);
    expect(code).not.toBe(0);
    expect(stderr).toContain(`Cannot use port ${port} on 127.0.0.1 (EADDRINUSE).`);
    expect(stderr).not.toContain('shown only once');
    expect(await readFile(file, 'utf8')).toBe(token);
  });

  it('ends, when the token that is kept cannot be read', async () => {
    const home = await temporaryFolder(onTestFinished);
    await writeFiles(home, { '.local/state/bmad-mcp-server/http-token': 'no token\n' });
    // No balancer has heard of it, so nobody has to be given time.
    const flags = ['--http-auth', 'token', '--http-drain-ms', '600000'];
    const { code, stderr } = await refusedStart(flags, home);
    expect(stderr).toMatch(/http-token has no valid token/);
    expect(stderr).not.toContain('serves');
    expect(code).toBe(2);
  });

  it('says whether a server of this user answers there, and sends nobody to one that only says it is (X-04)', async () => {
    const home = await temporaryFolder(onTestFinished);
    const { port } = new URL((await start({ home }, startHttpServer)).url);
    const { stderr } = await refusedStart(['--port', port], home);
    expect(stderr).toContain(`A BMAD MCP server is already running at http://127.0.0.1:${port}/mcp`);
    for (const taken of [await takenPort(), new URL((await start()).url).port]) {
      const other = await refusedStart(['--port', taken], home);
      expect(other.stderr).toContain('It is in use.');
      expect(other.stderr).not.toContain('A BMAD MCP server is already running');
    }
  });
});

describe('a server for other machines', () => {
  const env = { BMAD_HTTP_TOKEN: TOKEN };
  const send = (url: string, host: string): Promise<Received> =>
    sendRequest(url.replace('0.0.0.0', '127.0.0.1'), {
      body: INITIALIZE,
      headers: { host, authorization: `Bearer ${TOKEN}` },
    });

  it('is served under the names of its machine, and says what to do about others', async () => {
    const { url } = await start({ more: ['--host', '0.0.0.0'], env }, startHttpServer);
    const { port } = new URL(url);
    const short = hostname().split('.')[0] ?? '';
    for (const name of [hostname(), short, short.toUpperCase(), '127.0.0.1', '10.1.2.3'])
      expect([name, (await send(url, `${name}:${port}`)).status]).toEqual([name, 200]);
    const refused = await send(url, `wiki.example.com:${port}`);
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('--allow-hosts wiki.example.com');
    const odd = await send(url, '"><script>');
    expect(odd.status).toBe(403);
    expect(odd.text).not.toContain('script');
  });

  it('is not, when it listens on its own machine only', async () => {
    const { url } = await start({ env });
    expect((await send(url, hostname())).status).toBe(403);
    expect((await send(url, '10.1.2.3')).status).toBe(403);
  });

  it('names addresses that can be handed out, its project and the others', async () => {
    const allowed = await realpath(await temporaryFolder(onTestFinished));
    const { url, stderr } = await start({ more: ['--host', '0.0.0.0', '--allow-project', allowed], env });
    const { port } = new URL(url);
    expect(stderr().split('\n', 1)[0]).toContain(`serves http://0.0.0.0:${port}/mcp to clients`);
    expect(stderr()).toContain(`\nClients can reach it at http://${hostname()}:${port}/mcp`);
    expect(stderr()).toContain(`\nProject: ${cwd} (the nearest folder with _bmad)\n`);
    expect(stderr()).toContain(`\nAlso allowed: ${allowed}\n`);
  });

  it('names the address that was given for it', async () => {
    const { stderr } = await start({
      more: ['--host', '0.0.0.0', '--public-url', 'https://bmad.example/'],
      env,
    });
    expect(stderr()).toContain('\nClients can reach it at https://bmad.example/mcp\n');
  });
});

describe('the projects of a server over HTTP', () => {
  it.each([
    [['--project', '/nowhere/at-all'], 'The project folder "/nowhere/at-all"'],
    [['--allow-project', '/nowhere/at-all'], '--allow-project: there is no folder "/nowhere/at-all".'],
  ])('have to exist: %j', async (args, message) => {
    const { code, stderr } = await refusedStart(args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it('are none in the home folder, which is said', async () => {
    const home = await temporaryFolder(onTestFinished);
    const { stderr } = await start({ cwd: home, home });
    expect(stderr()).toMatch(/\nProject: none \(.+\); set one with --project\n/);
  });
});

describe('bmad serve --help', () => {
  it('is about serving, and the same from both programs', async () => {
    const env = bareEnvironment(await temporaryFolder(onTestFinished));
    const { code, stdout } = await bmad(['serve', '--help'], { cwd, env });
    expect(code).toBe(0);
    expect(String(stdout)).toMatch(/^Usage: bmad serve /m);
    expect(String(stdout)).toContain('--allow-project');
    const server = await bmadServer(['--http', '--help'], { cwd, env });
    expect(String(server.stdout)).toBe(String(stdout));
  });
});
