import { ours } from '../../base/expected.ts';
import type { Task } from '../../model/task.ts';
import { byKey, completed, type TasksByKey } from './task-rules.ts';

/** A task as it is now, and as far as it counts on this machine. */
type Get = (id: string) => Promise<Task>;

/**
 * The oldest that can be begun, and what it builds on; one that nobody on this machine has agreed to as it is now is passed
 * over. The tasks may be as they were a moment ago: what decides is read again.
 */
export async function nextTask(
  get: Get,
  all: readonly Task[],
  agent: string | undefined,
): Promise<{ task: Task | undefined; tasks: TasksByKey }> {
  const tasks = byKey(all);
  for (const known of all) {
    if (!isStartable(known, tasks) || (agent !== undefined && known.agent !== agent)) continue;
    const task = await get(known.task_id).catch(ours(() => undefined));
    if (task === undefined || task.agent !== known.agent) continue;
    const builtOn = byKey(await tasksBefore(task, tasks, get));
    if (isStartable(task, builtOn)) return { task, tasks: builtOn };
  }
  return { task: undefined, tasks };
}

function isStartable({ status, depends_on, run_id }: Task, tasks: TasksByKey): boolean {
  return status === 'queued' && depends_on.every((key) => completed(key, run_id, tasks) !== undefined);
}

/** The tasks that have the keys it depends on, as they are now. */
async function tasksBefore({ depends_on }: Task, tasks: TasksByKey, get: Get): Promise<Task[]> {
  const named = depends_on.flatMap((key) => tasks.get(key) ?? []);
  const read = await Promise.all(named.map(({ task_id }) => get(task_id).catch(ours(() => undefined))));
  return read.filter((task) => task !== undefined);
}
