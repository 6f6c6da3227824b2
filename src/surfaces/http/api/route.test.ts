import { EventEmitter, once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { contextIn, temporaryFolder } from '../../../../tests/support/app.ts';
import { KIT_FILES, writeFiles } from '../../../../tests/support/kit-project.ts';
import { served } from '../../../../tests/support/served.ts';
import type { Observed } from '../../../operations/context.ts';
import { openFrontDoor } from '../front-door.ts';
import type { Gate } from '../gate.ts';
import { createApiRoutes } from './route.ts';

const folder = await temporaryFolder(afterAll);
await writeFiles(folder, KIT_FILES);
const context = await contextIn(folder);
let origin = '';

beforeAll(async () => {
  ({ origin } = await served(context, createApiRoutes(context), afterAll));
});

interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code?: string;
  hint?: string;
  suggestions?: string[];
}

async function post(
  name: string,
  body: unknown = {},
  headers: Record<string, string> = {},
  to = origin,
): Promise<Response> {
  return fetch(`${to}/api/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

async function dataOf(response: Response): Promise<Record<string, unknown>> {
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json');
  const { data } = (await response.json()) as { data: Record<string, unknown> };
  return data;
}

async function problemOf(response: Response): Promise<Problem> {
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  const problem = (await response.json()) as Problem;
  expect(problem.status).toBe(response.status);
  return problem;
}

describe('the HTTP API', () => {
  it('gives the data of an operation, asked with a body or with a query', async () => {
    const asked = { query: 'architecture', limit: 1 };
    const data = await dataOf(await post('search', asked));
    expect(data).toMatchObject({ query: 'architecture', items: [{ name: 'architecture' }] });
    expect(await dataOf(await fetch(`${origin}/api/search?query=architecture&limit=1`))).toEqual(data);
  });

  it('takes lists, switches and an empty body', async () => {
    const listed = await dataOf(await fetch(`${origin}/api/recall_structured?query=panier&tags=a&tags=b`));
    expect(listed).toHaveProperty('hits');
    expect(await dataOf(await fetch(`${origin}/api/list`, { method: 'POST' }))).toHaveProperty('items');
  });

  it.each(['text/markdown', 'text/plain'])('gives the text as %s', async (accept) => {
    const response = await post('execute', { name: 'architect', message: 'Hello.' }, { accept });
    expect(response.headers.get('content-type')).toBe(`${accept}; charset=utf-8`);
    expect(await response.text()).toMatch(/^# Winston[^]*Hello\./);
  });

  it('takes the words of the unified tool for what to start', async () => {
    const named = await dataOf(await post('execute', { name: 'architect' }));
    expect(await dataOf(await post('execute', { agent: 'architect' }))).toEqual(named);
    expect(await dataOf(await post('execute', { workflow: 'prd' }))).toMatchObject({ kind: 'workflow' });
  });

  it('does not say of a setting that it was a path', async () => {
    const reading = await contextIn(folder, { flags: { readOnly: 'true' } });
    const door = await served(reading, createApiRoutes(reading), onTestFinished);
    const { title, status } = await problemOf(await post('task_claim', {}, {}, door.origin));
    expect([status, title]).toEqual([403, expect.stringContaining('by a setting')]);
  });

  it('writes, in the project that is named', async () => {
    const other = await temporaryFolder(onTestFinished);
    await writeFiles(other, KIT_FILES);
    const task = { agent: 'dev', task: 'Measure it', output_key: 'figures', project: other };
    const { task: queued } = (await dataOf(await post('spawn_subagent_task', task))) as {
      task: { task_id: string };
    };
    const claimed = await dataOf(await post('task_claim', { project: other }));
    expect(claimed).toMatchObject({ task: { task_id: queued.task_id, status: 'running' } });
    expect((await dataOf(await post('task_list')))['tasks']).toEqual([]);
  });

  it('lists what there is, with the methods of each', async () => {
    const { operations } = (await (await fetch(`${origin}/api`)).json()) as {
      operations: { name: string; methods: string[]; path: string }[];
    };
    expect(operations[0]).toMatchObject({ name: 'bmad', path: '/api/bmad', methods: ['GET', 'POST'] });
    expect(operations.find(({ name }) => name === 'task_claim')?.methods).toEqual(['POST']);
    expect(operations.map(({ name }) => name)).not.toContain('task_approve');
  });

  it('names an answer, and does not send it twice', async () => {
    const first = await fetch(`${origin}/api/list?what=agents`);
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[\w-]{22}"$/);
    const again = await fetch(`${origin}/api/list?what=agents`, {
      headers: { 'if-none-match': `"x", ${tag}` },
    });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const other = await fetch(`${origin}/api/list?what=workflows`, { headers: { 'if-none-match': tag } });
    expect(other.status).toBe(200);
  });

  it.each([
    ['an operation nobody has', () => post('serch'), 404, { suggestions: ['search'] }],
    ['what only a person may decide', () => post('task_approve', { task_id: 'x' }), 404, {}],
    ['what is switched off', () => post('list_workflows'), 403, { code: 'forbidden' }],
    ['what runs programs', () => post('run_completion_contract'), 403, { code: 'forbidden' }],
    ['a name that is not there', () => post('read', { target: 'architekt' }), 404, { code: 'not_found' }],
    ['a missing argument', () => post('search'), 400, { code: 'invalid_input', subject: 'query' }],
    ['an argument that does not exist', () => post('list', { colour: 'red' }), 400, {}],
    ['what is not JSON', () => post('list', '{nonsense'), 400, {}],
    ['JSON that is no object', () => post('list', '[1]'), 400, {}],
    [
      'another type of content',
      () => post('list', 'a=1', { 'content-type': 'text/plain' }),
      415,
      { title: 'Unsupported media type' },
    ],
    [
      'a form that there is not',
      () => post('list', {}, { accept: 'image/png' }),
      406,
      { title: 'Not acceptable' },
    ],
    ['a project that is not there', () => post('list', { project: '/nowhere/at/all' }), 400, {}],
    ['a page of another origin', () => post('list', {}, { 'sec-fetch-site': 'cross-site' }), 403, {}],
    ['a strange name', () => fetch(`${origin}/api/%E0%A4%A`), 404, {}],
  ] as [string, () => Promise<Response>, number, object][])(
    'refuses %s',
    async (_what, ask, status, more) => {
      const problem = await problemOf(await ask());
      expect(problem).toMatchObject({ status, ...more });
      expect(problem.detail).toBeTruthy();
      expect(problem.type).toMatch([406, 415].includes(status) ? /^about:blank$/ : /^urn:bmad:error:/);
    },
  );

  const TOKEN = 'hR3x-0bWq8Zt5uYk2VnMs7JdLcPfGa9E';
  it.each([
    ['in the place of a name', `/api/${TOKEN}`],
    ['after a name', `/api/list/${TOKEN}`],
    ['encoded', `/api/${TOKEN.replaceAll(/./g, (char) => `%${char.charCodeAt(0).toString(16)}`)}`],
    ['as an argument', `/api/list?${TOKEN}`],
    ['as the value of one that does not exist', `/api/list?access_token=${TOKEN}`],
    ['outside of the API', `/${TOKEN}`],
    ['as the name of a session', `/mcp/${TOKEN}`],
  ])('does not repeat a token %s (S-19)', async (_where, path) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const response = await fetch(`${origin}${path}`, { method });
      const answer = `${JSON.stringify([...response.headers])} ${await response.text()}`;
      // What is sent with POST is in the body; nothing in the address counts.
      if (method !== 'POST') expect(response.status, method).toBeGreaterThanOrEqual(400);
      expect(answer, method).not.toContain(TOKEN);
    }
  });

  it.each([
    ['PUT', 'list', 'GET, HEAD, POST'],
    ['PROPFIND', 'list', 'GET, HEAD, POST'],
    ['PROPFIND', 'task_claim', 'POST'],
    ['DELETE', 'task_claim', 'POST'],
    ['GET', 'task_claim', 'POST'],
    ['GET', 'run_open', 'POST'],
  ])('says which methods it takes instead of %s for %s', async (method, name, allow) => {
    const response = await fetch(`${origin}/api/${name}`, { method });
    expect(response.headers.get('allow')).toBe(allow);
    expect(await problemOf(response)).toMatchObject({ status: 405, title: 'Method not allowed' });
  });

  it.each(['HEAD', 'OPTIONS'])('says the same to %s, which has no body', async (method) => {
    const response = await fetch(`${origin}/api/task_claim`, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it.each(['/api', '/api/list?what=agents', '/openapi.json'])(
    'answers HEAD for %s as GET, without a body',
    async (path) => {
      const asked = await fetch(`${origin}${path}`);
      const head = await fetch(`${origin}${path}`, { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
      for (const name of ['content-type', 'etag'])
        expect(head.headers.get(name)).toBe(asked.headers.get(name));
    },
  );

  it('lists the operations at /api/ too', async () => {
    expect(await (await fetch(`${origin}/api/`)).json()).toEqual(await (await fetch(`${origin}/api`)).json());
    const refused = await fetch(`${origin}/api/`, { method: 'POST' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('says what would allow it to run programs', async () => {
    expect((await problemOf(await post('run_completion_contract'))).detail).toContain(
      'contracts_over_http (--contracts-over-http)',
    );
  });

  it('leaves the words of people as they are, and names next steps as routes', async () => {
    const words = 'note: task_claim {x} and {operation:"list"}';
    const other = await temporaryFolder(onTestFinished);
    await writeFiles(other, KIT_FILES);
    const task = { agent: 'dev', task: words, output_key: 'figures', project: other };
    const queued = await post('spawn_subagent_task', task, { accept: 'text/markdown' });
    expect(await queued.text()).toContain(words);
    const refused = await problemOf(await post('read', { target: 'task_claim {x}' }));
    expect(refused.detail).toContain('task_claim {x}');
    expect(refused.detail).not.toContain('POST');
  });

  it('tells a caller who may only read how to ask for more', async () => {
    const challenge = 'Bearer error="insufficient_scope", scope="bmad:write"';
    const gate: Gate = {
      admit: async () => ({ known: 'oauth', subject: 'ada', mayWrite: false, challenge }),
    };
    const door = await openFrontDoor({ port: 0, routes: createApiRoutes(context), log: context.log, gate });
    onTestFinished(() => door.close());
    const told = async (name: string, body: object): Promise<unknown[]> => {
      const response = await post(name, body, {}, door.origin);
      return [response.status, response.headers.get('www-authenticate')];
    };
    expect(await told('task_claim', {})).toEqual([403, challenge]);
    // One that also reads is refused where it would write.
    expect(await told('manage_project', { action: 'task_claim', args: {} })).toEqual([403, challenge]);
    expect(await told('list_workflows', {})).toEqual([403, null]);
    expect(await told('list', {})).toEqual([200, null]);
  });

  it('finishes what runs and takes nothing new when it ends', async () => {
    const routes = createApiRoutes(context);
    const door = await served(context, routes, onTestFinished);
    const running = post('search', { query: 'architecture' }, {}, door.origin);
    const again = async (): Promise<number> => (await post('list', {}, {}, door.origin)).status;
    expect(await again()).toBe(200);
    for (const route of routes) await route.close?.(new AbortController().signal);
    expect((await running).status).toBe(200);
    expect(await again()).toBe(503);
  });

  it('names the next step as a route', async () => {
    const { hint } = await problemOf(await post('read', { target: 'nobody-has-this-name' }));
    expect(hint).toContain('POST /api/list {"what":"workflows"}');
  });

  it('ends the call of a client that has left', async () => {
    // A store that takes a question and never answers it: only the end of the call can end it.
    const asked = new EventEmitter();
    const store = createServer(() => void asked.emit('question')).listen(0, '127.0.0.1');
    onTestFinished(() => store.close().closeAllConnections());
    await once(store, 'listening');
    const project = await temporaryFolder(onTestFinished);
    await writeFiles(project, KIT_FILES);
    const seen = new EventEmitter();
    const slow = {
      ...(await contextIn(project, {
        flags: { qdrantUrl: `http://127.0.0.1:${(store.address() as AddressInfo).port}` },
      })),
      observe: (one: Observed) => void seen.emit('call', one),
    };
    const door = await served(slow, createApiRoutes(slow), onTestFinished);
    const leaving = new AbortController();
    const [question, call] = [once(asked, 'question'), once(seen, 'call')];
    const answer = fetch(`${door.origin}/api/recall_structured?query=x`, { signal: leaving.signal });
    await question;
    leaving.abort();
    await expect(answer).rejects.toThrow('abort');
    expect(await call).toMatchObject([{ operation: 'recall_structured', code: 'cancelled' }]);
  });

  it('refuses a foreign Host like every route', async () => {
    const { hostname, port } = new URL(origin);
    const asked = httpRequest({ hostname, port, path: '/api', headers: { host: 'evil.example' } }).end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(403);
    expect(JSON.parse(await textOf(response))).toMatchObject({ status: 403 });
  });
});
