import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { deliveryAccept } from '../handover/handovers.ts';
import { operations } from '../index.ts';
import { runCheckpoint } from '../runs/run-progress.ts';
import { spawnSubagentTask } from './spawn-subagent-task.ts';
import { taskApprove, taskRefuse } from './task-decide.ts';
import { taskClaim } from './task-work.ts';

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

  it('are never led to the task of somebody else; they learn where was looked', async () => {
    const session = await memorySession(afterAll);
    const { data } = await session.ok(spawnSubagentTask, { agent: 'dev', task: 'Do it', output_key: 'x' });
    const { task_id } = data['task'] as { task_id: string };
    for (const operation of [taskApprove, taskRefuse]) {
      const error = await session.fail(operation, { task_id: `${task_id.slice(0, -1)}_` });
      expect(error).toMatchObject({ code: 'not_found', suggestions: [] });
      expect(error.text).not.toContain(task_id);
      expect(error.message).toContain(join(session.folder, '_bmad-output', '.tasks'));
      expect(error.hint).toContain('--project');
      expect(error.steps).toMatchObject([{ operation: 'task_list' }]);
    }
    const plain = await memorySession(afterAll, { files: {} });
    const error = await plain.fail(taskApprove, { task_id });
    expect(error.message).toContain(join(plain.folder, 'no-home'));
    expect(error.hint).toContain('XDG_STATE_HOME');
  });

  it('make no folders when there is nothing to decide', async () => {
    const session = await memorySession(afterAll);
    const before = await readdir(session.folder);
    await session.fail(taskApprove, { task_id: 'task-20261115-000000-000000' });
    await session.ok(taskClaim);
    await session.fail(runCheckpoint, { run_id: 'none', step: 'x' });
    await session.fail(deliveryAccept, { contract_id: 'a-to-b-2026-01-01' });
    expect(await readdir(session.folder)).toEqual(before);
    for (const name of ['.tasks', '.runs', 'contracts'])
      await expect(access(join(session.folder, '_bmad-output', name))).rejects.toThrow('ENOENT');
  });

  it('are not asked for where nothing waits', async () => {
    const session = await memorySession(afterAll);
    const { data } = await session.ok(spawnSubagentTask, { agent: 'dev', task: 'Do it', output_key: 'x' });
    const { task_id } = data['task'] as { task_id: string };
    expect((await session.fail(taskApprove, { task_id })).message).toContain('is queued');
  });
});
