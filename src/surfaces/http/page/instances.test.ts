import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../tests/support/app.ts';
import { endedProcess } from '../../../../tests/support/ended-process.ts';
import { writeFiles } from '../../../../tests/support/folders.ts';
import { openInstances } from './instances.ts';

const instance = {
  pid: process.pid,
  origin: 'http://127.0.0.1:1',
  kind: 'page' as const,
  page: true,
  roots: ['/srv/shop'],
  started: '2026-11-16T10:00:00.000Z',
  version: '0.1.0',
};

describe('the list of servers that are running', () => {
  it('has those whose process is there, and forgets all others', async () => {
    const state = await temporaryFolder(onTestFinished);
    const instances = openInstances(state);
    expect(await instances.running()).toEqual([]);
    const { remove } = await instances.add(instance);
    await instances.add({ ...instance, pid: await endedProcess(), started: '2026-11-16T09:00:00.000Z' });
    await writeFiles(state, { 'instances/1-broken.json': '{"pid":', 'instances/notes.txt': 'not ours' });
    expect(await instances.running()).toMatchObject([instance]);
    expect(await readdir(join(state, 'instances'))).toHaveLength(2);
    await remove();
    expect(await instances.running()).toEqual([]);
  });

  it('asks them, where the number of a process may be that of another by now', async () => {
    const instances = openInstances(await temporaryFolder(onTestFinished));
    const http = createServer((_request, response) => void response.end('{"status":"ok"}'));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void http.close());
    const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    await instances.add(instance);
    await instances.add({ ...instance, origin });
    expect(await instances.answering()).toMatchObject([{ origin }]);
  });
});
