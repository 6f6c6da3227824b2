import { randomBytes } from 'node:crypto';
import { BmadError, quoted } from '../../base/errors.ts';
import { grouped } from '../../base/grouped.ts';
import { FINAL_STATES, type Task } from '../../model/task.ts';
import { checkDependencies, checkKey, newTask, type NewTask } from './task-rules.ts';
import { digestOf, type TaskStore } from './task-store.ts';

/** Makes the files of a new task, under the lock of the queue. `finish` says what it is when it is first seen. */
async function createTask(
  store: TaskStore,
  order: NewTask,
  at: string,
  finish: (task: Task) => Promise<Task>,
): Promise<Task> {
  const stem = `task-${at.slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}`;
  let id: string;
  do id = `${stem}-${randomBytes(3).toString('hex')}`;
  while (await store.isTaken(id));
  // The brief first: a task without one must never be there to be claimed.
  await store.putText(briefFile(id), order.brief);
  const task = await finish(newTask(order, id, at));
  await store.put(task);
  return task;
}

/** Puts a task into the queue, if it may be there and is not there yet; `note` keeps elsewhere that it was made here. */
export async function createQueued(
  store: TaskStore,
  order: NewTask,
  tasks: readonly Task[],
  at: string,
  note: (task: Task) => Promise<void>,
): Promise<Task> {
  const known = madeBefore(order, tasks);
  if (known !== undefined) return known;
  checkStrangers(order, tasks);
  checkKey(order, tasks);
  checkDependencies(order, tasks);
  if (order.outside !== undefined) for (const old of tooMany(tasks)) await forget(store, old);
  return createTask(store, order, at, async (task) => {
    await note(task);
    return task;
  });
}

/** The task first: one that is there has its texts. */
async function forget(store: TaskStore, { task_id: id }: Task): Promise<void> {
  try {
    await store.remove(id, [`${id}.json`, briefFile(id), resultFile(id)]);
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

/** Strangers cannot fill the queue: what they have asked for has to be worked on before they ask for more. */
const OPEN_FROM_OUTSIDE = 100;

/** Nor the disk: of what has ended, this many are kept. */
const ENDED_FROM_OUTSIDE = 200;

const hasEnded = ({ status }: Task): boolean => FINAL_STATES.includes(status);

const sentBy = (requester: string | undefined) => (task: Task) => task.outside?.requester === requester;

/** Nor can one of them take the places of others: who is known gets no more than remain for everyone else. */
function checkStrangers({ outside }: NewTask, tasks: readonly Task[]): void {
  if (outside === undefined) return;
  const open = tasks.filter((task) => task.outside !== undefined && !hasEnded(task));
  const own = outside.requester === undefined ? [] : open.filter(sentBy(outside.requester));
  const left = OPEN_FROM_OUTSIDE - open.length;
  if (left > own.length || (left > 0 && outside.requester === undefined)) return;
  const which = left > 0 ? `${own.length} of your tasks` : `${open.length} tasks from outside`;
  throw new BmadError('unavailable', `${which} are already open.`, {
    hint: 'Try again once some have finished, or cancel tasks you no longer need.',
  });
}

/** The task that a message has made already: a client that got no answer sends it again. */
function madeBefore({ outside, task: text }: NewTask, tasks: readonly Task[]): Task | undefined {
  if (outside === undefined) return undefined;
  const { protocol, context_id, message_id, requester } = outside;
  const known = tasks
    .filter(sentBy(requester))
    .find(
      ({ outside: other }) =>
        other?.protocol === protocol && other.context_id === context_id && other.message_id === message_id,
    );
  if (known === undefined || known.task === text) return known;
  throw new BmadError(
    'invalid_input',
    `This conversation already has a different message ${quoted(message_id)}.`,
    {
      subject: message_id,
      hint: 'Give each message its own id.',
    },
  );
}

/**
 * The ended tasks from outside that are too many: of the client that has most, first those nobody ever began, then the oldest. What
 * the project has asked for itself is not among them, nor what an open task builds on.
 */
function tooMany(tasks: readonly Task[]): Task[] {
  const ended = tasks.filter((task) => task.outside !== undefined && hasEnded(task));
  const needed = new Set(tasks.filter((task) => !hasEnded(task)).flatMap(({ depends_on }) => depends_on));
  const spare = ended.filter(({ output_key }) => !needed.has(output_key));
  const groups = grouped(
    spare.sort((a, b) => (rank(a) < rank(b) ? -1 : 1)),
    ({ outside }) => outside?.requester,
  );
  const removed: Task[] = [];
  while (removed.length < ended.length - ENDED_FROM_OUTSIDE) {
    const [largest] = [...groups.values()].sort((a, b) => b.length - a.length);
    const next = largest?.shift();
    if (next === undefined) break;
    removed.push(next);
  }
  return removed;
}

function rank({ attempts, updated_at, task_id }: Task): string {
  return `${attempts === 0 ? 0 : 1} ${updated_at} ${task_id}`;
}
