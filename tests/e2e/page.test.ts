import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { cliFile, temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { LineClient } from '../support/line-client.ts';
import { serveHere, startHttpServer } from '../support/http-server.ts';
import { KIT_FILES } from '../support/kit-project.ts';
import { bareEnvironment, bmad } from '../support/programs.ts';
import { isDeep, some } from '../support/how-much.ts';

const home = await temporaryFolder(afterAll);
const [shop, garden] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
await writeFiles(shop, KIT_FILES);
await writeFiles(garden, KIT_FILES);
const env = bareEnvironment(home);
const state = join(home, '.local/state/bmad-mcp-server');
const LINK = /^http:\/\/127\.0\.0\.1:\d+\/page\/enter\?key=[\w-]{43}(?:&project=[^&\s]+)?\n$/;

const enteredAt = async (server: string, key: string): Promise<number> =>
  (await fetch(new URL(`/page/enter?key=${key}`, server), { redirect: 'manual' })).status;

async function page(args: readonly string[], cwd = shop) {
  const { code, stdout, stderr } = await bmad(['page', ...args], { cwd, env });
  return { code, stdout: stdout.toString(), stderr };
}

describe('bmad page', () => {
  it('serves one page for all projects of a user, lets a person in once, and forgets itself at its end', async () => {
    const child = spawn(process.execPath, [cliFile, 'page', '--port', '0'], {
      cwd: shop,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    afterAll(() => void child.kill('SIGKILL'));
    const [printed] = (await once(child.stdout, 'data')) as [Buffer];
    expect(printed.toString()).toMatch(LINK);
    const { origin } = new URL(printed.toString());

    // From another project, the same server is found, and nothing more is started.
    const again = await page([], garden);
    expect(again.stdout).toMatch(LINK);
    expect(new URL(again.stdout).origin).toBe(origin);
    const entered = await fetch(again.stdout.trim(), { redirect: 'manual' });
    expect(entered.status).toBe(303);
    // The link opens the project that it was made in, not the first of the server.
    expect(entered.headers.get('location')).toBe(`/#/inbox?project=${encodeURIComponent(garden)}`);
    const cookie = (entered.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
    const session = (await (await fetch(`${origin}/api/page/session`, { headers: { cookie } })).json()) as {
      person: { id: string };
    };
    expect(session).toMatchObject({
      project: shop,
      projects: [{ root: shop }, { root: garden }],
      instances: [{ origin, kind: 'page', own: true }],
    });
    const inGarden = await fetch(`${origin}/api/page/inbox?project=${encodeURIComponent(garden)}`, {
      headers: { cookie },
    });
    expect(await inGarden.json()).toMatchObject({ project: garden });
    // A server that a host has started is there from its first call to its end.
    const host = await LineClient.connect({ cwd: garden, home });
    const listed = async () =>
      (
        (await (await fetch(`${origin}/api/page/session`, { headers: { cookie } })).json()) as {
          instances: { kind: string; client?: string; pid: number }[];
        }
      ).instances.filter(({ kind }) => kind === 'stdio');
    expect(await listed()).toEqual([]);
    await host.callTool({ operation: 'list', query: 'agents' });
    await expect.poll(listed).toMatchObject([{ roots: [garden], pid: host.child.pid }]);
    host.child.stdin.end();
    await host.ended;
    expect(await readdir(join(state, 'stdio-servers'))).toEqual([]);
    // Nobody else: not even a program on this machine.
    expect((await fetch(`${origin}/api/list`)).status).toBe(401);
    expect((await fetch(`${origin}/mcp`)).status).toBe(404);

    const { stdout: sessions } = await page(['--list']);
    expect(sessions).toContain(session.person.id);
    expect(sessions).toContain(origin);
    expect((await page(['--revoke', 'none'])).code).not.toBe(0);
    expect((await page(['--revoke', session.person.id])).stdout).toBe('1 session ended.\n');
    expect((await fetch(`${origin}/api/page/session`, { headers: { cookie } })).status).toBe(401);
    if (process.platform !== 'win32')
      expect((await stat(join(state, 'page-sessions.json'))).mode & 0o077).toBe(0);

    child.kill('SIGTERM');
    await once(child, 'close');
    expect(await readdir(join(state, 'instances'))).toEqual([]);
  });

  it('writes the board to one file, and replaces none unasked', async () => {
    const file = join(shop, 'board.html');
    expect((await page(['--export', 'board.html'])).stdout).toContain(file);
    const html = await readFile(file, 'utf8');
    expect(html).toMatch(/^<!doctype html>/);
    expect(html).not.toContain('<script');
    const again = await page(['--export', 'board.html']);
    expect(again.code).not.toBe(0);
    expect(again.stderr).toContain('--force');
  });

  it.runIf(isDeep)(
    'prints a link for another address of a server that runs, which opens no other server (X-04)',
    async () => {
      const at = 'https://bmad.example.com';
      expect((await page(['--at', at])).stderr).toContain('No server with the page is running here');
      const more = (...flags: string[]) => ({ cwd: shop, home, more: ['--page', 'on', ...flags] });
      const one = await startHttpServer(more('--public-url', at));
      onTestFinished(() => void one.stop());
      const { stdout } = await page(['--at', `${at}/`]);
      expect(stdout).toMatch(/^https:\/\/bmad\.example\.com\/page\/enter\?key=[\w-]{43}\n$/);
      const other = await startHttpServer(more());
      onTestFinished(() => void other.stop());
      const key = new URL(stdout).searchParams.get('key') ?? '';
      expect(await enteredAt(other.url, key)).toBe(403);
      expect(await enteredAt(one.url, key)).toBe(303);
      // By its port it is known as well; of several, none is chosen at random.
      const { port } = new URL(other.url);
      const ported = new URL((await page(['--at', `http://box.lan:${port}`])).stdout);
      expect(await enteredAt(one.url, ported.searchParams.get('key') ?? '')).toBe(403);
      expect(await enteredAt(other.url, ported.searchParams.get('key') ?? '')).toBe(303);
      expect((await page(['--at', 'https://other.example.com'])).stderr).toContain('has the address');
      expect((await page(['--at', 'nowhere'])).stderr).toContain('is not an address');
      expect((await page(['--help'])).stdout).toContain('--export');
      await Promise.all([one.stop(), other.stop()]);
    },
  );

  it('prints none for an address of this machine at which no server has proven itself (X-04)', async () => {
    const one = await serveHere({ cwd: shop, home, more: ['--page', 'on'] });
    onTestFinished(() => void one.stop());
    const stranger = createServer((_, response) => void response.end('{"status":"ok"}'));
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void stranger.close());
    const { port } = stranger.address() as AddressInfo;
    // The only server that is running is not meant by the address of another program.
    const addresses = [
      `http://127.0.0.1:${port}`,
      'http://127.0.0.1',
      `http://localhost:${port}`,
      `http://[::1]:${port}`,
    ];
    for (const at of some(2, addresses)) {
      const { code, stdout, stderr } = await page(['--at', at]);
      expect([code === 0, stdout, stderr.includes('has the address')], at).toEqual([false, '', true]);
    }
    expect((await page(['--at', new URL(one.url).origin])).stdout).toMatch(LINK);
    await one.stop();
  });

  it('gives no link to a program that listens where a server was, forgets that one, and says what to do (X-04)', async () => {
    const killed = await startHttpServer({ cwd: shop, home, more: ['--page', 'on'] });
    const { port, origin } = new URL(killed.url);
    const folder = join(state, 'instances');
    const [name = ''] = await readdir(folder);
    const record = JSON.parse(await readFile(join(folder, name), 'utf8')) as object;
    killed.child.kill('SIGKILL');
    await killed.ended;
    // Another process, which has the number and the port of the one that is gone.
    const script = `require('http').createServer((q, r) => { console.log(q.url); r.end('{"status":"ok"}') }).listen(${port}, '127.0.0.1', () => console.log('up'))`;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let heard = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => void (heard += text));
    await once(child.stdout, 'data');
    // Where the system says when a process began, the record is dropped by that; here it fits, so that it is asked.
    const { mark: _mark, ...fitting } = { mark: '', ...record };
    await writeFiles(folder, { [name]: JSON.stringify({ ...fitting, pid: child.pid }) });
    const { stdout: listed } = await page(['--list']);
    expect(listed).toContain(`Another program answers at ${origin}`);
    expect(listed).toContain('bmad page --revoke all');
    expect(listed).toContain('No server is running.');
    expect(await readdir(folder)).toEqual([]);
    await writeFiles(folder, { [name]: JSON.stringify({ ...fitting, pid: child.pid }) });
    const own = spawn(process.execPath, [cliFile, 'page', '--port', '0'], {
      cwd: shop,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void own.kill('SIGKILL'));
    let said = '';
    own.stderr.setEncoding('utf8').on('data', (text: string) => void (said += text));
    const [printed] = (await once(own.stdout, 'data')) as [Buffer];
    // It serves the page itself, elsewhere.
    expect(printed.toString()).toMatch(LINK);
    expect(new URL(printed.toString()).port).not.toBe(port);
    expect(said).toContain(`Another program answers at ${origin}`);
    expect(heard).not.toContain('key=');
    own.kill('SIGTERM');
    await once(own, 'close');
    expect(await readdir(folder)).toEqual([]);
  });
});
