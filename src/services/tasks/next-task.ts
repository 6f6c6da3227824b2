import { ours } from '../../base/expected.ts';
import type { Task } from '../../model/task.ts';
import { isAsAgreed } from './task-digest.ts';
import { byKey, completed, type TasksByKey } from './task-rules.ts';

interface Queue {
  /** As it is now. */
  get(id: string): Promise<Task>;
  brief(task: Task): Promise<string>;
}

/**
 * The oldest that can be begun, and what it builds on; one that was changed after a person agreed to it is passed over.
 * The tasks may be as they were a moment ago: what decides is read again.
 */
export async function nextTask(
  queue: Queue,
  all: readonly Task[],
  agent: string | undefined,
): Promise<{ task: Task | undefined; tasks: TasksByKey }> {
  const tasks = byKey(all);
  for (const known of all) {
    if (!isStartable(known, tasks) || (agent !== undefined && known.agent !== agent)) continue;
    const task = await queue.get(known.task_id).catch(ours(() => undefined));
    if (task === undefined || task.agent !== known.agent) continue;
    const builtOn = byKey(await tasksBefore(task, tasks, queue));
    if (!isStartable(task, builtOn)) continue;
    const brief = await queue.brief(task).catch(ours(() => undefined));
    if (brief !== undefined && isAsAgreed(task, { brief })) return { task, tasks: builtOn };
  }
  return { task: undefined, tasks };
}

function isStartable({ status, depends_on, run_id }: Task, tasks: TasksByKey): boolean {
  return status === 'queued' && depends_on.every((key) => completed(key, run_id, tasks) !== undefined);
}

/** The tasks that have the keys it depends on, as they are now. */
async function tasksBefore({ depends_on }: Task, tasks: TasksByKey, queue: Queue): Promise<Task[]> {
  const named = depends_on.flatMap((key) => tasks.get(key) ?? []);
  const read = await Promise.all(named.map(({ task_id }) => queue.get(task_id).catch(ours(() => undefined))));
  return read.filter((task) => task !== undefined);
}
