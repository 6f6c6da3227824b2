import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { serve, whoami } from '../../../tests/support/front-door.ts';
import { openRequest, openSocket, sendRequest, type Sent } from '../../../tests/support/raw-http.ts';
import { type HttpRoute, refuseAsProblem } from '../../base/http/http-route.ts';
import { tokenGate } from './gate.ts';

/** Stays open for as long as the client wants. */
const stream: HttpRoute = {
  path: '/stream',
  methods: ['GET'],
  refuse: refuseAsProblem,
  handle: async ({ stays }) =>
    stays?.() === true ? new Response(new ReadableStream()) : refuseAsProblem(503, 'Too many streams.'),
};
const health: HttpRoute = { ...whoami, path: '/health', open: true };

const get = (path: string, token?: string): Sent => ({
  method: 'GET',
  path,
  headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
});
const EVE = 'the-token-of-eve-1234';
const ADA = 'the-token-of-ada-1234';

describe('room', () => {
  it('is kept for calls, however many listen, and health is told in any case', async () => {
    const { origin } = await serve({
      routes: [stream, whoami, health],
      limits: { requests: 1, streams: 3 },
    });
    const streams = await Promise.all([1, 2, 3].map(() => openRequest(origin, get('/stream'))));
    expect(streams.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
    expect((await sendRequest(origin, get('/stream'))).status).toBe(503);
    expect((await sendRequest(origin, get('/who'))).status).toBe(200);
    // A call whose body does not come takes the only place among the calls.
    const socket = await openSocket(origin);
    socket.write(
      'POST /who HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n',
    );
    await once(socket, 'data');
    expect((await sendRequest(origin, get('/who'))).status).toBe(503);
    expect((await sendRequest(origin, get('/health'))).status).toBe(200);
    socket.destroy();
    for (const each of streams) each.destroy();
  });

  it('is not all for one caller', async () => {
    const tokens = [EVE, ADA].map((token) => ({ token, mayWrite: true }));
    const { origin } = await serve({ routes: [stream], limits: { streams: 4 }, gate: tokenGate(tokens) });
    const first = await Promise.all([1, 2].map(() => openRequest(origin, get('/stream', EVE))));
    expect(first.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    expect((await sendRequest(origin, get('/stream', EVE))).status).toBe(503);
    const other = await openRequest(origin, get('/stream', ADA));
    expect(other.statusCode).toBe(200);
    for (const each of [...first, other]) each.destroy();
  });

  it('is not all for one caller that sends half a body a thousand times', async () => {
    const tokens = [
      { token: EVE, mayWrite: true, only: 'a2a' as const },
      { token: ADA, mayWrite: true },
    ];
    const { origin } = await serve({
      routes: [{ ...whoami, part: 'a2a' }],
      limits: { requests: 10 },
      gate: tokenGate(tokens),
    });
    const sockets = await Promise.all(Array.from({ length: 1_000 }, () => halfSent(origin, EVE)));
    expect((await sendRequest(origin, get('/who', EVE))).status).toBe(503);
    expect((await sendRequest(origin, get('/who', ADA))).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });
});

/** A call whose body does not come. The server has taken it when it asks for the rest. */
async function halfSent(origin: string, token: string): Promise<Socket> {
  const socket = await openSocket(origin);
  const head = `POST /who HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`;
  socket.write(`${head}Content-Length: 5000\r\nExpect: 100-continue\r\n\r\n{`);
  await once(socket, 'data');
  return socket;
}

const STALLED_MS = 3_000;

describe('a client that reads slowly', () => {
  it('gets all of a long answer', async () => {
    const bytes = 24 * 1024 * 1024;
    const long: HttpRoute = {
      ...whoami,
      path: '/long',
      handle: async () => new Response(new Uint8Array(bytes)),
    };
    const { origin } = await serve({ routes: [long], limits: { stalledMs: STALLED_MS } });
    const answer = await openRequest(origin, get('/long'));
    let got = 0;
    const started = performance.now();
    for await (const piece of answer as AsyncIterable<Buffer>) {
      got += piece.length;
      // So slowly that all of it takes longer than a client may read nothing, and no slower when the machine is busy.
      const due = started + (got / bytes) * 1.5 * STALLED_MS;
      await pause(Math.max(0, due - performance.now()));
    }
    expect(got).toBe(bytes);
  });
});

describe('a message', () => {
  it.each([
    ['is too deep', '['.repeat(4_000_000), 'levels'],
    ['is a list of too many', `[${'1,'.repeat(1_000_000)}1]`, 'messages'],
  ])('that %s is refused before anybody works on it', async (_what, body, why) => {
    const { origin } = await serve();
    const { status, text } = await sendRequest(origin, { path: '/who', body });
    expect(status).toBe(400);
    expect(text).toContain(why);
  });
});
