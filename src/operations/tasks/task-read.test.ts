import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, testCall } from '../../../tests/support/app.ts';
import { approveTask } from '../../../tests/support/approve-task.ts';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { execute } from '../execute.ts';
import { spawnSubagentTask, taskList, taskShow } from './tasks.ts';
import { taskCancel, taskClaim, taskComplete } from './task-work.ts';

describe('task_list', () => {
  it('shows open tasks, the oldest first, and pages through many', async () => {
    const session = await memorySession(afterAll);
    const ids: string[] = [];
    for (const output_key of ['a', 'b', 'c', 'd']) {
      const { data } = await session.ok(spawnSubagentTask, {
        agent: 'dev',
        task: `Do ${output_key}`,
        output_key,
      });
      ids.push((data['task'] as { task_id: string }).task_id);
    }
    await session.ok(taskCancel, { task_id: ids[1] });
    const { data, answer } = await session.ok(taskList, { limit: 2 });
    expect((data['tasks'] as { task_id: string }[]).map(({ task_id }) => task_id)).toEqual([ids[0], ids[2]]);
    expect(data['counts']).toEqual({ queued: 3, cancelled: 1 });
    expect(answer.steps).toMatchObject([
      { operation: 'task_list', args: { limit: 2, cursor: data['next'] } },
    ]);
    const rest = await session.ok(taskList, { limit: 2, cursor: data['next'] });
    expect((rest.data['tasks'] as { task_id: string }[]).map(({ task_id }) => task_id)).toEqual([ids[3]]);
  });

  it('says that there is none', async () => {
    const session = await memorySession(afterAll, { files: {} });
    const { body, note } = (await session.ok(taskList, {})).answer;
    expect([body, note]).toEqual(['No task has been queued.', undefined]);
  });
});

describe('task_show', () => {
  it('says who has done it, and that it came over HTTP', async () => {
    const session = await memorySession(afterAll);
    const context = await contextIn(session.folder, { flags: { embedder: 'none' } });
    const done = async (output_key: string, overHttp: boolean): Promise<string> => {
      const spawned = await session.ok(spawnSubagentTask, { agent: 'dev', task: 'Do it', output_key });
      const { task_id } = spawned.data['task'] as { task_id: string };
      const { claim } = (await session.ok(taskClaim, { task_id, worker: 'mallory' })).data;
      const handed = { task_id, claim, result: 'Trust me.', needs_verification: true };
      expect(await execute(taskComplete, handed, context, { ...testCall(), overHttp })).toMatchObject({
        ok: true,
      });
      return task_id;
    };
    const [far, near] = [await done('far', true), await done('near', false)];
    const { data, answer } = await session.ok(taskShow, { task_id: far });
    expect(data['task']).toMatchObject({ worker: 'mallory', over_http: true });
    expect(answer.body).toContain(`${far} needs_verification by mallory, handed in over HTTP: dev`);
    const listed = (await session.ok(taskList)).answer.body;
    expect(listed).toContain(`${far} needs_verification by mallory, handed in over HTTP: dev`);
    expect(listed).toContain(`${near} needs_verification by mallory: dev`);
    await approveTask(session, far);
    expect((await session.ok(taskShow, { task_id: far })).answer.body).toContain('by mallory, handed in');
  });

  it('shows the result of a completed task, and the brief on request', async () => {
    const session = await memorySession(afterAll);
    const order = { agent: 'dev', task: 'Measure the roof', output_key: 'roof' };
    const { task_id } = (await session.ok(spawnSubagentTask, order)).data['task'] as { task_id: string };
    const before = await session.ok(taskShow, { task_id });
    expect(before.answer.body).toContain('## What to do');
    const { claim } = (await session.ok(taskClaim, { task_id, worker: 'w' })).data;
    await session.ok(taskComplete, { task_id, claim, result: 'It is 40 square metres.' });
    const { data, answer } = await session.ok(taskShow, { task_id });
    expect(answer.body).toContain('It is 40 square metres.');
    expect(answer.body).not.toContain('## What to do');
    expect(data).not.toHaveProperty('brief');
    expect(answer.steps).toEqual([
      { operation: 'task_show', args: { task_id, brief: true }, why: 'Show the brief too' },
    ]);
    const whole = await session.ok(taskShow, { task_id, brief: true });
    expect(whole.answer.body).toContain('## What to do');
    expect(whole.answer.body).toContain('It is 40 square metres.');
  });

  it('names near ids when there is none of this name', async () => {
    const session = await memorySession(afterAll);
    const { data } = await session.ok(spawnSubagentTask, { agent: 'dev', task: 'Do it', output_key: 'x' });
    const { task_id } = data['task'] as { task_id: string };
    const error = await session.fail(taskShow, { task_id: `${task_id.slice(0, -1)}z` });
    expect(error.code).toBe('not_found');
    expect(error.suggestions).toEqual([task_id]);
  });
});
