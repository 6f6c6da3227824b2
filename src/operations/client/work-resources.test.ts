import { afterAll, describe, expect, it } from 'vitest';
import { KIT_FILES } from '../../../tests/support/kit-project.ts';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { complete } from './prompts.ts';
import { createDeliveryContract } from '../handover/handovers.ts';
import { read } from '../catalogue/read.ts';
import { listResources, readResource } from './resources.ts';
import { spawnSubagentTask } from '../tasks/tasks.ts';

const session = await memorySession(afterAll, { files: { ...KIT_FILES, 'docs/prd.md': '# PRD\n' } });
const { data: spawned } = await session.ok(spawnSubagentTask, {
  agent: 'dev',
  task: 'Do it',
  output_key: 'x',
});
const { task_id } = spawned['task'] as { task_id: string };
const { data: made } = await session.ok(createDeliveryContract, {
  from_team: 'vision',
  to_team: 'build',
  artefacts: ['docs/prd.md'],
});
const { contract_id } = made['contract'] as { contract_id: string };

describe('tasks and contracts as resources', () => {
  it('are listed, and lead from the list to each of them', async () => {
    const uris = new Set<string>();
    let cursor: unknown;
    do {
      const { data } = await session.ok(listResources, cursor === undefined ? {} : { cursor });
      for (const { uri } of data['items'] as { uri: string }[]) uris.add(uri);
      cursor = data['next'];
    } while (cursor !== undefined);
    expect([...uris]).toEqual(expect.arrayContaining(['bmad://tasks', 'bmad://contracts']));
    const { data: tasks } = await session.ok(readResource, { uri: 'bmad://tasks' });
    expect(tasks['text']).toContain(task_id);
    const { data: contracts } = await session.ok(readResource, { uri: 'bmad://contracts' });
    expect(contracts['text']).toContain(contract_id);
  });

  it('show the whole of one', async () => {
    const { data } = await session.ok(readResource, { uri: `bmad://tasks/${task_id}` });
    expect(data['text']).toContain('## Brief');
    const { answer } = await session.ok(read, { target: `bmad://contracts/${contract_id}` });
    expect(answer.body).toContain('signed_by is missing');
    expect(answer.body).toContain('`docs/prd.md`');
  });

  it('are completed by their ids', async () => {
    const { data } = await session.ok(complete, { what: 'task_id', value: 'task-' });
    expect(data['values']).toEqual([task_id]);
    const { data: contracts } = await session.ok(complete, { what: 'contract_id', value: 'vision' });
    expect(contracts['values']).toEqual([contract_id]);
  });

  it('that do not exist are errors with what there is', async () => {
    const task = await session.fail(readResource, { uri: 'bmad://tasks/task-20200101-000000-abcdef' });
    expect(task.code).toBe('not_found');
    const contract = await session.fail(readResource, { uri: 'bmad://contracts/nothing' });
    expect(contract.hint).toContain(contract_id);
  });
});
