import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { KIT_FILES, writeFiles } from '../../../tests/support/kit-project.ts';
import { sessionIn, type OpenSession } from '../../../tests/support/operations.ts';
import { forgeTask } from '../../../tests/support/tasks.ts';
import { inbox } from '../inbox/inbox.ts';
import type { InboxItem } from '../inbox/inbox.ts';
import { spawnSubagentTask, taskList, taskMerge, taskShow } from './tasks.ts';
import { taskApprove, taskApproveAll, taskRefuse } from './task-decide.ts';
import type { TaskView } from './task-view.ts';
import { taskCancel, taskClaim, taskComplete } from './task-work.ts';

type Stored = Record<string, unknown>;

/** A project, and as many machines as there are home folders; all see the same files. */
async function project() {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, KIT_FILES);
  const machine = async (name: string): Promise<OpenSession> =>
    sessionIn(folder, { home: join(await temporaryFolder(afterAll), name), flags: { embedder: 'none' } });
  const edit = (id: string, change: (task: Stored) => Stored): Promise<void> => forgeTask(folder, id, change);
  return { machine, edit };
}

let keys = 0;

async function queued(session: OpenSession, more: object = {}): Promise<string> {
  const order = { agent: 'dev', task: 'Push the keys', output_key: `key_${(keys += 1)}`, ...more };
  const { data } = await session.ok(spawnSubagentTask, order);
  return (data['task'] as TaskView).task_id;
}

const waiting = (session: OpenSession): Promise<string> => queued(session, { needs_approval: 'it costs' });

async function taskOf(session: OpenSession, task_id: string): Promise<TaskView> {
  return (await session.ok(taskShow, { task_id })).data['task'] as TaskView;
}

async function approve(session: OpenSession, task_id: string): Promise<void> {
  const { waits } = (await session.ok(taskShow, { task_id })).data as { waits: { digest: string } };
  await session.ok(taskApprove, { task_id, digest: waits.digest, by: 'Ada' });
}

async function isRefusedToWorkers(
  session: OpenSession,
  task_id: string,
  why: string | RegExp,
): Promise<void> {
  expect(await taskOf(session, task_id)).toMatchObject({ status: 'needs_approval' });
  expect((await taskOf(session, task_id)).approval).toMatch(why);
  const error = await session.fail(taskClaim, { task_id });
  expect(error.hint).toMatch(why);
  expect(error.steps).toMatchObject([{ operation: 'task_approve', args: { task_id } }]);
  expect((await session.ok(taskClaim)).data['task']).toBeUndefined();
}

const lease = (until: string): Stored => ({ worker: 'eve', claim: 'known', until });

describe('a line about a task', () => {
  it.each<[string, (task: Stored) => Stored]>([
    ['queued', (task) => ({ ...task, status: 'queued' })],
    [
      'queued and approved',
      (task) => ({ ...task, status: 'queued', approval: { reason: 'it costs', agreed: true, by: 'alice' } }),
    ],
    ['queued, and never asked about', ({ approval: _approval, ...task }) => ({ ...task, status: 'queued' })],
    [
      'claimed, long ago',
      (task) => ({ ...task, status: 'running', lease: lease('2020-01-01T00:00:00.000Z') }),
    ],
  ])('is not made an approval by being forged: %s (X-09)', async (_what, change) => {
    const { machine, edit } = await project();
    const session = await machine('here');
    const id = await waiting(session);
    await edit(id, change);
    await isRefusedToWorkers(session, id, /no one has approved it on this machine/);
    expect((await session.ok(taskList)).answer.body).toContain('no one has approved it on this machine');
    const items = (await session.ok(inbox)).data['items'] as InboxItem[];
    expect(items.find((item) => item.id === `task ${id}`)?.evidence[0]?.says).toContain(
      'no one has approved',
    );
    await approve(session, id);
    expect((await session.ok(taskClaim)).data['task']).toMatchObject({ task_id: id });
  });

  it('is not made work for somebody outside, who waits for a person here (X-09)', async () => {
    const { machine, edit } = await project();
    const session = await machine('here');
    const outside = { protocol: 'a2a', context_id: 'c', message_id: 'm' };
    for (const more of [{ outside }, {}]) {
      const id = await waiting(session);
      await edit(id, (task) => ({
        ...task,
        ...more,
        status: 'running',
        lease: lease('2999-01-01T00:00:00.000Z'),
      }));
      const error = await session.fail(taskComplete, { task_id: id, claim: 'known', result: 'Sent.' });
      expect(error.message).toContain('needs_approval');
    }
  });

  it('does not bring back what was refused or cancelled here (X-09)', async () => {
    const { machine, edit } = await project();
    const session = await machine('here');
    const [refused, cancelled] = [await waiting(session), await queued(session)];
    await session.ok(taskRefuse, { task_id: refused, by: 'Ada', reason: 'no' });
    await session.ok(taskCancel, { task_id: cancelled });
    for (const id of [refused, cancelled]) await edit(id, (task) => ({ ...task, status: 'queued' }));
    await isRefusedToWorkers(session, refused, /Ada has refused it on this machine/);
    await isRefusedToWorkers(session, cancelled, /no one has approved it on this machine/);
    expect(await taskOf(session, refused)).toMatchObject({ status: 'needs_approval' });
  });

  it('may say that a result was agreed to, and it still waits (X-09)', async () => {
    const { machine, edit } = await project();
    const session = await machine('here');
    const id = await queued(session, { output_key: 'checked' });
    const { claim } = (await session.ok(taskClaim)).data as { claim: string };
    await session.ok(taskComplete, { task_id: id, claim, result: 'Done.', needs_verification: true });
    await edit(id, (task) => ({
      ...task,
      status: 'completed',
      approval: { reason: 'x', agreed: true, by: 'bob' },
    }));
    expect(await taskOf(session, id)).toMatchObject({ status: 'needs_verification' });
    const merging = await session.fail(taskMerge, { output_keys: ['checked'] });
    expect(merging.code).toBe('not_found');
    await approve(session, id);
    expect(await taskOf(session, id)).toMatchObject({ status: 'completed' });
    await session.ok(taskMerge, { output_keys: ['checked'] });
  });
});

describe('a task from another machine', () => {
  it('waits for a person here, and says who has approved it where (X-09)', async () => {
    const { machine } = await project();
    const [there, here] = [await machine('alice'), await machine('bob')];
    const approved = await waiting(there);
    await approve(there, approved);
    const plain = await queued(there);
    await isRefusedToWorkers(
      here,
      approved,
      /Approved elsewhere by Ada on \d{4}-\d\d-\d\d, not on this machine/,
    );
    await isRefusedToWorkers(here, plain, /Not queued on this machine/);
    await approve(here, approved);
    expect((await here.ok(taskClaim)).data['task']).toMatchObject({ task_id: approved });
    // It stays as it was where it was queued.
    expect((await there.ok(taskClaim)).data['task']).toMatchObject({ task_id: plain });
  });

  it('that somebody has begun or finished stands as it is (X-09)', async () => {
    const { machine } = await project();
    const [there, here] = [await machine('alice'), await machine('bob')];
    const [done, begun] = [await queued(there, { output_key: 'done' }), await queued(there)];
    const { claim } = (await there.ok(taskClaim, { task_id: done })).data as { claim: string };
    await there.ok(taskComplete, { task_id: done, claim, result: 'Done.' });
    await there.ok(taskClaim, { task_id: begun });
    expect(await taskOf(here, done)).toMatchObject({ status: 'completed' });
    expect(await taskOf(here, begun)).toMatchObject({ status: 'running' });
    await here.ok(taskMerge, { output_keys: ['done'] });
  });

  it('is approved with all others like it, exactly as they were shown (X-09)', async () => {
    const { machine, edit } = await project();
    const [there, here] = [await machine('before'), await machine('after')];
    const ids = [await queued(there), await queued(there)];
    const own = await waiting(here);
    const items = (await here.ok(inbox)).data['items'] as InboxItem[];
    const offered = items.find(({ id }) => id === 'tasks from elsewhere')?.actions[0];
    const shown = await here.ok(taskApproveAll);
    expect([shown.failed, (shown.data['tasks'] as TaskView[]).map(({ task_id }) => task_id)]).toEqual([
      true,
      ids,
    ]);
    const { digest } = shown.data as { digest: string };
    expect(offered).toMatchObject({ operation: 'task_approve_all', args: { digest }, person: true });
    expect(shown.answer.body).toContain('Push the keys');
    await edit(ids[1] ?? '', (task) => ({ ...task, agent: 'architect' }));
    expect((await here.fail(taskApproveAll, { digest })).code).toBe('conflict');
    await edit(ids[1] ?? '', (task) => ({ ...task, agent: 'dev' }));
    await here.ok(taskApproveAll, { digest });
    for (const id of ids) expect(await taskOf(here, id)).toMatchObject({ status: 'queued' });
    expect(await taskOf(here, own)).toMatchObject({ status: 'needs_approval' });
    expect((await here.ok(taskApproveAll)).failed).toBe(false);
  });
});

describe('a decision', () => {
  it('holds though the lines have been taken back (X-09)', async () => {
    const { machine, edit } = await project();
    const session = await machine('here');
    const id = await waiting(session);
    await approve(session, id);
    await edit(id, (task) => ({ ...task, status: 'needs_approval', approval: { reason: 'it costs' } }));
    expect(await taskOf(session, id)).toMatchObject({ status: 'queued' });
    expect((await session.ok(taskClaim)).data['task']).toMatchObject({ task_id: id });
  });

  it('is made once, by the first of several (X-09)', async () => {
    const { machine } = await project();
    const session = await machine('here');
    const id = await waiting(session);
    const { waits } = (await session.ok(taskShow, { task_id: id })).data as { waits: { digest: string } };
    const answers = await Promise.allSettled([
      session.ok(taskApprove, { task_id: id, digest: waits.digest }),
      session.ok(taskRefuse, { task_id: id }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const agreed = answers[0]?.status === 'fulfilled';
    expect(await taskOf(session, id)).toMatchObject({ status: agreed ? 'queued' : 'cancelled' });
  });
});
