import { text as textOf } from 'node:stream/consumers';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { FakeQdrant } from '../../../tests/memory/fake-qdrant.ts';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { slowRoute } from '../../../tests/support/front-door.ts';
import { openSocket } from '../../../tests/support/raw-http.ts';
import { served } from '../../../tests/support/served.ts';
import type { Exchange } from '../../base/http/http-route.ts';
import type { Workspace } from '../../operations/context.ts';
import { execute } from '../../operations/execute.ts';
import { recallStructured } from '../../operations/memory/recall-structured.ts';
import { openFrontDoor } from './front-door.ts';
import { createHealthRoutes } from './health.ts';

const folder = await temporaryFolder(afterAll);

async function asked(origin: string, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${origin}${path}`);
  return { status: response.status, text: await response.text() };
}

describe('the health of the server', () => {
  it('is not ready while content is being read, and is afterwards', async () => {
    const context = await contextIn(folder);
    let go: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => void (go = resolve));
    const workspace = (): Promise<Workspace> => gate.then(() => context.workspace());
    const { origin } = await served(context, createHealthRoutes({ ...context, workspace }), onTestFinished);
    expect((await asked(origin, '/healthz')).status).toBe(200);
    expect(await asked(origin, '/readyz')).toEqual({
      status: 503,
      text: '{"status":"not ready","reasons":["The content is being read."]}',
    });
    go();
    await expect.poll(() => asked(origin, '/readyz')).toEqual({ status: 200, text: '{"status":"ready"}' });
    expect((await fetch(`${origin}/readyz`, { method: 'HEAD' })).status).toBe(200);
  });

  it('says that it cannot read the content, not where it lies, and tries again', async () => {
    const context = await contextIn(folder);
    let works = false;
    const workspace = (): Promise<Workspace> =>
      works ? context.workspace() : Promise.reject(new Error(`no ${folder}`));
    const { origin } = await served(context, createHealthRoutes({ ...context, workspace }), onTestFinished);
    const before = await asked(origin, '/readyz');
    expect(before).toMatchObject({ status: 503 });
    expect(before.text).toContain('The content cannot be read.');
    expect(before.text).not.toContain(folder);
    works = true;
    await expect.poll(async () => (await asked(origin, '/readyz')).status).toBe(200);
  });

  it('is not ready when the store of the memories is gone, once they have been used, and the log says why (D-4)', async () => {
    const qdrant = new FakeQdrant();
    const project = await temporaryFolder(onTestFinished);
    const context = await contextIn(project, { flags: { qdrantUrl: await qdrant.start(), project } });
    await context.workspace();
    const before = await served(context, createHealthRoutes(context), onTestFinished);
    // It looks at the content itself, which takes a moment also where it was read before.
    await expect.poll(async () => (await asked(before.origin, '/readyz')).status).toBe(200);
    expect((await execute(recallStructured, { query: 'x' }, context, testCall())).ok).toBe(true);
    await qdrant.stop();
    const after = await served(context, createHealthRoutes(context), onTestFinished);
    const { status, text } = await asked(after.origin, '/readyz');
    expect(status).toBe(503);
    expect(text).toContain('The memory store cannot be used; the server’s log says why.');
    expect((await asked(after.origin, '/healthz')).status).toBe(200);
    // However often it is asked, the same is said once.
    expect(await context.memoriesAnswer()).toBe(false);
    const said = context.written.filter((line) => line.includes('the memory store cannot be used'));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('Qdrant');
  });

  it.each([
    ['/readyz', /200 [^]*"done"[^]*HTTP\/1\.1 503 [^]*not ready[^]*shutting down/],
    ['/healthz', /200 [^]*"done"[^]*HTTP\/1\.1 200 [^]*"ok"/],
  ])('is told by %s while the server ends, on connections that are open', async (path, said) => {
    const context = await contextIn(folder);
    await context.workspace();
    const { route, begun, answer } = slowRoute();
    let arrive: () => void = () => undefined;
    const arrived = new Promise<void>((resolve) => void (arrive = resolve));
    const health = createHealthRoutes(context).map((each) => ({
      ...each,
      handle: (exchange: Exchange) => {
        arrive();
        return each.handle(exchange);
      },
    }));
    const door = await openFrontDoor({ port: 0, routes: [...health, route], log: context.log });
    const socket = await openSocket(door.origin);
    const ask = (place: string): string => `GET ${place} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    socket.write(ask('/slow'));
    await begun;
    const closed = door.close();
    socket.write(ask(path));
    await arrived;
    answer();
    expect(await textOf(socket)).toMatch(said);
    await closed;
  });

  it('tells balancers before the listener is gone, where it is given the time', async () => {
    const context = await contextIn(folder);
    await context.workspace();
    const door = await openFrontDoor({
      port: 0,
      routes: createHealthRoutes(context),
      log: context.log,
      limits: { drainMs: 1_500 },
    });
    const drained = door.drain();
    expect((await asked(door.origin, '/readyz')).text).toContain('The server is shutting down.');
    expect((await asked(door.origin, '/healthz')).status).toBe(200);
    await drained;
    await door.close();
    await expect(fetch(door.origin)).rejects.toThrow('fetch failed');
  });
});
