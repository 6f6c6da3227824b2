import { afterAll, describe, expect, it } from 'vitest';
import { memorySession } from '../../tests/support/memory-session.ts';
import { spawnSubagentTask } from './spawn-subagent-task.ts';
import { taskList, taskShow } from './task-read.ts';
import { taskCancel } from './task-work.ts';

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
    expect(answer.note).toContain(`cursor "${String(data['next'])}"`);
    const rest = await session.ok(taskList, { limit: 2, cursor: data['next'] });
    expect((rest.data['tasks'] as { task_id: string }[]).map(({ task_id }) => task_id)).toEqual([ids[3]]);
  });

  it('says that there is none', async () => {
    const session = await memorySession(afterAll, { files: {} });
    expect((await session.ok(taskList, {})).answer.body).toBe('No such task.');
  });
});

describe('task_show', () => {
  it('names near ids when there is none of this name', async () => {
    const session = await memorySession(afterAll);
    const { data } = await session.ok(spawnSubagentTask, { agent: 'dev', task: 'Do it', output_key: 'x' });
    const { task_id } = data['task'] as { task_id: string };
    const error = await session.fail(taskShow, { task_id: `${task_id.slice(0, -1)}z` });
    expect(error.code).toBe('not_found');
    expect(error.suggestions).toEqual([task_id]);
  });
});
