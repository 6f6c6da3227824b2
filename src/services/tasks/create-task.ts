import { randomBytes } from 'node:crypto';
import { BmadError } from '../../base/errors.ts';
import type { Task } from '../../model/task.ts';
import { checkStrangers, madeBefore, tooMany } from './from-outside.ts';
import { checkDependencies, checkKey, newTask, type NewTask } from './task-rules.ts';
import { digestOf, type TaskStore } from './task-store.ts';

/** Makes the files of a new task, under the lock of the queue. `finish` says what it is when it is first seen. */
async function createTask(
  store: TaskStore,
  order: NewTask,
  at: string,
  finish: (task: Task) => Promise<Task> = async (task) => Promise.resolve(task),
): Promise<Task> {
  const id = `task-${at.slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}-${randomBytes(3).toString('hex')}`;
  // The brief first: a task without one must never be there to be claimed.
  await store.putText(briefFile(id), order.brief);
  const task = await finish(newTask(order, id, at));
  await store.put(task);
  return task;
}

/** Puts a task into the queue, if it may be there and is not there yet. */
export async function createQueued(
  store: TaskStore,
  order: NewTask,
  tasks: readonly Task[],
  at: string,
): Promise<Task> {
  const known = madeBefore(order, tasks);
  if (known !== undefined) return known;
  checkStrangers(order, tasks);
  checkKey(order, tasks);
  checkDependencies(order, tasks);
  if (order.outside !== undefined) for (const old of tooMany(tasks)) await forget(store, old);
  return createTask(store, order, at);
}

/** The task first: one that is there has its texts. */
async function forget(store: TaskStore, { task_id: id }: Task): Promise<void> {
  try {
    for (const name of [`${id}.json`, briefFile(id), resultFile(id)]) await store.remove(name);
  } catch (error) {
    // One that cannot be removed is no reason to refuse another.
    if (!(error instanceof BmadError)) throw error;
  }
}

/** Keeps work that is done already, in one step, so that nobody is ever offered it. The same result twice is one. */
export async function createDone(
  store: TaskStore,
  order: NewTask,
  { text, by }: { text: string; by: string },
  tasks: readonly Task[],
  at: string,
): Promise<Task> {
  const digest = digestOf(text);
  const same = tasks.find(
    ({ output_key, run_id, result, status }) =>
      output_key === order.outputKey &&
      run_id === order.runId &&
      status === 'completed' &&
      result?.digest === digest,
  );
  if (same !== undefined) return same;
  checkKey(order, tasks);
  return createTask(store, order, at, async (task) => {
    const kept = await store.putText(resultFile(task.task_id), text);
    return { ...task, status: 'completed', attempts: 1, result: { ...kept, by, at } };
  });
}

export function briefFile(id: string): string {
  return `${id}.brief.md`;
}

export function resultFile(id: string): string {
  return `${id}.result.md`;
}
