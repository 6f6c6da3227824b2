import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../tests/support/app.ts';
import { endedProcess } from '../../tests/support/ended-process.ts';
import { hasPage, localOrigin } from './page-server.ts';
import { stdioServers } from './stdio-servers.ts';

const folder = await temporaryFolder(afterAll);

describe('a server over HTTP', () => {
  it.each([
    [{}, true],
    [{ page: 'off' }, false],
    [{ httpHost: '0.0.0.0' }, false],
    [{ httpHost: '0.0.0.0', page: 'on' }, true],
    // Behind a proxy, people of other machines come from this one too.
    [{ publicUrl: 'https://bmad.example.com' }, false],
    [{ allowHosts: ['bmad.lan'] }, false],
    [{ publicUrl: 'https://bmad.example.com', page: 'on' }, true],
  ])('with %j has the page: %s', async (flags, expected) => {
    const { config } = await contextIn(folder, { flags });
    expect(hasPage(config)).toBe(expected);
  });

  it('is listed under an address that a browser on its machine can open', () => {
    expect(localOrigin('http://0.0.0.0:2623', '0.0.0.0')).toBe('http://127.0.0.1:2623');
    expect(localOrigin('http://[::]:2623', '::')).toBe('http://[::1]:2623');
    expect(localOrigin('http://127.0.0.1:1', '127.0.0.1')).toBe('http://127.0.0.1:1');
  });
});

describe('servers that hosts have started', () => {
  it('are listed while their process is there, and leave nothing behind', async () => {
    const state = await temporaryFolder(afterAll);
    const list = stdioServers(state);
    expect(await list.running()).toEqual([]);
    const server = { roots: ['/shop'], started: '2026-11-01T00:00:00.000Z', version: '1' };
    const leave = await list.add({ ...server, pid: process.pid, client: 'desk 1.0' });
    await list.add({ ...server, pid: await endedProcess() });
    await writeFile(join(state, 'stdio-servers', 'broken.json'), '{');
    expect(await list.running()).toEqual([{ ...server, pid: process.pid, client: 'desk 1.0' }]);
    // Whose the broken one is, nobody here can tell.
    expect(await readdir(join(state, 'stdio-servers'))).toHaveLength(2);
    await leave();
    expect(await readdir(join(state, 'stdio-servers'))).toEqual(['broken.json']);
  });
});
