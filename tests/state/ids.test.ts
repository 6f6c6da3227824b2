import { describe, expect, it, onTestFinished } from 'vitest';
import { createDeliveryContract } from '../../src/operations/handover/handovers.ts';
import { runOpen } from '../../src/operations/runs/run-operations.ts';
import { getWorkflowStatus } from '../../src/operations/runs/workflow-status.ts';
import { spawnSubagentTask } from '../../src/operations/tasks/tasks.ts';
import { writeFiles } from '../support/folders.ts';
import { openSession } from '../support/operations.ts';
import { rounds } from '../support/how-much.ts';

const EACH = rounds(4, 10);

/** The ids of what is made in one clone of a project. */
async function made(): Promise<string[]> {
  const session = await openSession(onTestFinished);
  await writeFiles(session.folder, { '_bmad-output/prd.md': '# PRD\n' });
  const ids: string[] = [];
  for (let count = 0; count < EACH; count += 1) {
    const run = await session.ok(runOpen, { workflow: 'prd' });
    const task = await session.ok(spawnSubagentTask, {
      agent: 'dev',
      task: 'Do it',
      output_key: `k-${count}`,
    });
    const contract = await session.ok(createDeliveryContract, { from_team: 'vision', to_team: 'build' });
    ids.push(
      (run.data['run'] as { run_id: string }).run_id,
      (task.data['task'] as { task_id: string }).task_id,
      (contract.data['contract'] as { contract_id: string }).contract_id,
    );
  }
  const status = await session.ok(getWorkflowStatus, { run_id: ids[0] });
  expect(JSON.stringify(status.data)).toContain(ids[0]);
  return ids;
}

const RANDOM = /-[0-9a-f]{6}$/;

describe('runs, tasks and contracts of two clones', () => {
  it('never have equal ids, also those of the same second (D-10, F-02)', async () => {
    const [one, other] = await Promise.all([made(), made()]);
    expect([...one, ...other].filter((id) => !RANDOM.test(id))).toEqual([]);
    expect(new Set([...one, ...other]).size).toBe(6 * EACH);
    // They would have been equal by their names and moments alone.
    const named = new Set(one.map((id) => id.replace(RANDOM, '')));
    expect(other.some((id) => named.has(id.replace(RANDOM, '')))).toBe(true);
  });
});
