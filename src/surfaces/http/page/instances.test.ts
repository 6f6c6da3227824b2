import { readdir, readFile } from 'node:fs/promises';
import { createServer, get, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../tests/support/app.ts';
import { endedProcess } from '../../../../tests/support/ended-process.ts';
import { writeFiles } from '../../../../tests/support/folders.ts';
import { createLog } from '../../../base/log.ts';
import { createSecrets } from '../../../base/secrets/rules.ts';
import { openFrontDoor } from '../front-door.ts';
import { createProofRoute, newIdentity, openInstances, type Instance } from './instances.ts';

const log = createLog({ level: 'silent', write: () => undefined, json: true, secrets: createSecrets() });
const about = {
  pid: process.pid,
  origin: 'http://127.0.0.1:1',
  kind: 'page' as const,
  page: true,
  roots: ['/srv/shop'],
  started: new Date().toISOString(),
  version: '0.1.0',
};
const instance = (more: Partial<Instance> = {}): Instance => ({ ...newIdentity(), ...about, ...more });

async function list() {
  const state = await temporaryFolder(onTestFinished);
  const names = () => readdir(join(state, 'instances'));
  return { state, names, instances: openInstances(state) };
}

/** A real server of this identity, and where it is reached. */
async function served(identity: Instance, host = '127.0.0.1', at = '127.0.0.1'): Promise<string> {
  const door = await openFrontDoor({ host, port: 0, routes: [createProofRoute(identity)], log });
  onTestFinished(() => door.close());
  return `http://${at}:${new URL(door.origin).port}`;
}

/** Another program on a port of this machine. */
async function stranger(answer: RequestListener): Promise<string> {
  const http = createServer(answer);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

describe('the list of servers that are running', () => {
  it('has those whose process is there, and forgets all others', async () => {
    const { state, names, instances } = await list();
    expect(await instances.running()).toEqual([]);
    const one = instance();
    const remove = await instances.add(one);
    await instances.add(instance({ pid: await endedProcess() }));
    // Whose these are, nobody here can tell.
    await writeFiles(state, { 'instances/1-broken.json': '{"pid":', 'instances/notes.txt': 'not ours' });
    expect(await instances.running()).toEqual([one]);
    expect(await names()).toHaveLength(3);
    await remove();
    expect(await instances.running()).toEqual([]);
  });

  it.skipIf(process.platform !== 'linux')(
    'takes no later process with the same number for one of them, nor one of another user (X-04)',
    async () => {
      const { state, names, instances } = await list();
      const one = instance();
      await instances.add(one);
      const [name = ''] = await names();
      const kept = JSON.parse(await readFile(join(state, 'instances', name), 'utf8')) as { mark: string };
      expect(kept.mark).toMatch(/^\d+$/);
      // The number was that of another process.
      await writeFiles(state, { [`instances/${name}`]: JSON.stringify({ ...kept, mark: '1' }) });
      expect(await instances.running()).toEqual([]);
      expect(await names()).toEqual([]);
      if (process.getuid?.() === 0) return;
      await writeFiles(state, {
        [`instances/${name}`]: JSON.stringify({ ...kept, pid: 1, mark: undefined }),
      });
      expect(await instances.running()).toEqual([]);
    },
  );

  it('leaves those of another machine or container alone, whatever its name and theirs (15)', async () => {
    const { state, names, instances } = await list();
    const gone = { ...instance(), pid: await endedProcess() };
    await writeFiles(state, {
      // The same name, other numbers: a container has that of its host, or a machine the name of another.
      'instances/1-a.json': JSON.stringify({ ...gone, space: '0123456789abcdef', host: hostname() }),
      'instances/1-b.json': JSON.stringify({ ...gone, started: '2020-01-01T00:00:00.000Z' }),
    });
    expect(await instances.answering()).toEqual({ proven: [], strangers: [] });
    expect(await names()).toEqual(['1-a.json', '1-b.json']);
  });

  it('keeps what another version has written about a process that is there', async () => {
    const { state, names, instances } = await list();
    await instances.add(instance());
    const [name = ''] = await names();
    const { secret: _secret, ...older } = JSON.parse(
      await readFile(join(state, 'instances', name), 'utf8'),
    ) as Record<string, unknown>;
    await writeFiles(state, { [`instances/${name}`]: JSON.stringify(older) });
    expect(await instances.running()).toEqual([]);
    expect(await names()).toEqual([name]);
    await writeFiles(state, {
      [`instances/${name}`]: JSON.stringify({ ...older, pid: await endedProcess() }),
    });
    expect(await instances.running()).toEqual([]);
    expect(await names()).toEqual([]);
  });
});

describe('an instance on the list', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
    ['::', '127.0.0.1'],
  ])('proves that it is the one, listening on %s', async (host, at) => {
    const { instances } = await list();
    const one = instance();
    const origin = await served(one, host, at);
    await instances.add({ ...one, origin });
    expect(await instances.answering()).toEqual({ proven: [{ ...one, origin }], strangers: [] });
  });

  it('does not send its secret, and signs nothing but questions', async () => {
    const one = instance();
    const origin = await served(one);
    const asked = await fetch(`${origin}/instance?nonce=${'n'.repeat(43)}`);
    expect(await asked.text()).not.toContain(one.secret);
    for (const nonce of ['', 'short', `${'n'.repeat(42)}\n`, 'n'.repeat(44)])
      expect((await fetch(`${origin}/instance?nonce=${encodeURIComponent(nonce)}`)).status).toBe(400);
  });

  it.each<[string, RequestListener]>([
    ['says that all is well', (_request, response) => void response.end('{"status":"ok"}')],
    ['makes a proof up', (_request, response) => void response.end(`{"proof":"${'A'.repeat(43)}"}`)],
    ['sends the question back', ({ url }, response) => void response.end(JSON.stringify({ proof: url }))],
    ['never ends its answer', (_request, response) => void response.write('x'.repeat(100_000))],
    ['leads elsewhere', (_request, response) => void response.writeHead(302, { location: '/x' }).end()],
    ['speaks no HTTP', ({ socket }) => void socket.end('220 hello\r\n')],
  ])('is forgotten when in its place a program answers that %s (X-04)', async (_what, answer) => {
    const { names, instances } = await list();
    const one = instance({ origin: await stranger(answer) });
    await instances.add(one);
    expect(await instances.answering()).toEqual({ proven: [], strangers: [one] });
    expect(await names()).toEqual([]);
  });

  it('is forgotten when in its place a program asks a real one, this or another, and passes on what it says (X-04)', async () => {
    const { names, instances } = await list();
    const [one, other] = [instance(), instance()];
    for (const asked of [await served(one), await served(other)]) {
      const relay = await stranger((request, response) => {
        get(`${asked}${request.url ?? ''}`, (answer) => void answer.pipe(response));
      });
      await instances.add({ ...one, origin: relay });
      expect(await instances.answering()).toEqual({ proven: [], strangers: [{ ...one, origin: relay }] });
      expect(await names()).toEqual([]);
    }
  });

  it('is forgotten when nobody is there, and stays, without a link, while it is too busy to answer', async () => {
    const { names, instances } = await list();
    const busy = instance({
      origin: await stranger((_request, response) => void response.writeHead(503).end()),
    });
    await instances.add(busy);
    await instances.add(instance());
    expect(await instances.answering()).toEqual({ proven: [], strangers: [] });
    expect(await names()).toHaveLength(1);
  });
});
