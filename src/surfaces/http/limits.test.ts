import { once } from 'node:events';
import { Agent } from 'node:http';
import { describe, expect, it } from 'vitest';
import { serve, slowRoute, whoami } from '../../../tests/support/front-door.ts';
import { allOf, openRequest, openSocket, sendRequest } from '../../../tests/support/raw-http.ts';
import { type HttpRoute, refuseAsProblem } from '../../base/http/http-route.ts';

async function refusedBy(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
    return 'an answer';
  } catch (error) {
    return String(error);
  }
}

describe('limits', () => {
  it('cuts off headers that are too slow', async () => {
    const { origin } = await serve({ limits: { headerMs: 100 } });
    const socket = await openSocket(origin);
    socket.write('GET /who HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    const said = await allOf(socket);
    expect(said).toMatch(/^HTTP\/1\.1 408 /);
    expect(said).toContain('application/problem+json');
    expect((await sendRequest(origin, { method: 'GET', path: '/who' })).status).toBe(200);
  });

  it('cuts off a body that is too slow', async () => {
    const { origin } = await serve({ limits: { headerMs: 100, requestMs: 200 } });
    const socket = await openSocket(origin);
    socket.write('POST /who HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n12345');
    expect(await allOf(socket)).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('tells a client that sends too much, once it has sent it', async () => {
    const { origin } = await serve();
    const body = ' '.repeat(5 * 1024 * 1024);
    for (let time = 0; time < 5; time += 1) {
      const response = await fetch(`${origin}/who`, { method: 'POST', body });
      expect(response.status).toBe(413);
      expect(await response.text()).toContain('at most 4194304 bytes');
    }
  });

  it('tells a client that asks first, before it has sent anything', async () => {
    const { origin } = await serve();
    const socket = await openSocket(origin);
    const length = 5 * 1024 * 1024;
    socket.write(
      `POST /who HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`,
    );
    expect(await allOf(socket)).toMatch(/^HTTP\/1\.1 413 /);
    const small = await openSocket(origin);
    small.write(
      'POST /who HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}',
    );
    expect(await allOf(small)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
  });

  it('refuses headers that are too long or too many', async () => {
    const { origin } = await serve();
    const long = await sendRequest(origin, { path: '/who', headers: { 'x-long': 'x'.repeat(20_000) } });
    expect(long.status).toBe(431);
    expect(JSON.parse(long.text)).toMatchObject({ status: 431 });
    const headers = Object.fromEntries(Array.from({ length: 120 }, (_, index) => [`x-${index}`, '1']));
    const many = await sendRequest(origin, { path: '/who', headers });
    expect(many.status).toBe(431);
    expect(many.text).toContain('100 headers');
  });

  it.each([
    'nonsense\r\n\r\n',
    'GET /who HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n',
    'GET /who HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
  ])('refuses what is no request: %j', async (bytes) => {
    const { origin } = await serve();
    const socket = await openSocket(origin);
    socket.write(bytes);
    expect(await allOf(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('refuses requests above the number that may be open, and takes them again later', async () => {
    const { route, begun, answer } = slowRoute();
    const { origin } = await serve({ routes: [route, whoami], limits: { requests: 1 } });
    const first = sendRequest(origin, { method: 'GET', path: '/slow' });
    await begun;
    const second = await sendRequest(origin, { method: 'GET', path: '/who' });
    expect(second.status).toBe(503);
    expect(second.headers['retry-after']).toBe('1');
    expect(JSON.parse(second.text)).toMatchObject({ jsonrpc: '2.0', error: {} });
    answer();
    expect((await first).status).toBe(200);
    expect((await sendRequest(origin, { method: 'GET', path: '/who' })).status).toBe(200);
  });

  it('cuts a client that reads nothing, takes no more from the stream meanwhile, and serves others', async () => {
    let pieces = 0;
    let ended: () => void;
    const cancelled = new Promise<void>((resolve) => (ended = resolve));
    const endless: HttpRoute = {
      path: '/endless',
      methods: ['GET'],
      refuse: refuseAsProblem,
      handle: async () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              pieces += 1;
              controller.enqueue(new Uint8Array(1024 * 1024));
            },
            cancel: () => ended(),
          }),
        ),
    };
    const { origin } = await serve({ routes: [endless, whoami], limits: { stalledMs: 200 } });
    const socket = await openSocket(origin);
    socket.pause();
    socket.write('GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await cancelled;
    expect(pieces).toBeLessThan(64);
    expect((await sendRequest(origin, { method: 'GET', path: '/who' })).status).toBe(200);
    socket.destroy();
  });

  it('tells the route when a client leaves in the middle of a call', async () => {
    const { route, begun, answer } = slowRoute();
    const { origin } = await serve({ routes: [route] });
    const socket = await openSocket(origin);
    socket.write('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const { over, request } = await begun;
    const left = once(over, 'abort');
    socket.destroy();
    await left;
    expect(request.signal.aborted).toBe(true);
    answer();
  });

  it('tells nothing of what went wrong inside', async () => {
    const broken: HttpRoute = {
      ...whoami,
      handle: async () => {
        throw new Error('secret of /home/ada');
      },
    };
    const { origin } = await serve({ routes: [broken] });
    const { status, text } = await sendRequest(origin, { path: '/who' });
    expect(status).toBe(500);
    expect(text).not.toContain('ada');
    expect(text).not.toContain('at ');
  });
});

describe('the end', () => {
  it('finishes what runs, refuses what comes on kept connections, and takes no new ones', async () => {
    const { route, begun, answer } = slowRoute();
    const door = await serve({ routes: [route, whoami] });
    const socket = await openSocket(door.origin);
    // The second request waits behind the first one on the same connection.
    socket.write('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await begun;
    const closed = door.close();
    socket.write('GET /who HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await expect(sendRequest(door.origin, { path: '/who' })).rejects.toThrow('ECONNREFUSED');
    answer();
    const said = await allOf(socket);
    expect(said).toMatch(/^HTTP\/1\.1 200 [^]*"done":true[^]*HTTP\/1\.1 503 [^]*shutting down/);
    await closed;
  });

  it('does not wait longer than the limit', async () => {
    const { route, begun } = slowRoute();
    const door = await serve({ routes: [route], limits: { shutdownMs: 50 } });
    const cut = refusedBy(openRequest(door.origin, { method: 'GET', path: '/slow' }));
    const left = once((await begun).over, 'abort');
    await door.close();
    await left;
    expect(await cut).toMatch(/hang up|ECONNRESET/);
  });

  it('neither counts nor waits for a call that has not come whole, and refuses it then', async () => {
    const { route, begun, answer } = slowRoute();
    const door = await serve({ routes: [route, whoami], limits: { shutdownMs: 600_000 } });
    const socket = await openSocket(door.origin);
    socket.write(
      'POST /who HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{',
    );
    await once(socket, 'data');
    expect(door.running()).toBe(0);
    const slow = sendRequest(door.origin, { method: 'GET', path: '/slow' });
    await begun;
    expect(door.running()).toBe(1);
    const closed = door.close();
    socket.write('}');
    expect(await allOf(socket)).toMatch(/HTTP\/1\.1 503 [^]*shutting down/);
    answer();
    expect((await slow).status).toBe(200);
    await closed;
  });

  it('does not wait for connections that are only kept', async () => {
    const door = await serve();
    const agent = new Agent({ keepAlive: true });
    expect((await sendRequest(door.origin, { method: 'GET', path: '/who', agent })).status).toBe(200);
    await door.close();
    agent.destroy();
  });
});
