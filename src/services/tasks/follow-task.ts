import { setTimeout as pause } from 'node:timers/promises';
import { fileStamps } from '../../base/file-stamps.ts';
import { markOf, type Task } from '../../model/task.ts';
import type { Tasks } from './tasks.ts';

const LOOK_MS = 200;

/** Read again even if the file looks the same: clocks of network drives are coarse, and leases end by themselves. */
const READ_MS = 5_000;

/**
 * Waits for a change of a task, by whatever process. A look at the file's stamp costs next to nothing; the file is read
 * when that has changed.
 */
export async function followTask(
  tasks: Tasks,
  id: string,
  known: string,
  ms: number,
  signal: AbortSignal,
): Promise<Task> {
  const end = performance.now() + ms;
  await tasks.get(id);
  for (;;) {
    // The stamp first: what changes while the file is read is seen next time.
    const stamp = await stampOf(tasks, id);
    const task = await tasks.get(id);
    if (markOf(task) !== known) return task;
    const until = Math.min(end, performance.now() + READ_MS);
    do {
      const left = until - performance.now();
      if (left <= 0) break;
      await pause(Math.min(LOOK_MS, left), undefined, { signal });
    } while ((await stampOf(tasks, id)) === stamp);
    if (performance.now() >= end) return tasks.get(id);
  }
}

async function stampOf({ place }: Tasks, id: string): Promise<string> {
  const [stamp] = await fileStamps(place.root, [`${place.folder}/${id}.json`]);
  return stamp === undefined ? '' : `${stamp.mtimeMs} ${stamp.size}`;
}
