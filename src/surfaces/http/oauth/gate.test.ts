import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  AUDIENCE,
  startIssuer,
  type Algorithm,
  type Issuer,
} from '../../../../tests/support/oauth-issuer.ts';
import { sendRequest } from '../../../../tests/support/raw-http.ts';
import { type Caller, refuseAsRpc } from '../../../base/http/http-route.ts';
import { createLog } from '../../../base/log.ts';
import { createSecrets } from '../../../base/secrets/rules.ts';
import { openFrontDoor } from '../front-door.ts';
import type { Gate, Refused } from '../gate.ts';
import { oauthGate, type OauthOptions } from './gate.ts';
import { metadataRoutes } from './metadata.ts';

const MINUTE = 60_000;
const logged: string[] = [];
const log = createLog({
  level: 'debug',
  write: (line) => logged.push(line),
  json: true,
  secrets: createSecrets(),
});
const scopes = { read: 'bmad:read', write: 'bmad:write', a2a: 'bmad:a2a', person: 'bmad:person' };

const issuer = await startIssuer('openid-configuration');
afterAll(() => issuer.stop());

let later = 0;
let started = 0;
let looks = 0;
let gate: Gate;

function gateOf(options: Partial<OauthOptions> = {}): Gate {
  const resource = (): string => AUDIENCE;
  // A clock that goes on by itself only a little, however long the machine takes.
  const now = (): number => started + later + (looks += 1) / 1000;
  // The issuer is as slow as the machine: how long it takes is of no account here.
  const fetchMs = 240_000;
  return oauthGate({
    issuer: issuer.url,
    audience: resource,
    resource,
    scopes,
    log,
    now,
    fetchMs,
    ...options,
  });
}

beforeEach(() => {
  later = 0;
  started = Date.now();
  issuer.answerWith(undefined);
  issuer.asked.length = 0;
  gate = gateOf();
});

const admit = (token: string, to = gate): Promise<Caller | Refused> => to.admit(`Bearer ${token}`);
const inSeconds = (count: number): number => Math.floor(Date.now() / 1000) + count;

describe('an access token', () => {
  it.each<Algorithm>(['RS256', 'PS256', 'ES256', 'EdDSA'])('signed by %s lets its owner in', async (alg) => {
    expect(await admit(issuer.token({}, {}, alg))).toEqual({
      known: 'oauth',
      subject: JSON.stringify([issuer.url, 'ada', '']),
      mayWrite: true,
    });
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
    ['has expired', { exp: inSeconds(-61) }, {}, 'has expired'],
    ['never ends', { exp: undefined }, {}, 'no expiry time'],
    ['is not valid yet', { nbf: inSeconds(120) }, {}, 'not valid yet'],
    ['is for another server', { aud: 'https://other.example/mcp' }, {}, 'not meant for this server'],
    ['is for nobody', { aud: undefined }, {}, 'not meant for this server'],
    ['is of another issuer', { iss: 'https://evil.example' }, {}, 'another issuer'],
    ['names no key of the issuer', {}, { kid: 'unknown' }, 'a key that is not the issuer’s'],
    ['names a key of another kind', {}, { kid: 'ES256-0' }, 'a key that is not the issuer’s'],
    ['is no access token', {}, { typ: 'logout+jwt' }, 'not an access token'],
    ['needs what nobody understands', {}, { crit: ['exp'] }, 'not valid'],
  ])('is refused when it %s', async (_what, claims, header, reason) => {
    const refused = await admit(issuer.token(claims, header));
    expect(refused).toMatchObject({ status: 401, message: expect.stringContaining(reason) });
    expect((refused as Refused).headers['www-authenticate']).toBe(
      'Bearer resource_metadata="https://bmad.example/.well-known/oauth-protected-resource/mcp", error="invalid_token"',
    );
  });

  it.each<[string, () => string]>([
    ['nobody signed', issuer.unsigned],
    ['somebody signed with the public key', issuer.signedWithPublicKey],
    [
      'was changed',
      () => issuer.token().replace(/\.(.)/, (_all, first: string) => `.${first === 'e' ? 'f' : 'e'}`),
    ],
    ['has a wrong signature', () => `${issuer.token().split('.').slice(0, 2).join('.')}.AAAA`],
    ['is none', () => 'not-a-token-at-all'],
    ['is endless', () => 'x'.repeat(20_000)],
  ])('that %s is refused', async (_what, make) => {
    const token = make();
    const refused = await admit(token);
    expect(refused).toMatchObject({ status: 401 });
    expect(JSON.stringify(refused)).not.toContain(token);
  });

  it('is taken within the leeway of clocks that differ', async () => {
    expect(await admit(issuer.token({ exp: inSeconds(-30) }))).toMatchObject({ known: 'oauth' });
    expect(await admit(issuer.token({ nbf: inSeconds(30) }))).toMatchObject({ known: 'oauth' });
  });

  it.each<[Record<string, unknown>, boolean | 403]>([
    [{ scope: 'bmad:read' }, false],
    [{ scope: 'openid bmad:write' }, true],
    [{ scope: undefined, scp: ['bmad:read'] }, false],
    [{ scope: undefined, scp: 'bmad:read bmad:write' }, true],
    [{ scope: 'openid bmad:reader' }, 403],
    [{ scope: undefined }, 403],
    [{ scope: 7 }, 403],
  ])('with %j: writes %s', async (claims, expected) => {
    const answer = await admit(issuer.token(claims));
    if (expected !== 403) return expect(answer).toMatchObject({ mayWrite: expected });
    expect(answer).toMatchObject({ status: 403 });
    expect((answer as Refused).headers['www-authenticate']).toMatch(
      /error="insufficient_scope", scope="bmad:read"$/,
    );
  });

  it.each([
    ['openid bmad:a2a', { mayWrite: true, only: 'a2a' }],
    ['bmad:a2a bmad:read', { mayWrite: false }],
    ['bmad:a2a bmad:write', { mayWrite: true }],
  ])('with the scopes %s is that of %j', async (scope, expected) => {
    const caller = await admit(issuer.token({ scope }));
    expect(caller).toMatchObject(expected);
    expect('only' in caller).toBe('only' in expected);
  });

  it('is that of a person only with the scope for it', async () => {
    expect(await admit(issuer.token({ scope: 'bmad:write' }))).not.toHaveProperty('person');
    expect(await admit(issuer.token({ scope: 'bmad:write bmad:person' }))).toMatchObject({ person: true });
    expect(await admit(issuer.token({ scope: 'bmad:person' }))).toMatchObject({ status: 403 });
    expect(await admit(issuer.token({ scope: 'bmad:a2a bmad:person' }))).not.toHaveProperty('person');
  });

  it('is asked for, with the place that says where to get one', async () => {
    expect(await gate.admit(undefined)).toMatchObject({
      status: 401,
      headers: {
        'www-authenticate':
          'Bearer resource_metadata="https://bmad.example/.well-known/oauth-protected-resource/mcp", scope="bmad:read"',
      },
    });
    expect(issuer.asked).toEqual([]);
  });
});

describe('the keys of the issuer', () => {
  it('are fetched once for many, and not for each token with an invented key', async () => {
    await Promise.all(Array.from({ length: 20 }, () => admit(issuer.token())));
    for (let count = 0; count < 20; count += 1) await admit(issuer.token({}, { kid: `made-up-${count}` }));
    expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/keys']);
    later = 10_000;
    await Promise.all(Array.from({ length: 20 }, () => admit(issuer.token({}, { kid: 'made-up' }))));
    expect(issuer.asked).toHaveLength(4);
  });

  it('are fetched again when a token has a new one', async () => {
    expect(await admit(issuer.token())).toMatchObject({ known: 'oauth' });
    const old = issuer.token();
    issuer.rotate();
    later = 10_000;
    expect(await admit(issuer.token())).toMatchObject({ known: 'oauth' });
    later = 20_000;
    expect(await admit(old)).toMatchObject({ status: 401 });
  });

  it('are not said to lack a key before they were looked at again', async () => {
    expect(await admit(issuer.token())).toMatchObject({ known: 'oauth' });
    issuer.rotate();
    later = 4_000;
    const refused = await admit(issuer.token());
    expect(refused).toMatchObject({ status: 503, message: expect.stringContaining('Try again in') });
    const seconds = Number((refused as Refused).headers['retry-after']);
    expect(seconds).toBeGreaterThan(0);
    later += seconds * 1_000;
    expect(await admit(issuer.token())).toMatchObject({ known: 'oauth' });
  });

  it('go on while the issuer is down, but not forever', async () => {
    const lasting = issuer.token({ exp: inSeconds(10 * 24 * 3600) });
    expect(await admit(lasting)).toMatchObject({ known: 'oauth' });
    issuer.answerWith((response) => response.destroy());
    later = 12 * 60 * MINUTE;
    expect(await admit(lasting)).toMatchObject({ known: 'oauth' });
    later = 25 * 60 * MINUTE;
    expect(await admit(lasting)).toMatchObject({ status: 503 });
  });

  const downs: [string, Parameters<Issuer['answerWith']>[0]][] = [
    ['cuts the connection', (response) => response.destroy()],
    ['fails', (response) => void response.writeHead(500).end()],
    [
      'leads elsewhere',
      (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    ],
    ['says nonsense', (response) => void response.end('nonsense')],
    [
      'belongs to another issuer',
      (response) => void response.end('{"issuer":"https://evil.example","jwks_uri":"x"}'),
    ],
    ['says too much', (response) => void response.end(`"${'x'.repeat(300_000)}"`)],
  ];
  it.each(downs)('missing, since the issuer %s: nobody is let in, until it is back', async (_how, answer) => {
    issuer.answerWith(answer);
    logged.length = 0;
    const refused = await admit(issuer.token());
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect((refused as Refused).message).toContain('cannot be reached');
    expect((refused as Refused).message).not.toContain(issuer.url);
    expect(logged.join('')).toContain('cannot fetch the issuer’s keys');
    const before = issuer.asked.length;
    expect(await admit(issuer.token())).toMatchObject({ status: 503 });
    expect(issuer.asked).toHaveLength(before);
    issuer.answerWith(undefined);
    later = 5_000;
    expect(await admit(issuer.token())).toMatchObject({ known: 'oauth' });
  });

  it('are found by the metadata of RFC 8414, and at an address that was given', async () => {
    const other = await startIssuer('oauth-authorization-server');
    expect(await admit(other.token(), gateOf({ issuer: other.url }))).toMatchObject({ known: 'oauth' });
    other.asked.length = 0;
    const given = gateOf({ issuer: other.url, keysUrl: `${other.url}/keys` });
    expect(await admit(other.token(), given)).toMatchObject({ known: 'oauth' });
    expect(other.asked).toEqual(['/keys']);
    await other.stop();
  });

  it('are asked of no other machine without https', async () => {
    expect(await admit(issuer.token(), gateOf({ keysUrl: 'http://192.0.2.1/keys' }))).toMatchObject({
      status: 503,
    });
    expect(logged.join('')).toContain('does not use https');
  });
});

describe('the metadata of the resource', () => {
  it('is told to everybody, at both places', async () => {
    const route = {
      path: '/mcp',
      methods: ['POST'],
      refuse: refuseAsRpc,
      handle: async () => new Response(),
    };
    const routes = [route, ...metadataRoutes({ issuer: issuer.url, scopes, resource: () => AUDIENCE })];
    const door = await openFrontDoor({ port: 0, routes, log, gate });
    for (const path of ['', '/mcp']) {
      const place = `/.well-known/oauth-protected-resource${path}`;
      const { status, text } = await sendRequest(door.origin, { method: 'GET', path: place });
      expect(status).toBe(200);
      expect(JSON.parse(text)).toEqual({
        resource: AUDIENCE,
        resource_name: 'BMAD MCP Server',
        authorization_servers: [issuer.url],
        scopes_supported: ['bmad:read', 'bmad:write'],
        bearer_methods_supported: ['header'],
      });
    }
    const other = { method: 'GET', path: '/.well-known/oauth-protected-resource/other' };
    expect((await sendRequest(door.origin, other)).status).toBe(404);
    expect((await sendRequest(door.origin, { body: {} })).status).toBe(401);
    await door.close();
  });
});
