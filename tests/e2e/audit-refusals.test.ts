import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { bmadHere } from '../support/command-line.ts';
import { startHttpServer } from '../support/http-server.ts';
import { AUDIENCE, startIssuer } from '../support/oauth-issuer.ts';
import { bareEnvironment } from '../support/programs.ts';
import { modern } from '../support/raw-http.ts';

const token = (name: string): string => `token-of-${name}-0123456789`;
const NOTE = { type: 'decisions', agent: 'architect', text: 'Queues are small' };
const LOG = { decision: 'Queues are files', rationale: 'They survive' };
const SAY = {
  jsonrpc: '2.0',
  id: 1,
  method: 'SendMessage',
  params: { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } },
};

interface Line {
  operation: string;
  outcome: string;
  by: { kind: string; name: string };
  project?: string;
  count?: number;
}

interface Asked {
  path: string;
  body?: unknown;
  token?: string;
  headers?: Record<string, string>;
}

/** A server of two projects. What was asked of it is in the lines when it has ended. */
async function place(env: Record<string, string>, tokens?: readonly string[]) {
  const cwd = await temporaryFolder(onTestFinished);
  const other = await temporaryFolder(onTestFinished);
  const home = await temporaryFolder(onTestFinished);
  for (const folder of [cwd, other]) await mkdir(join(folder, '_bmad'));
  const own: Record<string, string> = { XDG_STATE_HOME: join(home, 'state') };
  if (tokens !== undefined) {
    own['BMAD_HTTP_TOKEN_FILE'] = join(home, 'tokens');
    await writeFile(own['BMAD_HTTP_TOKEN_FILE'], `${tokens.join('\n')}\n`, { mode: 0o600 });
  }
  const more = ['--allow-project', other, '--a2a'];
  const server = await startHttpServer({ cwd, home, more, env: { ...own, ...env } });
  onTestFinished(async () => void (await server.stop()));
  const { origin } = new URL(server.url);
  return {
    cwd,
    other,
    async ask({ path, body, token: sent, headers = {} }: Asked): Promise<number> {
      const answer = await fetch(`${origin}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          'content-type': 'application/json',
          ...(sent === undefined ? {} : { authorization: `Bearer ${sent}` }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      await answer.text();
      return answer.status;
    },
    async type(...args: string[]): Promise<string> {
      return String((await bmadHere(args, { cwd, env: bareEnvironment(home, own) })).stdout);
    },
    /** All lines of the audit, once the server has ended. */
    async audit(): Promise<Line[]> {
      await server.stop();
      const folder = join(home, 'state', 'bmad-mcp-server', 'audit');
      const texts = await Promise.all(
        (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')),
      );
      return texts.flatMap((text) => text.trim().split('\n')).map((line) => JSON.parse(line) as Line);
    },
    /** Who has said something, by the lines of the project. */
    async authors(): Promise<Line['by'][]> {
      const entries = await readdir(cwd, { recursive: true, withFileTypes: true });
      const files = entries.filter(({ name }) => name.endsWith('.jsonl'));
      const texts = await Promise.all(
        files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')),
      );
      const lines = texts.flatMap((text) => text.trim().split('\n')).map((line) => JSON.parse(line) as Line);
      return lines.filter(({ by }) => typeof by === 'object').map(({ by }) => by);
    },
  };
}

const shortly = ({ operation, outcome, by, project, count }: Line): unknown[] => [
  operation,
  outcome,
  by.kind,
  by.name,
  project,
  count,
];

describe('a request that is refused', () => {
  it('has one line of its kind, with who it was and the project that it named, where these are known', async () => {
    const { ask, audit, other, cwd } = await place({}, [
      `${token('ada')} # ada`,
      `${token('bob')} read # bob`,
      `${token('partner')} a2a # partner`,
      `${token('slow')} calls=1 # slow`,
      `${token('few')} tasks=1 # few`,
    ]);
    const spawn = (key: string) => ({ agent: 'dev', task: 'Compare queues', output_key: key });
    const asked: [number, Asked][] = [
      [401, { path: `/api/next?project=${encodeURIComponent(other)}` }],
      [401, { path: '/api/next?project=/etc/%0Amade-up', token: 'a-token-of-nobody-0123' }],
      [403, { path: '/api/log_decision', body: { ...LOG, project: other }, token: token('bob') }],
      [403, { path: '/api/log_learning', body: { project: '/etc/made-up' }, token: token('bob') }],
      [403, { path: '/a2a', body: SAY, token: token('bob'), headers: { 'a2a-version': '1.0' } }],
      [401, { path: '/api/page/inbox', token: token('ada') }],
      [403, { path: '/metrics', token: token('partner') }],
      [200, { path: '/api', token: token('slow') }],
      [429, { path: `/api/next?project=${encodeURIComponent(cwd)}`, token: token('slow') }],
      [200, { path: '/api/spawn_subagent_task', body: spawn('one'), token: token('few') }],
      [429, { path: '/api/spawn_subagent_task', body: spawn('two'), token: token('few') }],
    ];
    for (const [status, one] of asked) expect([one.path, await ask(one)]).toEqual([one.path, status]);
    const refused = modern('tools/call', { name: 'remember_structured', arguments: { project: other } });
    await ask({ path: '/mcp', token: token('bob'), ...refused });
    const lines = await audit();
    expect(lines.map(shortly)).toEqual([
      ['door', 'no_token', 'unknown', '', other, 1],
      ['log_decision', 'forbidden', 'token', 'bob', other, undefined],
      ['log_learning', 'forbidden', 'token', 'bob', undefined, undefined],
      ['outside_task_add', 'forbidden', 'token', 'bob', cwd, undefined],
      ['page/inbox', 'forbidden', 'token', 'ada', cwd, undefined],
      ['spawn_subagent_task', 'ok', 'token', 'few', cwd, undefined],
      ['spawn_subagent_task', 'quota', 'token', 'few', cwd, undefined],
      ['remember_structured', 'forbidden', 'token', 'bob', other, undefined],
      ['door', 'wrong_token', 'unknown', '', undefined, 1],
      ['door', 'forbidden', 'token', 'partner', undefined, 1],
      ['door', 'quota', 'token', 'slow', cwd, 1],
    ]);
    expect(JSON.stringify(lines)).not.toContain('made-up');
  });

  it('by the challenge of OAuth has one as well', async () => {
    const issuer = await startIssuer('openid-configuration');
    onTestFinished(() => issuer.stop());
    const { ask, audit, other, cwd } = await place({
      BMAD_OAUTH_ISSUER: issuer.url,
      BMAD_PUBLIC_URL: AUDIENCE.replace('/mcp', ''),
    });
    const reader = issuer.token({ sub: 'eve', scope: 'bmad:read' });
    const wrong = [
      issuer.token({ aud: 'https://elsewhere.example/mcp' }),
      issuer.token({ exp: 1 }),
      issuer.unsigned(),
      issuer.signedWithPublicKey(),
      'no.jwt.atall',
    ];
    for (const sent of [undefined, ...wrong])
      expect(await ask({ path: '/api/next', ...(sent === undefined ? {} : { token: sent }) })).toBe(401);
    expect(await ask({ path: '/api/next', token: issuer.token({ sub: 'eve', scope: 'openid' }) })).toBe(403);
    const step = modern('tools/call', { name: 'remember_structured', arguments: { project: other } });
    expect(await ask({ path: '/mcp', token: reader, ...step })).toBe(403);
    expect(await ask({ path: '/api/log_decision', body: LOG, token: reader })).toBe(403);
    expect(await ask({ path: '/a2a', body: SAY, token: reader, headers: { 'a2a-version': '1.0' } })).toBe(
      403,
    );
    expect((await audit()).map(shortly)).toEqual([
      ['door', 'no_token', 'unknown', '', undefined, 1],
      ['remember_structured', 'forbidden', 'oauth', 'eve', other, undefined],
      ['log_decision', 'forbidden', 'oauth', 'eve', cwd, undefined],
      ['outside_task_add', 'forbidden', 'oauth', 'eve', cwd, undefined],
      ['door', 'wrong_token', 'unknown', '', undefined, wrong.length],
      ['door', 'forbidden', 'oauth', 'eve', undefined, 1],
    ]);
  });
});

describe('who has called', () => {
  it('is anonymous where nobody had to say, and the user of the machine at a terminal', async () => {
    const { ask, type, audit, authors } = await place({});
    expect(await ask({ path: '/api/log_decision', body: LOG })).toBe(200);
    expect(await type('log', 'decision', 'Queues are tables')).toContain('Queues are tables');
    const spoken = { ...SAY.params.message, metadata: { skill: 'architect' } };
    const said = { ...SAY, params: { message: spoken, configuration: { returnImmediately: true } } };
    expect(await ask({ path: '/a2a', body: said, headers: { 'a2a-version': '1.0' } })).toBe(200);
    const called = modern('tools/call', { name: 'remember_structured', arguments: NOTE });
    expect(await ask({ path: '/mcp', ...called })).toBe(200);
    expect((await audit()).map(shortly)).toEqual(
      ['log_decision', 'outside_task_add', 'remember_structured'].map((name) => [
        name,
        'ok',
        'anonymous',
        '',
        expect.any(String),
        undefined,
      ]),
    );
    const kinds = (await authors()).map(({ kind, name }) => [kind, name]);
    expect(kinds.filter(([kind]) => kind === 'anonymous').length).toBeGreaterThanOrEqual(3);
    expect(new Set(kinds.map(([kind]) => kind))).toEqual(new Set(['anonymous', 'local']));
    expect(kinds).toContainEqual(['local', expect.stringMatching(/./)]);
  });
});
