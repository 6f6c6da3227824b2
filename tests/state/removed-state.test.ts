import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCheckpoint, runOpen } from '../../src/operations/runs/run-operations.ts';
import { listSessions } from '../../src/operations/runs/sessions.ts';
import { spawnSubagentTask, taskList } from '../../src/operations/tasks/tasks.ts';
import { taskClaim } from '../../src/operations/tasks/task-work.ts';
import { temporaryFolder } from '../support/app.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { sessionIn } from '../support/operations.ts';

async function hosts() {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, { ...KIT_FILES, '_bmad-output/.keep': '' });
  return { folder, one: await sessionIn(folder), two: await sessionIn(folder) };
}

describe('state that is removed while two hosts use it', () => {
  it('is there again for tasks of one’s own, with their briefs, and new ones are seen by both (R-01)', async () => {
    const { folder, one, two } = await hosts();
    const task = { agent: 'dev', task: 'Review the cart', output_key: 'review' };
    const { data } = await one.ok(spawnSubagentTask, task);
    const { task_id: id } = data['task'] as { task_id: string };
    expect(JSON.stringify((await two.ok(taskList)).data)).toContain(id);
    for (const gone of ['_bmad-output/.tasks', '_bmad/_memory/.bmad-memory'])
      await rm(join(folder, gone), { recursive: true });
    expect((await one.ok(taskClaim, { task_id: id })).answer.body).toContain('Review the cart');
    expect((await two.fail(taskClaim, { task_id: id })).message).toContain('is claimed already');
    await one.ok(spawnSubagentTask, { ...task, task: 'Review the orders', output_key: 'orders' });
    for (const host of [one, two])
      expect(JSON.stringify((await host.ok(taskList)).data)).toContain('Review the orders');
    one.close();
    two.close();
  });

  it('is there again for runs of one’s own, and new ones are seen by both (R-01)', async () => {
    const { folder, one, two } = await hosts();
    const { data } = await one.ok(runOpen, { workflow: 'prd' });
    const { run_id } = data['run'] as { run_id: string };
    for (const gone of ['_bmad-output/.runs', '_bmad/_memory/.bmad-memory'])
      await rm(join(folder, gone), { recursive: true });
    for (const [index, host] of [one, two].entries())
      await host.ok(runCheckpoint, { run_id, step: index + 1 });
    const state = await readFile(join(folder, '_bmad-output/.runs/main', run_id, 'state.json'), 'utf8');
    expect(JSON.parse(state)).toMatchObject({ steps_completed: [1, 2] });
    await one.ok(runOpen, { workflow: 'prd' });
    const lists = await Promise.all([one, two].map(async (host) => (await host.ok(listSessions)).data));
    expect(lists[0]).toEqual(lists[1]);
    one.close();
    two.close();
  });
});
