import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { approveTask } from '../../../tests/support/approve-task.ts';
import { memorySession, type MemorySession } from '../../../tests/support/memory-session.ts';
import { forgeLine } from '../../../tests/support/tasks.ts';
import { spawnSubagentTask, taskList, taskMerge, taskShow } from './tasks.ts';
import { taskApprove } from './task-decide.ts';
import { runOpen } from '../runs/run-operations.ts';
import { taskCancel, taskClaim, taskComplete, taskFail, taskRenew } from './task-work.ts';

type Data = Record<string, unknown>;
const taskOf = (data: Data): Data => data['task'] as Data;

async function spawned(session: MemorySession, output_key: string, more: object = {}): Promise<string> {
  const { data } = await session.ok(spawnSubagentTask, {
    agent: 'dev',
    task: `Do ${output_key}`,
    output_key,
    ...more,
  });
  return taskOf(data)['task_id'] as string;
}

describe('a task from the queue to its result', () => {
  it('is claimed by one, completed with its claim, and known to be done', async () => {
    const session = await memorySession(afterAll);
    const id = await spawned(session, 'one');
    const { data } = await session.ok(taskClaim, { worker: 'a' });
    expect(taskOf(data)).toMatchObject({ task_id: id, status: 'running', worker: 'a', attempts: 1 });
    expect((await session.ok(taskClaim, { worker: 'b' })).data['task']).toBeUndefined();
    expect((await session.fail(taskClaim, { task_id: id, worker: 'b' })).message).toContain(
      'is claimed already, by "a"',
    );
    const foreign = await session.fail(taskComplete, { task_id: id, claim: 'not-it', result: 'x' });
    expect(foreign.code).toBe('conflict');
    const done = { task_id: id, claim: data['claim'], result: 'All good' };
    expect(taskOf((await session.ok(taskComplete, done)).data)['status']).toBe('completed');
    // A worker that was cut off after its answer arrived may send it again.
    expect(taskOf((await session.ok(taskComplete, done)).data)['status']).toBe('completed');
    expect((await session.fail(taskComplete, { ...done, result: 'Another' })).code).toBe('conflict');
  });

  it('never shows the claim to others', async () => {
    const session = await memorySession(afterAll);
    await spawned(session, 'one');
    const { data } = await session.ok(taskClaim, {});
    expect(JSON.stringify((await session.ok(taskList, { status: 'all' })).data)).not.toContain(data['claim']);
  });

  it('waits for what it builds on, and gets the results of that', async () => {
    const session = await memorySession(afterAll);
    const first = await spawned(session, 'first');
    const second = await spawned(session, 'second', { depends_on: ['first'] });
    const early = await session.fail(taskClaim, { task_id: second });
    expect(early.message).toContain('waits for "first"');
    const { data } = await session.ok(taskClaim, {});
    expect(taskOf(data)['task_id']).toBe(first);
    await session.ok(taskComplete, { task_id: first, claim: data['claim'], result: 'The answer is 42' });
    const next = await session.ok(taskClaim, {});
    expect(taskOf(next.data)['task_id']).toBe(second);
    expect(next.data['inputs']).toEqual([{ output_key: 'first', text: 'The answer is 42' }]);
  });

  it.each(['dev', 'Amelia', 'bmm/dev', 'DEV', 'bmad-agent-dev'])(
    'is found for the agent %s',
    async (agent) => {
      const session = await memorySession(afterAll, { files: { '_bmad-output/x.md': 'x' } });
      const id = await spawned(session, 'one', { agent: 'Amelia' });
      expect((await session.ok(taskClaim, { agent: 'architect' })).data['task']).toBeUndefined();
      expect(taskOf((await session.ok(taskClaim, { agent })).data)['task_id']).toBe(id);
    },
  );

  it('builds on the results of its own run, not of another', async () => {
    const session = await memorySession(afterAll);
    const run = async (): Promise<string> => {
      const { data } = await session.ok(runOpen, { workflow: 'prd' });
      return (data['run'] as { run_id: string }).run_id;
    };
    const [one, two] = [await run(), await run()];
    const done = async (id: string, result: string): Promise<void> => {
      const { data } = await session.ok(taskClaim, { task_id: id });
      await session.ok(taskComplete, { task_id: id, claim: data['claim'], result });
    };
    await done(await spawned(session, 'api', { run_id: one }), 'of run one');
    const second = await spawned(session, 'api', { run_id: two });
    const review = await spawned(session, 'review', { run_id: two, depends_on: ['api'] });
    expect((await session.fail(taskClaim, { task_id: review })).message).toContain('waits for "api"');
    await done(second, 'of run two');
    const { data } = await session.ok(taskClaim, { task_id: review });
    expect(data['inputs']).toEqual([{ output_key: 'api', text: 'of run two' }]);
    const error = await session.fail(taskMerge, { strategy: 'structured' });
    expect(error.message).toContain('Several tasks have the output key "api"');
    const merged = await session.ok(taskMerge, { strategy: 'structured', run_id: one });
    expect(JSON.parse(merged.data['text'] as string)).toEqual({ api: 'of run one' });
  });

  it('comes back after a failure that may be tried again, three times in all', async () => {
    const session = await memorySession(afterAll);
    const id = await spawned(session, 'hard');
    for (const status of ['queued', 'queued', 'failed']) {
      const { data } = await session.ok(taskClaim, {});
      const failed = { task_id: id, claim: data['claim'], error: 'no luck', retry: true };
      expect(taskOf((await session.ok(taskFail, failed)).data)['status']).toBe(status);
    }
    expect((await session.ok(taskClaim, {})).data['task']).toBeUndefined();
  });

  it('is free again when its worker is not heard of, and the worker that comes late is told', async () => {
    const session = await memorySession(afterAll);
    const id = await spawned(session, 'one');
    const { data } = await session.ok(taskClaim, { worker: 'gone' });
    await session.ok(taskRenew, { task_id: id, claim: data['claim'], lease_minutes: 5 });
    await forgeLine(session.folder, id, 'renew', { claim: data['claim'], until: '2020-01-01T00:00:00.000Z' });
    const again = await session.ok(taskClaim, { worker: 'next' });
    expect(taskOf(again.data)).toMatchObject({ task_id: id, worker: 'next', attempts: 2 });
    const late = await session.fail(taskComplete, { task_id: id, claim: data['claim'], result: 'too late' });
    expect(late.code).toBe('conflict');
    expect(late.hint).toContain('expired');
  });

  it('waits for a person where that was asked for, and for nobody else', async () => {
    const session = await memorySession(afterAll);
    const id = await spawned(session, 'risky', { needs_approval: 'It deletes data' });
    expect((await session.ok(taskClaim, {})).data['task']).toBeUndefined();
    const error = await session.fail(taskClaim, { task_id: id });
    expect(error.hint).toContain('A person');
    expect(error.steps).toMatchObject([{ operation: 'task_approve', args: { task_id: id } }]);
    expect(taskOf((await approveTask(session, id, { by: 'Ada' })).data)).toMatchObject({
      status: 'queued',
      approval: 'It deletes data (decided by Ada)',
    });
    const { data } = await session.ok(taskClaim, {});
    await session.ok(taskComplete, {
      task_id: id,
      claim: data['claim'],
      result: 'done by an outsider',
      needs_verification: true,
    });
    expect(taskOf((await approveTask(session, id)).data)['status']).toBe('completed');
    expect((await session.fail(taskApprove, { task_id: id })).code).toBe('conflict');
  });

  it('can be cancelled until it is done, and its name is free then', async () => {
    const session = await memorySession(afterAll);
    const id = await spawned(session, 'one');
    expect(taskOf((await session.ok(taskCancel, { task_id: id, reason: 'not needed' })).data)['status']).toBe(
      'cancelled',
    );
    await spawned(session, 'one');
  });

  it.each(['', '{"task_id":', '[]', '{"version":0}'])(
    'reports a broken file and leaves it: %s',
    async (text) => {
      const session = await memorySession(afterAll);
      await spawned(session, 'fine');
      const file = join(session.folder, '_bmad-output/.tasks/task-broken.json');
      await writeFile(file, text);
      const { data } = await session.ok(taskList, {});
      expect(data['problems']).toEqual([expect.stringContaining('task-broken.json is not a readable task')]);
      expect(data['tasks']).toHaveLength(1);
      await session.ok(taskClaim, {});
      expect(await readFile(file, 'utf8')).toBe(text);
    },
  );

  it('calls a task of a later version newer, and leaves it (R-11)', async () => {
    const session = await memorySession(afterAll);
    await spawned(session, 'fine');
    const id = 'task-20250101-000000-abcdef';
    const file = join(session.folder, '_bmad-output/.tasks', `${id}.json`);
    const text = JSON.stringify({ version: 99, task_id: id });
    await writeFile(file, text);
    const { data } = await session.ok(taskList, {});
    const words = `${id}.json was written by a newer version of this server.`;
    expect(data['problems']).toEqual([expect.stringContaining(words)]);
    expect((await session.fail(taskClaim, { task_id: id })).message).toContain(words);
    await spawned(session, 'another');
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  it('frees a task that was claimed while a clock was far ahead (R-11)', async () => {
    const session = await memorySession(afterAll);
    const id = await spawned(session, 'ahead');
    const { data } = await session.ok(taskClaim, { task_id: id, worker: 'one', lease_minutes: 24 * 60 });
    const claimed = async (until: Date): Promise<unknown> => {
      await forgeLine(session.folder, id, 'renew', { claim: data['claim'], until: until.toISOString() });
      return taskOf((await session.ok(taskShow, { task_id: id })).data)['status'];
    };
    const day = 24 * 60 * 60_000;
    expect(await claimed(new Date(Date.now() + day - 1_000))).toBe('running');
    expect(await claimed(new Date(Date.now() + 400 * day))).toBe('queued');
    const again = await session.ok(taskClaim, { task_id: id, worker: 'two' });
    expect(taskOf(again.data)['status']).toBe('running');
  });

  it('calls a plain file in place of the folder one (R-11)', async () => {
    const session = await memorySession(afterAll, { files: { '_bmad-output/.tasks': 'not a folder' } });
    const error = await session.fail(spawnSubagentTask, { agent: 'dev', task: 'x', output_key: 'x' });
    expect(error.message).toBe('_bmad-output/.tasks is a file, not a folder; no task is kept there.');
    expect(error.code).toBe('unavailable');
  });

  it.each(['../x', 'task-../x', 'task-a/b', 'task-\0', 'x'])('refuses the id %j', async (task_id) => {
    const session = await memorySession(afterAll);
    expect((await session.fail(taskCancel, { task_id })).code).toBe('invalid_input');
  });

  it('leaves no drafts behind', async () => {
    const session = await memorySession(afterAll);
    await spawned(session, 'one');
    const names = await readdir(join(session.folder, '_bmad-output/.tasks'));
    expect(names.filter((name) => /tmp|lock/.test(name))).toEqual([]);
  });
});
