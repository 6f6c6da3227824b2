import { once } from 'node:events';
import { Agent } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { allOf, openRequest, openSocket, sendRequest, type Sent } from '../../../tests/support/raw-http.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import { refuseAsProblem, refuseAsRpc } from '../../base/http-refusals.ts';
import type { Caller, Exchange, HttpRoute } from '../../base/http-route.ts';
import { createLog } from '../../base/log.ts';
import { createSecrets } from '../../base/secrets.ts';
import { openFrontDoor, type FrontDoor, type FrontDoorOptions } from './front-door.ts';
import { tokenGate } from './gate.ts';

const TOKEN = 'a-token-of-this-test';
const READER = 'a-token-that-only-reads';
const BASIC = `Basic ${Buffer.from(`ada:${TOKEN}`).toString('base64')}`;

const logged: string[] = [];
const log = createLog({
  level: 'debug',
  write: (line) => logged.push(line),
  json: true,
  secrets: createSecrets(),
});

const doors: FrontDoor[] = [];
afterEach(async () => void (await Promise.all(doors.splice(0).map((door) => door.close()))));

/** Says who the front door takes the caller for. */
const whoami: HttpRoute = {
  path: '/who',
  methods: ['GET', 'POST'],
  refuse: refuseAsRpc,
  handle: async ({ caller, request }) => Response.json({ caller, body: await request.text() }),
};
const health: HttpRoute = {
  path: '/health',
  methods: ['GET'],
  open: true,
  refuse: refuseAsProblem,
  handle: async ({ caller }) => Response.json({ caller }),
};

/** Answers when the test says so. */
function slowRoute(): { route: HttpRoute; begun: Promise<Exchange>; answer(): void } {
  let begin: (exchange: Exchange) => void;
  let answer: () => void;
  const begun = new Promise<Exchange>((resolve) => (begin = resolve));
  const told = new Promise<void>((resolve) => (answer = resolve));
  const route: HttpRoute = {
    path: '/slow',
    methods: ['GET'],
    refuse: refuseAsProblem,
    async handle(exchange) {
      begin(exchange);
      await told;
      return Response.json({ done: true });
    },
  };
  return { route, begun, answer: () => answer() };
}

async function serve(options: Partial<FrontDoorOptions> = {}): Promise<FrontDoor> {
  const door = await openFrontDoor({ port: 0, routes: [whoami, health], log, ...options });
  doors.push(door);
  return door;
}

async function refusedBy(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
    return 'an answer';
  } catch (error) {
    return String(error);
  }
}

const bearer = (token: string): Sent => ({
  method: 'GET',
  path: '/who',
  headers: { authorization: `Bearer ${token}` },
});

describe('names and origins', () => {
  it.each<[string, Partial<FrontDoorOptions>, Record<string, string>, number]>([
    ['a name of a proxy that is allowed', { names: ['bmad.example'] }, { host: 'BMAD.example:443' }, 200],
    ['a name that is not', { names: ['bmad.example'] }, { host: 'bmad.example.evil' }, 403],
    ['an address in numbers, of a server for this machine', {}, { host: '192.0.2.1:80' }, 403],
    ['an address in numbers, of a server on all', { host: '0.0.0.0' }, { host: '192.0.2.1:80' }, 200],
    ['a name, of a server on all', { host: '0.0.0.0' }, { host: 'evil.example' }, 403],
    ['a page of this machine', {}, { origin: 'http://localhost:3000' }, 200],
    [
      'a page of this machine, of a server on all',
      { host: '0.0.0.0' },
      { origin: 'http://localhost:1' },
      403,
    ],
    ['a page of the proxy', { names: ['bmad.example'] }, { origin: 'https://bmad.example' }, 200],
    ['an allowed page', { origins: ['https://app.example'] }, { origin: 'https://app.example' }, 200],
    ['the same over http', { origins: ['https://app.example'] }, { origin: 'http://app.example' }, 403],
    ['the same on a port', { origins: ['https://app.example'] }, { origin: 'https://app.example:8' }, 403],
    ['a file', { origins: ['https://app.example'] }, { origin: 'file://' }, 403],
    ['no origin that is told', { origins: ['https://app.example'] }, { origin: 'null' }, 403],
  ])('%s', async (_what, options, headers, status) => {
    const { origin } = await serve(options);
    const answer = await sendRequest(origin.replace('0.0.0.0', '127.0.0.1'), {
      method: 'GET',
      path: '/who',
      headers,
    });
    expect(answer.status).toBe(status);
    const allowed = headers['origin'] === 'https://app.example' && status === 200;
    expect(answer.headers['access-control-allow-origin']).toBe(allowed ? 'https://app.example' : undefined);
  });

  it('answers the question of a browser for pages that are allowed, without a token', async () => {
    const { origin } = await serve({ origins: ['https://app.example'], gate: tokenGate([]) });
    const ask = (page: string): Sent => ({
      method: 'OPTIONS',
      path: '/who',
      headers: {
        origin: page,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, mcp-session-id',
      },
    });
    const allowed = await sendRequest(origin, ask('https://app.example'));
    expect(allowed.status).toBe(204);
    expect(allowed.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'authorization, mcp-session-id',
      vary: 'origin',
    });
    expect(allowed.headers['access-control-allow-credentials']).toBeUndefined();
    for (const page of ['https://evil.example', 'null']) {
      const { status, headers } = await sendRequest(origin, ask(page));
      expect(status).toBe(403);
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
    // What is refused can be read by the page too: it has to learn that a token is missing.
    const refused = await sendRequest(origin, { path: '/who', headers: { origin: 'https://app.example' } });
    expect(refused.status).toBe(401);
    expect(refused.headers['access-control-allow-origin']).toBe('https://app.example');
  });
});

describe('tokens', () => {
  const gate = tokenGate([
    { token: TOKEN, mayWrite: true },
    { token: READER, mayWrite: false },
  ]);

  it.each([
    undefined,
    'Bearer',
    'Bearer ',
    'Bearer wrong-token-of-this',
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(0, -1)}`,
    `Bearer ${TOKEN}, Bearer ${TOKEN}`,
    TOKEN,
    BASIC,
  ])('are not %j', async (authorization) => {
    const { origin } = await serve({ gate });
    const headers = authorization === undefined ? {} : { authorization };
    const { status, headers: said, text } = await sendRequest(origin, { path: '/who', headers });
    expect(status).toBe(401);
    expect(said['www-authenticate']).toMatch(/^Bearer( error="invalid_token")?$/);
    expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', error: { code: -32_000 }, id: null });
    expect(text + logged.join('')).not.toContain(TOKEN);
  });

  it('let in whoever has one, and tell them apart', async () => {
    const { origin } = await serve({ gate });
    const who = async (token: string): Promise<Caller> =>
      (JSON.parse((await sendRequest(origin, bearer(token))).text) as { caller: Caller }).caller;
    const [writer, reader] = [await who(TOKEN), await who(READER)];
    expect(writer).toMatchObject({ known: 'token', mayWrite: true });
    expect(reader).toMatchObject({ known: 'token', mayWrite: false });
    expect(writer.subject).not.toBe(reader.subject);
    expect(await who(TOKEN)).toEqual(writer);
    expect(JSON.stringify(writer)).not.toContain(TOKEN);
  });

  it('are not asked for where nothing is told', async () => {
    const { origin } = await serve({ gate });
    const { status, text } = await sendRequest(origin, { method: 'GET', path: '/health' });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({ caller: { known: 'nobody', mayWrite: false } });
  });
});

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
    expect(said).toMatch(/^HTTP\/1\.1 200 [^]*"done":true[^]*HTTP\/1\.1 503 [^]*about to end/);
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

  it('does not wait for connections that are only kept', async () => {
    const door = await serve();
    const agent = new Agent({ keepAlive: true });
    expect((await sendRequest(door.origin, { method: 'GET', path: '/who', agent })).status).toBe(200);
    await door.close();
    agent.destroy();
  });
});

describe('an address that cannot be listened on', () => {
  it('is named, with what to do', async () => {
    const error = await refusal(() => serve({ host: '192.0.2.1' }));
    expect(error.code).toBe('unavailable');
    expect(error.message).toContain('192.0.2.1');
    expect(error.hint).toContain('--host');
  });
});
