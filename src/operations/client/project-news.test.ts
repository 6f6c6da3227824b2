import { afterAll, describe, expect, it } from 'vitest';
import { approveTask } from '../../../tests/support/approve-task.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { impl, ledger, story } from '../../../tests/support/progress-trees/pieces.ts';
import { spawnSubagentTask } from '../tasks/spawn-subagent-task.ts';
import { projectNews } from './project-news.ts';

describe('the news of a project', () => {
  it('are marks, which grow when a task is approved or a story is ready, and have no text of either', async () => {
    const session = await memorySession(afterAll);
    const news = async () => (await session.ok(projectNews)).data;
    expect(await news()).toEqual({ approved: [], failed: [], ready: [], sources: [] });
    const { data } = await session.ok(spawnSubagentTask, {
      agent: 'dev',
      task: 'Drop the table',
      output_key: 'drop',
      needs_approval: 'It deletes data',
    });
    const { task_id } = data['task'] as { task_id: string };
    expect(await news()).toMatchObject({ approved: [] });
    await approveTask(session, task_id);
    await writeFiles(session.folder, {
      [`${impl}/sprint-status.yaml`]: ledger({ 'epic-1': 'in-progress', '1-1-setup': 'ready-for-dev' }),
      [`${impl}/1-1-setup.md`]: story('1.1', 'ready-for-dev'),
    });
    const after = await news();
    const mark = expect.stringMatching(/^[0-9a-f]{16}$/) as unknown;
    expect(after).toEqual({ approved: [mark], failed: [], ready: [mark], sources: [] });
    expect(await news()).toEqual(after);
  });

  it('are none outside of a project', async () => {
    const session = await memorySession(afterAll, { files: {} });
    expect((await session.ok(projectNews)).data).toMatchObject({ approved: [], failed: [], ready: [] });
  });
});
