import { afterAll, describe, expect, it } from 'vitest';
import { memorySession } from '../../tests/support/memory-session.ts';
import { operations } from './index.ts';
import { spawnSubagentTask } from './spawn-subagent-task.ts';
import { taskApprove, taskRefuse } from './task-decide.ts';

describe('decisions of a person', () => {
  it('are no tools, so that no model can make them', () => {
    for (const operation of [taskApprove, taskRefuse]) {
      expect(operations).toContain(operation);
      expect(operation.toolset).toBeUndefined();
      expect(operation.command).toMatch(/^task /);
    }
  });

  it('refuse a task for good, with the reason', async () => {
    const session = await memorySession(afterAll);
    const { data } = await session.ok(spawnSubagentTask, {
      agent: 'dev',
      task: 'Drop the table',
      output_key: 'drop',
      needs_approval: 'It deletes data',
    });
    const { task_id } = data['task'] as { task_id: string };
    const refused = await session.ok(taskRefuse, { task_id, reason: 'no' });
    expect(refused.data['task']).toMatchObject({ status: 'cancelled', error: 'no' });
    expect((await session.fail(taskApprove, { task_id })).code).toBe('conflict');
  });

  it('are not asked for where nothing waits', async () => {
    const session = await memorySession(afterAll);
    const { data } = await session.ok(spawnSubagentTask, { agent: 'dev', task: 'Do it', output_key: 'x' });
    const { task_id } = data['task'] as { task_id: string };
    expect((await session.fail(taskApprove, { task_id })).message).toContain('is queued');
  });
});
