import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { filesOpened } from '../../../tests/support/opened-files.ts';
import { forgeLine, forgeTasks, tasksIn } from '../../../tests/support/tasks.ts';
import { isOnDatabase } from '../../../tests/support/team-state.ts';
import type { Tasks } from './tasks.ts';

const MANY = 12;
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

async function scene(): Promise<{ folder: string; ids: string[]; queue: Tasks; other: Tasks }> {
  const folder = await temporaryFolder(afterAll);
  await mkdir(join(folder, '_bmad/_memory'), { recursive: true });
  const [{ queue }, { queue: other }] = [await tasksIn(folder), await tasksIn(folder)];
  const ids: string[] = [];
  for (let index = 0; index < MANY; index += 1) ids.push((await queue.add(order(index), signal)).task_id);
  return { folder, ids, queue, other };
}

describe('many tasks', () => {
  it('are read once, and again only what was added; to claim one reads its brief alone', async () => {
    const { folder, ids, queue } = await scene();
    await queue.all();
    const read = await filesOpened(folder, () => queue.all());
    expect(read.filter((name) => !name.startsWith('state/decisions/'))).toEqual([]);
    const opened = await filesOpened(join(folder, '_bmad-output/.tasks'), async () => {
      for (const id of ids.slice(0, 5))
        expect((await queue.claim({ worker: 'w', minutes: 5 }, signal))?.task.task_id).toBe(id);
    });
    const briefs = isOnDatabase ? [] : ids.slice(0, 5).map((id) => `${id}.brief.md`);
    expect([...new Set(opened)]).toEqual(briefs);
  });

  it('that another process has claimed, completed or cancelled are not given again', async () => {
    const { ids, queue, other } = await scene();
    await queue.all();
    const first = await other.claim({ worker: 'other', minutes: 5 }, signal);
    expect(first?.task.task_id).toBe(ids[0]);
    expect((await queue.claim({ worker: 'w', minutes: 5 }, signal))?.task.task_id).toBe(ids[1]);
    for (const id of ids.slice(2)) await other.cancel(id, 'no longer wanted', signal);
    expect(await queue.claim({ worker: 'w', minutes: 5 }, signal)).toBeUndefined();
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

  it('give a name to one of those who want it at the same time', async () => {
    const { queue, other } = await scene();
    const added = await Promise.allSettled([queue.add(order(500), signal), other.add(order(500), signal)]);
    expect(added.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await queue.all()).tasks.filter(({ output_key }) => output_key === 'key_500')).toHaveLength(1);
  });

  it('that have ended are known to the next process without their lines, until one is added', async () => {
    const { folder, ids, queue } = await scene();
    const [first] = (await queue.all()).tasks;
    if (first === undefined) throw new Error('There is no task.');
    const ended = Array.from({ length: 2_100 }, (_, at) => ({
      ...first,
      task_id: `task-20250101-000000-${100_000 + at}`,
      status: at === 7 ? ('failed' as const) : ('completed' as const),
    }));
    await forgeTasks(folder, ended);
    const { tasks } = await (await tasksIn(folder)).queue.all();
    const cache = join(folder, 'state/cache/lines');
    expect(await readdir(cache)).toHaveLength(1);
    const { queue: next } = await tasksIn(folder);
    const lines = join(folder, '_bmad/_memory/.bmad-memory');
    expect(await filesOpened(lines, async () => expect((await next.all()).tasks).toEqual(tasks))).toEqual([]);
    const claimed = await next.claim({ worker: 'w', minutes: 5 }, signal);
    expect(claimed?.task.task_id).toBe(ids[0]);
    const late = ended[7]?.task_id ?? '';
    await forgeLine(folder, late, 'remove', {});
    expect((await next.all()).tasks.map(({ task_id }) => task_id)).not.toContain(late);
    expect((await next.get(ids[0] ?? '')).status).toBe('running');
    // It can be damaged or removed at any time.
    await writeFile(join(cache, (await readdir(cache))[0] ?? ''), '{"half');
    expect((await (await tasksIn(folder)).queue.all()).tasks).toEqual((await next.all()).tasks);
  });
});
