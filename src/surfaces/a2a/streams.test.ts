import type { IncomingMessage } from 'node:http';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { serve } from '../../../tests/support/front-door.ts';
import { KIT_FILES, writeFiles } from '../../../tests/support/kit-project.ts';
import { openRequest, sendRequest, type Sent } from '../../../tests/support/raw-http.ts';
import type { Caller } from '../../base/http/http-route.ts';
import type { Observed } from '../../operations/context.ts';
import { createA2aRoutes } from './routes.ts';

const CALLER: Caller = { known: 'anonymous', mayWrite: true };
const EVE: Caller = { known: 'token', subject: 'eve', mayWrite: true };
const ADA: Caller = { known: 'token', subject: 'ada', mayWrite: true };
const MOST = 100;

const folder = await temporaryFolder(afterAll);
await writeFiles(folder, KIT_FILES);
const seen: Observed[] = [];
const context = {
  ...(await contextIn(folder, { flags: { embedder: 'none', a2aWithoutApproval: 'true' } })),
  observe: (one: Observed) => void seen.push(one),
};
const route = createA2aRoutes(context).find(({ path }) => path === '/a2a');

async function call(
  method: string,
  params: object,
  over = new AbortController(),
  caller = CALLER,
): Promise<Response> {
  const request = new Request('http://127.0.0.1:2623/a2a', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  if (route === undefined) throw new Error('There is no route.');
  return route.handle({ request, path: '/a2a', caller, place: '127.0.0.1 1', over: over.signal });
}

async function taskId(): Promise<string> {
  const sent = await call('SendMessage', {
    message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }], metadata: { skill: 'architect' } },
    configuration: { returnImmediately: true },
  });
  return ((await sent.json()) as { result: { task: { id: string } } }).result.task.id;
}

interface Listener {
  status: number;
  /** The connection breaks, as the front door tells it. */
  leave(): Promise<void>;
  /** The exchange is over, and the stream with it. */
  end(): Promise<void>;
}

async function listen(id: string, caller = CALLER): Promise<Listener> {
  const over = new AbortController();
  const response = await call('SubscribeToTask', { id }, over, caller);
  const reader = response.body?.getReader();
  // The first event; from then on it waits for the next.
  await reader?.read();
  const next = reader?.read();
  return {
    status: response.status,
    async leave() {
      over.abort();
      await reader?.cancel();
      await next;
    },
    async end() {
      over.abort();
      expect(await next).toMatchObject({ done: true });
    },
  };
}

describe('streams', () => {
  it('are a hundred at most, however many have left before', async () => {
    const id = await taskId();
    for (let count = 0; count < 5; count += 1) await (await listen(id)).leave();
    const open = await Promise.all(Array.from({ length: MOST }, () => listen(id)));
    onTestFinished(async () => void (await Promise.all(open.map((one) => one.leave()))));
    expect(new Set(open.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await listen(id)).status).toBe(429);
    await open.pop()?.leave();
    const another = await listen(id);
    open.push(another);
    expect(another.status).toBe(200);
    expect((await listen(id)).status).toBe(429);
  });

  it('are not all for one caller, and no calls', async () => {
    const id = await taskId();
    const before = route?.running?.();
    const open: Listener[] = [];
    onTestFinished(async () => void (await Promise.all(open.map((one) => one.leave()))));
    for (let count = 0; count < MOST / 2; count += 1) open.push(await listen(id, EVE));
    expect((await listen(id, EVE)).status).toBe(429);
    open.push(await listen(id, ADA));
    expect(new Set(open.map(({ status }) => status))).toEqual(new Set([200]));
    expect([before, route?.running?.()]).toEqual([0, 0]);
  });

  it('take no place among the calls of the server', async () => {
    const id = await taskId();
    const { origin } = await serve({
      routes: createA2aRoutes(context),
      limits: { requests: 1, streams: 3 },
    });
    const rpc = (method: string): Sent => ({
      path: '/a2a',
      body: { jsonrpc: '2.0', id: 1, method, params: { id } },
    });
    const streams: IncomingMessage[] = [];
    for (let count = 0; count < 3; count += 1)
      streams.push(await openRequest(origin, rpc('SubscribeToTask')));
    expect(streams.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
    expect((await sendRequest(origin, rpc('SubscribeToTask'))).status).toBe(429);
    expect((await sendRequest(origin, rpc('GetTask'))).status).toBe(200);
    for (const each of streams) each.destroy();
  });

  it('are one call for whoever counts, and no error when the client leaves', async () => {
    const id = await taskId();
    seen.length = 0;
    await (await listen(id)).end();
    const told = await call('SubscribeToTask', { id });
    await call('CancelTask', { id });
    expect(await told.text()).toContain('TASK_STATE_CANCELED');
    const [show, cancel] = ['outside_task_show', 'outside_task_cancel'];
    expect(seen.map(({ operation, code }) => ({ operation, code }))).toEqual(
      [show, show, cancel].map((operation) => ({ operation, code: undefined })),
    );
  });
});
