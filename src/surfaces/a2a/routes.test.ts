import { afterAll, describe, expect, it } from 'vitest';
import { parseLegacyAgentCard } from '@a2a-js/sdk/compat/v0_3/client';
import type { AgentCard } from '@a2a-js/sdk';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { serve } from '../../../tests/support/front-door.ts';
import { KIT_FILES, writeFiles } from '../../../tests/support/kit-project.ts';
import { sendRequest } from '../../../tests/support/raw-http.ts';
import type { Caller } from '../../base/http/http-route.ts';
import { createA2aRoutes } from './routes.ts';

const folder = await temporaryFolder(afterAll);
await writeFiles(folder, KIT_FILES);
const context = await contextIn(folder, { flags: { embedder: 'none' } });
const open = createA2aRoutes(context);
const guarded = createA2aRoutes(context, { secured: true, address: 'https://bmad.example.org' });

const LOCAL: Caller = { known: 'anonymous', mayWrite: true };
/** Whom the front door sends to routes that are open to everybody. */
const STRANGER: Caller = { known: 'anonymous', mayWrite: false };
const READER: Caller = { known: 'token', mayWrite: false };

async function ask(path: string, caller: Caller, init: RequestInit = {}): Promise<Response> {
  const route = (caller === LOCAL ? open : guarded).find((one) => one.path === path);
  if (route === undefined) throw new Error(`There is no route ${path}.`);
  const request = new Request(`http://127.0.0.1:2623${path}`, init);
  return route.handle({ request, path, caller, place: '127.0.0.1 1', over: new AbortController().signal });
}

async function cardFor(caller: Caller, headers: Record<string, string> = {}): Promise<AgentCard> {
  const response = await ask('/.well-known/agent-card.json', caller, { headers });
  return (await response.json()) as AgentCard;
}

async function call(
  method: string,
  params: object,
  caller: Caller,
): Promise<{ status: number; body: string }> {
  const response = await ask('/a2a', caller, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return { status: response.status, body: await response.text() };
}

describe('the card', () => {
  it('has each agent of the catalogue as a skill, and promises what is kept', async () => {
    const card = await cardFor(LOCAL, { 'a2a-version': '1.0', host: 'localhost:9' });
    expect(card.supportedInterfaces.map(({ url, protocolVersion }) => `${protocolVersion} ${url}`)).toEqual([
      '1.0 http://localhost:9/a2a',
      '0.3 http://localhost:9/a2a',
    ]);
    expect(card.capabilities).toEqual({
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: false,
    });
    expect(card).not.toHaveProperty('securitySchemes');
    const skill = card.skills.find(({ id }) => id === 'architect');
    expect(skill).toMatchObject({ name: 'Winston, System Architect', tags: ['bmad', 'bmm', 'architect'] });
    expect(skill?.examples.length).toBeGreaterThan(0);
    expect(card.skills.map(({ id }) => id)).toContain('fullstack-dev');
  });

  it('is read by those who know 0.3 only, also at the place they look at', async () => {
    const card = await cardFor(LOCAL);
    expect(card).toMatchObject({
      url: 'http://127.0.0.1:2623/a2a',
      protocolVersion: '0.3',
      preferredTransport: 'JSONRPC',
    });
    expect(parseLegacyAgentCard(card).skills.map(({ id }) => id)).toContain('architect');
    const older = await ask('/.well-known/agent.json', LOCAL);
    expect(await older.json()).toEqual(card);
  });

  it.each(['/.well-known/agent-card.json', '/.well-known/agent.json'])(
    'can be asked for without its body: %s',
    async (path) => {
      const { origin } = await serve({ routes: createA2aRoutes(context) });
      const { status, headers, text } = await sendRequest(origin, { method: 'HEAD', path });
      expect([status, headers['content-type'], text]).toEqual([200, 'application/json', '']);
    },
  );

  it('tells strangers how to show who they are, and nothing else', async () => {
    const card = await cardFor(STRANGER, { 'a2a-version': '1.0' });
    expect(card.skills ?? []).toEqual([]);
    expect(card.capabilities?.extendedAgentCard).toBe(true);
    expect(card.securitySchemes).toEqual({
      bearer: { httpAuthSecurityScheme: { description: 'The server’s token.', scheme: 'Bearer' } },
    });
    expect(JSON.stringify(await cardFor(STRANGER))).not.toContain('architect');
    expect(card.supportedInterfaces[0]?.url).toBe('https://bmad.example.org/a2a');
    const openPaths = (routes: typeof open): string[] =>
      routes.filter((route) => route.open === true).map(({ path }) => path);
    expect(openPaths(guarded)).toEqual(['/.well-known/agent-card.json', '/.well-known/agent.json']);
    expect(openPaths(open)).toEqual([]);
  });

  it('is whole for those who have shown who they are', async () => {
    const known = await cardFor(READER, { 'a2a-version': '1.0' });
    expect(known.skills.length).toBeGreaterThan(5);
    expect(known.capabilities?.extendedAgentCard).toBe(true);
    const extended = JSON.parse((await call('GetExtendedAgentCard', {}, READER)).body) as object;
    expect(extended).toMatchObject({ result: { skills: known.skills } });
    expect((await call('GetExtendedAgentCard', {}, LOCAL)).body).toContain('-32004');
  });

  it('stays readable, however many agents there are', async () => {
    const crowded = await temporaryFolder(afterAll);
    const agent = (name: string): string =>
      `\`\`\`xml\n<agent id="${name}.agent.yaml" name="${'Long '.repeat(200)}" title="${'T'.repeat(5_000)}">\n</agent>\n\`\`\`\n`;
    const files = Array.from({ length: 250 }, (_, index) => [
      `_bmad/_config/custom/agents/a${index}.md`,
      agent(`a${index}`),
    ]);
    await writeFiles(crowded, Object.fromEntries(files) as Record<string, string>);
    const [route] = createA2aRoutes(await contextIn(crowded, { flags: { embedder: 'none' } }));
    const request = new Request('http://127.0.0.1/.well-known/agent-card.json');
    const signal = new AbortController().signal;
    const response = await route?.handle({
      request,
      path: '',
      caller: LOCAL,
      place: '127.0.0.1 1',
      over: signal,
    });
    const text = (await response?.text()) ?? '';
    expect((JSON.parse(text) as AgentCard).skills).toHaveLength(200);
    expect(text).toMatch(/200 of 25\d agents are listed/);
    expect(text.length).toBeLessThan(200_000);
  });
});

describe('a task that waits for a person', () => {
  const params = {
    message: { messageId: 'm', parts: [{ text: 'Look at it' }], metadata: { skill: 'architect' } },
  };

  it('says where the person agrees', async () => {
    expect((await call('SendMessage', params, LOCAL)).body).toMatch(
      /must approve it first, in its folder: bmad task approve task-/,
    );
  });

  it.each([{ name: 'caller' }, 7, null])(
    'goes by its text where metadata has an agent of another kind: %j',
    async (agent) => {
      const message = {
        messageId: 'of-another-kind',
        parts: [{ text: 'Design the architecture' }],
        metadata: { agent },
      };
      expect((await call('SendMessage', { message }, LOCAL)).body).not.toContain('metadata.skill must be');
    },
  );

  it.each(['skill', 'agent'])('goes to whom the %s of its metadata names (B-15)', async (key) => {
    const message = { messageId: `by-${key}`, parts: [{ text: 'Look' }], metadata: { [key]: 'architect' } };
    expect((await call('SendMessage', { message }, LOCAL)).body).toContain('"agent":"architect"');
  });

  it('says as whom, where the queue is in the state folder of a user', async () => {
    const plain = await contextIn(await temporaryFolder(afterAll), { flags: { embedder: 'none' } });
    const route = createA2aRoutes(plain).find(({ path }) => path === '/a2a');
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params });
    const headers = { 'content-type': 'application/json' };
    const request = new Request('http://127.0.0.1:2623/a2a', { method: 'POST', headers, body });
    const over = new AbortController().signal;
    const response = await route?.handle({
      request,
      path: '/a2a',
      caller: LOCAL,
      place: '127.0.0.1 1',
      over,
    });
    expect(await response?.text()).toMatch(/as the user the server runs as and with the same XDG_STATE/);
  });
});

describe('who may only read', () => {
  it.each([
    ['SendMessage', { message: { messageId: 'm', parts: [{ text: 'x' }] } }],
    ['message/stream', { message: { messageId: 'm', parts: [{ kind: 'text', text: 'x' }] } }],
    ['CancelTask', { id: 'task-1' }],
    ['tasks/cancel', { id: 'task-1' }],
  ])('cannot %s', async (method, params) => {
    const { status, body } = await call(method, params, READER);
    expect(status).toBe(403);
    expect(JSON.parse(body)).toMatchObject({ id: 1, error: { code: -32_004 } });
  });

  it('can list and get', async () => {
    expect((await call('ListTasks', {}, READER)).body).toContain('"totalSize":');
    expect((await call('tasks/get', { id: 'task-1' }, READER)).body).toContain('-32001');
  });
});
