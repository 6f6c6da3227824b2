import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { connectOver, ERAS } from '../support/http-client.ts';
import { serveHere, type HttpServer } from '../support/http-server.ts';
import { textsOf } from '../support/mcp-client.ts';

const token = (name: string): string => `token-of-${name}-0123456789`;
const cwd = await temporaryFolder(afterAll);
const other = await temporaryFolder(afterAll);
let server: HttpServer;

beforeAll(async () => {
  for (const folder of [cwd, other]) await mkdir(join(folder, '_bmad'));
  const home = await temporaryFolder(afterAll);
  const file = join(home, 'tokens');
  const lines = [
    `${token('all')} # all`,
    `${token('lead')} person # lead`,
    `${token('site')} project=${other} # site`,
    `${token('notes')} toolset=memory # notes`,
    `${token('few')} tasks=1 memories=1 # few`,
    `${token('pair')} tasks=3 # pair`,
    `${token('slow')} calls=3 # slow`,
    `${token('short')} calls=10 # short`,
    `${token('brief')} calls=10 # brief`,
  ];
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  server = await serveHere({ cwd, home, more: ['--http-token-file', file, '--allow-project', other] });
  return async () => void (await server.stop());
});

const send = (name: string, path: string, body?: object, more = {}): Promise<Response> =>
  fetch(`${new URL(server.url).origin}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token(name)}`, 'content-type': 'application/json', ...more },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const spawn = (name: string, key: string, project?: string, more = {}): Promise<Response> => {
  const of = project === undefined ? {} : { project };
  const task = { agent: 'dev', task: 'Compare queues', output_key: key, ...of };
  return send(name, '/api/spawn_subagent_task', task, more);
};
const remember = (name: string, text: string): Promise<Response> =>
  send(name, '/api/remember_structured', { type: 'decisions', agent: 'architect', text });

describe('a token that is bounded', () => {
  // The first test: a caller who is alone may have several changes made at a time.
  it('to few tasks has no more of them where many are asked for at once', async () => {
    const key = (index: number) => ({ 'idempotency-key': `pair-${index}` });
    const all = () =>
      Promise.all(Array.from({ length: 12 }, (_, at) => spawn('pair', `pair-${at}`, other, key(at))));
    const statuses = (await all()).map(({ status }) => status);
    const counted = [200, 429].map((status) => statuses.filter((each) => each === status).length);
    expect(counted).toEqual([3, 9]);
    const list = await send('all', `/api/task_list?project=${encodeURIComponent(other)}`);
    expect(((await list.json()) as { data: { tasks: unknown[] } }).data.tasks).toHaveLength(3);
    // What was made gets its first answer, although there may be no more.
    expect((await all()).map(({ status }) => status)).toEqual(statuses);
  });

  it('to a project reaches no other, in no way', async () => {
    expect((await spawn('site', 'one', other)).status).toBe(200);
    for (const answer of [
      await spawn('site', 'two'),
      await spawn('site', 'two', cwd),
      await spawn('site', 'two', '/no/such/folder'),
      await send('site', '/api/next'),
      await send('site', '/api/events'),
    ])
      expect(answer.status).toBe(403);
    const events = new AbortController();
    const stream = await fetch(
      `${new URL(server.url).origin}/api/events?project=${encodeURIComponent(other)}`,
      {
        headers: { authorization: `Bearer ${token('site')}` },
        signal: events.signal,
      },
    );
    expect(stream.status).toBe(200);
    events.abort();
    await stream.text().catch(() => undefined);
  });

  it.each(ERAS)('to a toolset has its tools alone, by $name', async ({ mode }) => {
    expect((await spawn('notes', 'three')).status).toBe(403);
    expect((await send('notes', '/api/bmad', { operation: 'next' })).status).toBe(403);
    expect((await remember('notes', `Notes are kept by ${JSON.stringify(mode)}.`)).status).toBe(200);
    const client = await connectOver(server.url, mode, token('notes'));
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('remember_structured');
    expect(names).not.toContain('spawn_subagent_task');
    expect(names).not.toContain('bmad');
    const refused = await client.callTool({ name: 'bmad', arguments: { operation: 'next' } });
    expect(textsOf(refused).join('')).toContain('Your token is not for bmad');
    await client.close();
  });

  it('to few tasks and memories adds no more, and others do', async () => {
    expect((await spawn('all', 'four')).status).toBe(200);
    const refused = await spawn('few', 'five');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    expect(await refused.json()).toMatchObject({
      retry: true,
      detail: expect.stringContaining('your token may have 1'),
    });
    expect((await remember('all', 'Queues are files.')).status).toBe(200);
    expect((await remember('few', 'Queues are tables.')).status).toBe(429);
    expect((await spawn('all', 'six')).status).toBe(200);
  });

  it.each(ERAS)('to few tasks and memories adds no more by any tool, by $name', async ({ mode }) => {
    const client = await connectOver(server.url, mode, token('few'));
    const ask = async (name: string, args: Record<string, unknown>): Promise<string> =>
      textsOf(await client.callTool({ name, arguments: args })).join('');
    const more = { agent: 'architect', text: 'Queues are walls.' };
    expect((await remember('all', 'Queues are files.')).status).toBe(200);
    expect((await spawn('all', mode === 'legacy' ? 'seven' : 'eight')).status).toBe(200);
    for (const [name, args] of [
      ['spawn_subagent_task', { agent: 'dev', task: 'One more', output_key: 'more' }],
      ['remember_structured', { type: 'decisions', ...more }],
      ['manage_project', { action: 'log_decision', args: { decision: 'x', rationale: 'y' } }],
      ['manage_project', { action: 'log_learning', args: { agent: 'dev', learning: 'x' } }],
    ] as const)
      expect(await ask(name, args)).toMatch(
        /^(?:Open tasks|Memories) of the project: \d+; your token may have 1/,
      );
    expect(await ask('recall_structured', { query: 'Queues' })).toContain('Queues are files');
    await client.close();
  });

  it.each(ERAS)('to few calls a minute waits over MCP too, by $name', async ({ mode }) => {
    const name = mode === 'legacy' ? 'short' : 'brief';
    const client = await connectOver(server.url, mode, token(name));
    const calls = async (): Promise<string> => {
      for (let count = 0; count < 20; count += 1) {
        const refused = await client.callTool({ name: 'bmad', arguments: { operation: 'list' } }).then(
          () => undefined,
          (error: unknown) => String(error),
        );
        if (refused !== undefined) return refused;
      }
      return 'never refused';
    };
    expect(await calls()).toContain('may make 10 requests a minute');
    expect((await send(name, '/api')).status).toBe(429);
    await client.close().catch(() => undefined);
  });

  it('to few calls a minute waits, alone', async () => {
    const statuses = [];
    for (let count = 0; count < 5; count += 1) statuses.push((await send('slow', '/api')).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    expect((await send('all', '/api')).status).toBe(200);
    const metrics = await (await send('all', '/metrics')).text();
    expect(Number(/bmad_refusals_total\{reason="quota"\} (\d+)/.exec(metrics)?.[1])).toBeGreaterThanOrEqual(
      2,
    );
  });

  it('is a person where its line says so, and no other is', async () => {
    expect((await send('lead', '/api/page/inbox')).status).toBe(200);
    expect((await send('all', '/api/page/inbox')).status).toBe(401);
  });
});
