import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { a2aPlace } from '../support/a2a.ts';
import { startHttpServer } from '../support/http-server.ts';
import { AUDIENCE, startIssuer } from '../support/oauth-issuer.ts';
import { bareEnvironment, bmadServer } from '../support/programs.ts';
import { INITIALIZE, sendRequest } from '../support/raw-http.ts';
import { some } from '../support/how-much.ts';

const OURS = 'token-of-our-own-hosts-01234';
const THEIRS = 'token-of-somebody-outside-01';
const SEND = {
  jsonrpc: '2.0',
  id: 1,
  method: 'SendMessage',
  params: {
    message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }], metadata: { skill: 'architect' } },
    configuration: { returnImmediately: true },
  },
};

const place = await a2aPlace(afterAll);

async function statusOf(origin: string, token: string, path: string, body?: unknown): Promise<number> {
  const method = body === undefined ? 'GET' : 'POST';
  const headers = { authorization: `Bearer ${token}` };
  return (await sendRequest(origin, { method, path, body, headers })).status;
}

describe('a token for Agent2Agent', () => {
  it('sends messages, and is refused everywhere else', async () => {
    const file = join(place.home, 'tokens');
    await writeFile(file, `${OURS}\n${THEIRS} a2a\n`, { mode: 0o600 });
    const { origin, post } = await place.serve('--http-token-file', file);
    const sent = await post(SEND, { authorization: `Bearer ${THEIRS}` });
    expect(sent.body.result).toMatchObject({ task: { status: { state: 'TASK_STATE_AUTH_REQUIRED' } } });
    const spawn = { agent: 'architect', task: 'Nobody agreed to this', output_key: 'theirs' };
    expect(await statusOf(origin, THEIRS, '/api/spawn_subagent_task', spawn)).toBe(403);
    expect(await statusOf(origin, OURS, '/api/spawn_subagent_task', spawn)).toBe(200);
    expect(await statusOf(origin, THEIRS, '/mcp', INITIALIZE)).toBe(403);
    expect(await statusOf(origin, OURS, '/mcp', INITIALIZE)).toBe(200);
    // All that there is: what is not Agent2Agent is open to everybody or closed to them.
    const { text } = await sendRequest(origin, { method: 'GET', path: '/nothing' });
    const paths = /Available: ([^"]+)\./.exec(text)?.[1]?.split(', ') ?? [];
    const reached: string[] = [];
    for (const path of paths.map((one) => one.replace('*', 'status')))
      for (const body of [undefined, {}])
        if (![403, 405].includes(await statusOf(origin, THEIRS, path, body))) reached.push(path);
    expect(new Set(reached)).toEqual(
      new Set([
        '/page/status',
        '/a2a',
        '/.well-known/agent-card.json',
        '/.well-known/agent.json',
        '/instance',
        '/healthz',
        '/readyz',
      ]),
    );
  });

  it('can be an access token with a scope of its own', async () => {
    const issuer = await startIssuer('openid-configuration');
    const server = await startHttpServer({
      ...place,
      more: ['--a2a', '--oauth-a2a-scope', 'shop:ask'],
      env: { BMAD_OAUTH_ISSUER: issuer.url, BMAD_PUBLIC_URL: AUDIENCE.replace('/mcp', '') },
    });
    const theirs = issuer.token({ scope: 'shop:ask' });
    expect(await statusOf(server.url, theirs, '/a2a', SEND)).toBe(200);
    const headers = { authorization: `Bearer ${theirs}` };
    const refused = await sendRequest(server.url, { path: '/mcp', body: INITIALIZE, headers });
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('for Agent2Agent only');
    expect(refused.headers['www-authenticate']).toMatch(/error="insufficient_scope", scope="bmad:read"$/);
    await Promise.all([server.stop(), issuer.stop()]);
  });
});

describe('--a2a', () => {
  it.each(['--a2a', '--a2a-without-approval'])('goes with --http: %s alone is refused', async (flag) => {
    const { code, stderr } = await bmadServer([flag], { cwd: place.cwd, env: bareEnvironment(place.home) });
    expect(stderr).toContain(`${flag} requires --http.`);
    expect(code).toBe(2);
  });

  it.each(some(1, ['--a2a=false', '--a2a-without-approval=off']))(
    'is no reason to stop where it is switched off: %s',
    async (flag) => {
      const env = bareEnvironment(place.home);
      expect((await bmadServer([flag, '--test'], { cwd: place.cwd, env })).code).toBe(0);
    },
  );

  it('is no reason to stop where it is a setting of the user', async () => {
    const env = bareEnvironment(place.home, { BMAD_A2A: '1' });
    expect((await bmadServer(['--test'], { cwd: place.cwd, env })).code).toBe(0);
  });
});
