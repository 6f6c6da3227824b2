import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serve, slowRoute, whoami } from '../../../tests/support/front-door.ts';
import { openRequest, sendRequest, type Sent } from '../../../tests/support/raw-http.ts';
import { networkOf } from './exchange.ts';
import { tokenGate } from './gate.ts';

const TOKEN = 'the-token-of-ada-1234';
const gate = tokenGate([{ token: TOKEN, mayWrite: true }]);
const ASK: Sent = { method: 'GET', path: '/who', headers: { authorization: `Bearer ${TOKEN}` } };
const HALF = 'POST /who HTTP/1.1\r\nHost: localhost\r\nX-Slow: ';
const WRONG = 'GET /who HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong-wrong-wrong\r\n\r\n';
const SLOW_BODY = 'POST /who HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{';

/** Connections that have sent something, some of which the server may have closed since. */
async function hold(origin: string, count: number, text: string, localAddress?: string): Promise<Socket[]> {
  const { port } = new URL(origin);
  const sockets = Array.from({ length: count }, () =>
    connect({
      port: Number(port),
      host: '127.0.0.1',
      ...(localAddress === undefined ? {} : { localAddress }),
    }),
  );
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  for (const socket of sockets)
    socket
      .on('error', () => undefined)
      .resume()
      .write(text);
  await Promise.all(sockets.map((socket) => once(socket, 'ready').catch(() => undefined)));
  return sockets;
}

describe('the doorstep', () => {
  it.each([
    ['half-sent headers', HALF],
    ['nothing at all', ''],
    ['wrong tokens', WRONG],
    ['slow bodies and no token', SLOW_BODY],
  ])('lets honest calls through beside connections with %s (S-15)', async (_, text) => {
    const { origin } = await serve({ gate, limits: { waiting: 40, requests: 5, streams: 5 } });
    const statuses: number[] = [];
    for (let round = 0; round < 30; round += 1) {
      await hold(origin, 10, text);
      statuses.push((await sendRequest(origin, { ...ASK, agent: new Agent() })).status);
    }
    expect(statuses).toEqual(Array.from({ length: 30 }, () => 200));
  });

  it.skipIf(process.platform !== 'linux')('takes no place from another address (S-15)', async () => {
    const { origin } = await serve({ gate, limits: { waiting: 40 } });
    const quiet = await hold(origin, 10, HALF, '127.0.0.2');
    const loud = await hold(origin, 200, HALF);
    expect((await sendRequest(origin, ASK)).status).toBe(200);
    await Promise.all(loud.slice(0, 180).map(closed));
    expect(quiet.filter((socket) => socket.closed)).toEqual([]);
  });

  it('leaves alone a connection with a running call, and closes kept ones last', async () => {
    const { route, begun, answer } = slowRoute();
    const { origin } = await serve({ gate, routes: [route, whoami], limits: { waiting: 8 } });
    const running = openRequest(origin, { ...ASK, path: '/slow' });
    await begun;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const kept = await openRequest(origin, { ...ASK, agent });
    const { socket } = kept;
    kept.resume();
    await once(kept, 'end');
    const loud = await hold(origin, 50, HALF);
    await Promise.all(loud.slice(0, 40).map(closed));
    expect(socket.closed).toBe(false);
    answer();
    expect((await running).statusCode).toBe(200);
  });

  it('counts the addresses of one network as one', () => {
    expect(networkOf('::ffff:10.0.0.7')).toBe('10.0.0.7');
    expect(networkOf('10.0.0.7')).toBe('10.0.0.7');
    expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2');
    expect(networkOf('2001:db8:1:2::9')).toBe('2001:db8:1:2');
    expect(networkOf('2001:db8::9')).toBe('2001:db8:0:0');
    expect(networkOf('::1')).toBe('0:0:0:0');
    expect(networkOf(undefined)).toBe('');
  });
});

async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) await once(socket, 'close');
}
