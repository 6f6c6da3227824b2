import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import process from 'node:process';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { repository, serverFile, temporaryFolder } from '../support/app.ts';
import { OLDEST_QDRANT } from '../../src/services/memory/qdrant/client.ts';
import { nginxProgram, startTls } from '../support/nginx.ts';
import { findProgram } from '../../src/base/files/find-program.ts';
import { startHttpServer } from '../support/http-server.ts';

const cwd = await temporaryFolder(afterAll);
await mkdir(join(cwd, '_bmad'));
const unit = await readFile(join(repository, 'deploy/bmad-mcp-server@.service'), 'utf8');

const notify = await findProgram('systemd-notify', { env: process.env, besides: [] });
/** What systemd does with what it is told; Node has no sockets of this kind. */
const LISTENER = `
import socket, sys
heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
heard.bind(sys.argv[1])
print('listening', flush=True)
while True:
    said = heard.recv(4096).decode().replace(chr(10), ' ')
    if 'BARRIER' not in said: print(said, flush=True)
`;

const lineOf = (key: string): string | undefined => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1];

describe('the systemd unit', () => {
  it('starts a server that asks for a token, also where nobody has given one', async () => {
    const args = (lineOf('ExecStart') ?? '').split(' ').slice(1);
    const flags = `${args.join(' ')} --port 0`.replace('/srv/%i', cwd).split(' ');
    const home = await temporaryFolder(onTestFinished);
    const server = await startHttpServer({ cwd, home, args: [serverFile, ...flags] });
    onTestFinished(async () => void (await server.stop()));
    expect((await fetch(new URL('/api', server.url))).status).toBe(401);
    const token = await readFile(join(home, '.local/state/bmad-mcp-server/http-token'), 'utf8');
    const headers = { authorization: `Bearer ${token.trim()}` };
    expect((await fetch(new URL('/api', server.url), { headers })).status).toBe(200);
  });

  it('has its configuration where it may write, for the commits of git sources (D-1)', () => {
    const state = `/var/lib/${lineOf('StateDirectory')}`;
    expect(lineOf('Environment')).toContain(`XDG_CONFIG_HOME=${state}/config `);
    expect(lineOf('ProtectSystem')).toBe('strict');
  });

  it('takes its port from the environment, and from --port before that', async () => {
    const env = { BMAD_HTTP_PORT: '0' };
    for (const more of [[], ['--port', '0']]) {
      const home = await temporaryFolder(onTestFinished);
      const args = [serverFile, '--http', ...more];
      const other = more.length === 0 ? env : { BMAD_HTTP_PORT: '2623' };
      const server = await startHttpServer({ cwd, home, args, env: other });
      onTestFinished(async () => void (await server.stop()));
      expect(new URL(server.url).port).not.toBe('2623');
    }
  });

  it.skipIf(notify === undefined)('is told when the server is ready, and when it ends', async () => {
    const [home, folder] = [await temporaryFolder(onTestFinished), await temporaryFolder(onTestFinished)];
    expect(lineOf('Type')).toBe('notify');
    const socket = join(folder, 'notify');
    const listener = spawn('python3', ['-c', LISTENER, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void listener.kill());
    const told = createInterface(listener.stdout)[Symbol.asyncIterator]();
    expect((await told.next()).value).toBe('listening');
    const server = await startHttpServer({ cwd, home, env: { NOTIFY_SOCKET: socket } });
    onTestFinished(async () => void (await server.stop()));
    expect((await told.next()).value).toContain('READY=1');
    expect((await fetch(new URL('/readyz', server.url))).status).toBe(200);
    expect(await server.stop()).toBe(0);
    expect((await told.next()).value).toContain('STOPPING=1');
  });

  it('tells only the server to stop, which finishes running calls', () => {
    expect(lineOf('KillMode')).toBe('mixed');
  });

  it('does not start without its file and its project', () => {
    expect(lineOf('EnvironmentFile')).toBe('/etc/bmad-mcp-server/%i.env');
    expect(lineOf('AssertPathExists')).toBe(lineOf('EnvironmentFile'));
    expect(lineOf('AssertPathIsDirectory')).toBe(lineOf('ReadWritePaths'));
    expect(lineOf('ExecStart')).toContain(`--project ${lineOf('WorkingDirectory')}`);
  });
});

describe.skipIf(nginxProgram() === undefined)('the proxy for TLS', () => {
  it('passes on what it is asked over TLS, and nothing else', async () => {
    const home = await temporaryFolder(onTestFinished);
    const server = await startHttpServer({ cwd, home });
    onTestFinished(async () => void (await server.stop()));
    const { url, ca } = await startTls(nginxProgram() ?? '', new URL(server.url).host, onTestFinished);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request(`${url}/readyz`, { ca }, (response) => resolve(response.resume().statusCode))
        .once('error', reject)
        .end();
    });
    expect(status).toBe(200);
    expect((await fetch(`${url.replace('https', 'http')}/readyz`)).status).toBe(400);
  });
});

describe('the compose file', () => {
  it('starts a Qdrant whose published types the tests check, and no older one than the store needs', async () => {
    const compose = await readFile(join(repository, 'deploy/compose.yaml'), 'utf8');
    const image = /qdrant\/qdrant:v(\d+\.\d+)\.\d+/.exec(compose)?.[1] ?? '';
    const types = join(repository, 'node_modules/@qdrant/js-client-rest/package.json');
    expect((JSON.parse(await readFile(types, 'utf8')) as { version: string }).version).toContain(`${image}.`);
    expect(image.localeCompare(OLDEST_QDRANT, 'en', { numeric: true })).toBeGreaterThanOrEqual(0);
  });
});

describe('the documents', () => {
  it('never have the package fetched by its name, which is not ours on npm', async () => {
    const guides = (await readdir(join(repository, 'docs/guide'), { recursive: true }))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/guide/${name}`);
    const deploy = (await readdir(join(repository, 'deploy'))).map((name) => `deploy/${name}`);
    const wrong: string[] = [];
    for (const file of ['README.md', 'CONTRIBUTING.md', ...guides, ...deploy])
      for (const line of (await readFile(join(repository, file), 'utf8')).split('\n'))
        if (
          /\b(?:npm (?:i|install)|npx|pnpm|yarn)\b.*\s(?:mcp-server-bmad|bmad-mcp-server)(?:\s|@|$)/.test(
            line,
          )
        )
          wrong.push(`${file}: ${line}`);
    expect(wrong).toEqual([]);
  });
});
