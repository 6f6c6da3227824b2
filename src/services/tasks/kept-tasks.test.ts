import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { filesOpened } from '../../../tests/support/opened-files.ts';
import { kitIn } from '../../../tests/support/kit.ts';
import { openDecisions } from '../decisions/decisions.ts';
import { openTasks } from './tasks.ts';
import type { Tasks } from './tasks.ts';

const MANY = 60;
const TASKS = '_bmad-output/.tasks';
const { signal } = new AbortController();

const order = (index: number, dependsOn: string[] = []) => ({
  agent: 'dev',
  task: `Task ${index}`,
  outputKey: `key_${index}`,
  contextFiles: [],
  dependsOn,
  createdBy: 'test',
  brief: `Do ${index}`,
});

async function queueOf(folder: string): Promise<Tasks> {
  return openTasks(await kitIn(folder), openDecisions(join(folder, 'state')).of(folder)).queue;
}

async function scene(): Promise<{ folder: string; ids: string[]; queue: Tasks; other: Tasks }> {
  const folder = await temporaryFolder(afterAll);
  await mkdir(join(folder, '_bmad/_memory'), { recursive: true });
  const [queue, other] = [await queueOf(folder), await queueOf(folder)];
  const ids: string[] = [];
  for (let index = 0; index < MANY; index += 1) ids.push((await queue.add(order(index), signal)).task_id);
  return { folder, ids, queue, other };
}

const read = async (folder: string, work: () => Promise<unknown>): Promise<string[]> =>
  (await filesOpened(join(folder, TASKS), work)).filter((name) => /^task-[\w-]+\.json$/.test(name));

describe('many tasks', () => {
  it('are read once, and again only what has changed; to claim one reads that one', async () => {
    const { folder, ids, queue } = await scene();
    await queue.all();
    expect(await read(folder, () => queue.all())).toEqual([]);
    const claims = await read(folder, async () => {
      for (const id of ids.slice(0, 5))
        expect((await queue.claim({ worker: 'w', minutes: 5 }, signal))?.task.task_id).toBe(id);
    });
    expect(claims).toEqual(ids.slice(0, 5).map((id) => `${id}.json`));
    const file = join(folder, TASKS, `${ids[9]}.json`);
    await writeFile(file, (await readFile(file, 'utf8')).replace('Task 9', 'Task nine'));
    expect((await queue.all()).tasks[9]?.task).toBe('Task nine');
  });

  it('that another process has claimed, completed or removed are not given again', async () => {
    const { folder, ids, queue, other } = await scene();
    await queue.all();
    const first = await other.claim({ worker: 'other', minutes: 5 }, signal);
    await rm(join(folder, TASKS, `${ids[1]}.json`));
    expect(first?.task.task_id).toBe(ids[0]);
    expect((await queue.claim({ worker: 'w', minutes: 5 }, signal))?.task.task_id).toBe(ids[2]);
    for (const id of ids.slice(3)) await other.cancel(id, 'no longer wanted', signal);
    expect(await queue.claim({ worker: 'w', minutes: 5 }, signal)).toBeUndefined();
    // What another process has added is found, although all were looked at a moment ago.
    const added = await other.add(order(100), signal);
    expect((await queue.claim({ worker: 'w', minutes: 5 }, signal))?.task.task_id).toBe(added.task_id);
    await other.add(order(101, ['key_100']), signal);
    expect(await queue.claim({ worker: 'w', minutes: 5 }, signal)).toBeUndefined();
    await other.complete(
      added.task_id,
      { claim: (await other.get(added.task_id)).lease?.claim ?? '', text: 'Done', verify: false },
      signal,
    );
    const last = await queue.claim({ worker: 'w', minutes: 5 }, signal);
    expect(last?.inputs).toEqual([{ output_key: 'key_100', text: 'Done' }]);
  });
});
