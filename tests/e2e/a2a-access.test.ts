import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { a2aPlace, type RpcAnswer } from '../support/a2a.ts';
import { serveHere } from '../support/http-server.ts';
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

const tokenFor = (words: string): string => `token-for-${words.replaceAll(/[^a-z]/g, '-')}-0123456789`;

/** A server of tokens that may do different things. */
async function served(rights: readonly string[]): Promise<Awaited<ReturnType<typeof place.serve>>> {
  const file = join(place.home, `tokens-${rights.length}`);
  await writeFile(file, `${rights.map((words) => `${tokenFor(words)} ${words}`).join('\n')}\n`, {
    mode: 0o600,
  });
  return place.serve('--http-token-file', file);
}

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

  it('is one of the rights, each of which says what is done with messages', async () => {
    const { origin, post } = await served([
      'read',
      'write',
      'a2a',
      'person',
      'toolset=memory',
      'toolset=project',
    ]);
    const statuses = (body: object) =>
      Promise.all(
        ['read', 'write', 'a2a', 'person', 'toolset=memory', 'toolset=project'].map(async (right) => {
          const { status, body: answer } = await post(body, { authorization: `Bearer ${tokenFor(right)}` });
          return answer.error === undefined ? status : `${status} ${answer.error.code}`;
        }),
      );
    expect(await statuses(SEND)).toEqual(['403 -32004', 200, 200, 200, '200 -32004', 200]);
    const list = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} };
    expect(await statuses(list)).toEqual([200, 200, 200, 200, '200 -32004', 200]);
    const inbox = await Promise.all(
      ['write', 'a2a', 'person'].map((right) => statusOf(origin, tokenFor(right), '/api/page/inbox')),
    );
    expect(inbox).toEqual([401, 403, 200]);
  });

  it('can be an access token with a scope of its own', async () => {
    const issuer = await startIssuer('openid-configuration');
    const server = await serveHere({
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

describe('a message that is sent again', () => {
  const idOf = ({ result }: RpcAnswer): unknown => (result?.['task'] as { id: string } | undefined)?.id;

  it('with its key is one task, of its caller; another with that key is refused', async () => {
    const { origin, post, process } = await served(['a2a', 'write']);
    const ask = async (right: string, key: string, body: object = SEND) => {
      const authorization = `Bearer ${tokenFor(right)}`;
      return (await post(body, { authorization, 'idempotency-key': key })).body;
    };
    const first = await ask('a2a', 'one');
    expect(idOf(first)).toMatch(/^task-/);
    expect(idOf(await ask('a2a', 'one'))).toBe(idOf(first));
    expect(idOf(await ask('write', 'one'))).not.toBe(idOf(first));
    expect(idOf(await ask('a2a', 'two'))).not.toBe(idOf(first));
    const other = {
      ...SEND,
      params: { ...SEND.params, message: { ...SEND.params.message, messageId: 'n' } },
    };
    expect((await ask('a2a', 'one', other)).error?.message).toContain('was used for another call');
    const older = {
      ...SEND,
      method: 'message/send',
      params: { message: { messageId: 'o', role: 'user', parts: [{ kind: 'text', text: 'x' }] } },
    };
    older.params.message = { ...older.params.message, metadata: { skill: 'architect' } } as never;
    const [sent, again] = [await ask('a2a', 'three', older), await ask('a2a', 'three', older)];
    expect(again.result?.['id']).toBe(sent.result?.['id']);
    const cancel = { jsonrpc: '2.0', id: 1, method: 'CancelTask', params: { id: idOf(first) } };
    const cancelled = await ask('a2a', 'four', cancel);
    expect(cancelled.result).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
    expect(await ask('a2a', 'four', cancel)).toEqual(cancelled);
    const wrong = { ...cancel, params: { id: idOf(await ask('a2a', 'two')) } };
    expect((await ask('a2a', 'four', wrong)).error?.message).toContain('was used for another call');
    const replayed = await fetch(`${origin}/a2a`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tokenFor('a2a')}`,
        'content-type': 'application/json',
        'idempotency-key': 'one',
      },
      body: JSON.stringify(SEND),
    });
    expect([replayed.status, replayed.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    await process.stop();
  });

  it('is no more than its caller may have open', async () => {
    const { post, process } = await served(['a2a tasks=1']);
    const ask = () => post(SEND, { authorization: `Bearer ${tokenFor('a2a tasks=1')}` });
    const before = Number((await ask()).body.error?.message.match(/project: (\d+)/)?.[1] ?? 0);
    const { status, body } = await ask();
    expect([before > 0, status, body.error?.message]).toEqual([
      true,
      429,
      expect.stringContaining('your token may have 1'),
    ]);
    await process.stop();
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
