import { describe, expect, it } from 'vitest';
import { logged, serve, whoami } from '../../../tests/support/front-door.ts';
import { sendRequest, type Sent } from '../../../tests/support/raw-http.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import type { Caller } from '../../base/http/http-route.ts';
import type { FrontDoorOptions } from './front-door.ts';
import { tokenGate } from './gate.ts';

const TOKEN = 'a-token-of-this-test';
const READER = 'a-token-that-only-reads';
const OUTSIDER = 'a-token-of-somebody-outside';
const BASIC = `Basic ${Buffer.from(`ada:${TOKEN}`).toString('base64')}`;

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
    { token: OUTSIDER, mayWrite: true, only: 'a2a' },
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

  it('can be limited to one part, and reach no other', async () => {
    const part = { ...whoami, path: '/a2a', part: 'a2a' as const };
    const { origin } = await serve({ gate, routes: [whoami, { ...whoami, path: '/below/*' }, part] });
    const at = async (path: string, token: string): Promise<{ status: number; text: string }> =>
      sendRequest(origin, { ...bearer(token), path });
    const inside = await at('/a2a', OUTSIDER);
    expect(JSON.parse(inside.text)).toMatchObject({
      caller: { known: 'token', mayWrite: true, only: 'a2a' },
    });
    expect((await at('/a2a', TOKEN)).status).toBe(200);
    for (const path of ['/who', '/below/anything']) {
      const { status, text } = await at(path, OUTSIDER);
      expect(status).toBe(403);
      expect(text).toContain('for Agent2Agent only');
    }
  });

  it('are not asked for where nothing is told', async () => {
    const { origin } = await serve({ gate });
    const { status, text } = await sendRequest(origin, { method: 'GET', path: '/health' });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({ caller: { known: 'anonymous', mayWrite: false } });
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
