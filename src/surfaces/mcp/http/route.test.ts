import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../../tests/support/app.ts';
import {
  INITIALIZE,
  LIST,
  modern,
  openRequest,
  sendRequest,
  type Received,
  type Sent,
} from '../../../../tests/support/raw-http.ts';
import { refusal } from '../../../../tests/support/thrown.ts';
import { openFrontDoor, type FrontDoor } from '../../http/front-door.ts';
import { createMcpRoute } from './route.ts';

const MODERN = modern('tools/list');

let serving: FrontDoor;
const folder = await temporaryFolder(afterAll);
const context = await contextIn(folder);

const serve = (port = 0): Promise<FrontDoor> =>
  openFrontDoor({ port, routes: [createMcpRoute(context, { sessions: 20 })], log: context.log });

beforeAll(async () => {
  serving = await serve();
  return () => serving.close();
});

const open = (sent: Sent): Promise<IncomingMessage> => openRequest(serving.origin, sent);
const send = (sent: Sent): Promise<Received> => sendRequest(serving.origin, sent);

async function openSession(): Promise<Record<string, string>> {
  const { status, headers } = await send({ body: INITIALIZE });
  expect(status).toBe(200);
  return { 'mcp-session-id': String(headers['mcp-session-id']) };
}

describe('MCP over HTTP', () => {
  it('listens on this machine only', () => {
    expect(serving.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('serves clients of 2025 in sessions', async () => {
    const session = await openSession();
    const { status, text } = await send({ body: LIST, headers: session });
    expect(status).toBe(200);
    expect(text).toContain('"name":"bmad"');
  });

  it('serves clients of 2026 without', async () => {
    const { status, headers, text } = await send(MODERN);
    expect(status).toBe(200);
    expect(headers['mcp-session-id']).toBeUndefined();
    const { id, result } = JSON.parse(text) as { id: number; result: { tools: { name: string }[] } };
    expect(id).toBe(3);
    expect(result.tools[0]?.name).toBe('bmad');
  });

  it.each([
    ['a page that leads here under its own name', { headers: { host: 'evil.example' } }, 403],
    ['a name that only begins well', { headers: { host: 'localhost.evil.example' } }, 403],
    ['a page of another origin', { headers: { origin: 'https://evil.example' } }, 403],
    ['a page without an origin', { headers: { origin: 'null' } }, 403],
    ['another method', { method: 'PUT' }, 405],
    ['a method no web request may have', { method: 'TRACE' }, 405],
    ['another type of content', { headers: { 'content-type': 'text/plain' } }, 415],
    [
      'what does not say it is JSON, before anything of it is looked at',
      { headers: { 'content-type': 'text/plain', 'mcp-session-id': 'unknown' }, body: '['.repeat(4_000_000) },
      415,
    ],
    ['an empty type of content', { headers: { 'content-type': '' } }, 415],
    ['what is not JSON', { body: 'nonsense' }, 400],
    ['a request before initialize', { body: LIST }, 400],
    ['a stream without a session', { method: 'GET' }, 400],
    ['a session nobody has', { body: LIST, headers: { 'mcp-session-id': 'unknown' } }, 404],
    [
      'a header that is not what the body says',
      { ...MODERN, headers: { ...MODERN.headers, 'mcp-method': 'ping' } },
      400,
    ],
  ] as [string, Sent, number][])('refuses %s', async (_what, sent, status) => {
    const received = await send({ ...(sent.method === undefined ? { body: INITIALIZE } : {}), ...sent });
    expect(received.status).toBe(status);
    expect(received.headers['mcp-session-id']).toBeUndefined();
    expect(JSON.parse(received.text)).toMatchObject({ jsonrpc: '2.0', error: {} });
  });

  it.each(['/', '/mcp/more', '/api', '//mcp'])('says what there is instead of %s', async (path) => {
    const received = await send({ body: INITIALIZE, path });
    expect(received.status).toBe(404);
    expect(received.headers['content-type']).toBe('application/problem+json');
    expect(JSON.parse(received.text)).toMatchObject({ status: 404, detail: expect.stringContaining('/mcp') });
  });

  it('serves a page of this machine, and this machine by name', async () => {
    const headers = { ...MODERN.headers, host: 'localhost:1', origin: 'http://localhost:6274' };
    expect((await send({ ...MODERN, headers })).status).toBe(200);
  });

  it.each([
    ['says', { 'content-length': String(5 * 1024 * 1024) }],
    ['sends', { 'transfer-encoding': 'chunked' }],
  ])('refuses a body of which the client %s that it is too long', async (_how, headers) => {
    const received = await send({ body: ' '.repeat(5 * 1024 * 1024), headers });
    expect(received.status).toBe(413);
    expect(received.headers.connection).toBe('close');
  });

  it('ends a session when the client says so', async () => {
    const session = await openSession();
    expect((await send({ method: 'DELETE', headers: session })).status).toBe(200);
    expect((await send({ body: LIST, headers: session })).status).toBe(404);
  });

  it('lets the session that was silent longest make room, but none that still listens', async () => {
    const listening = await openSession();
    const stream = await open({ method: 'GET', headers: listening });
    expect(stream.statusCode).toBe(200);
    const silent = await openSession();
    for (let count = 0; count < 20; count += 1) await openSession();
    expect((await send({ body: LIST, headers: silent })).status).toBe(404);
    expect((await send({ body: LIST, headers: listening })).status).toBe(200);
    stream.destroy();
  });

  it('goes on after a client that leaves in the middle of a request', async () => {
    const { port } = new URL(serving.origin);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write('POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"json');
    await once(socket, 'connect');
    socket.destroy();
    await once(socket, 'close');
    expect((await send(MODERN)).status).toBe(200);
  });

  it('says which port is taken and what to do', async () => {
    const taken = Number(new URL(serving.origin).port);
    const error = await refusal(() => serve(taken));
    expect(error.code).toBe('unavailable');
    expect(error.message).toContain(`port ${taken}`);
    expect(error.hint).toContain('--port 0');
  });

  it('ends streams and sessions when it is closed', async () => {
    const other = await serve();
    const before = serving;
    serving = other;
    const stream = await open({ method: 'GET', headers: await openSession() });
    serving = before;
    await Promise.all([textOf(stream), other.close()]);
    await other.ended;
    await expect(fetch(other.origin)).rejects.toThrow('fetch failed');
  });

  it('logs nothing that a person has to read', () => {
    expect(context.written).toEqual([]);
  });
});
