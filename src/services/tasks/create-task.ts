import { t } from '../../base/text/message.ts';
import { randomBytes } from 'node:crypto';
import { BmadError, quoted } from '../../base/errors.ts';
import { grouped } from '../../base/values.ts';
import { FINAL_STATES, type Task } from '../../model/task.ts';
import { nameOf, type Said } from './fold.ts';
import { checkDependencies, checkKey, newTask, type NewTask } from './task-rules.ts';
import { digestOf, said, type TaskStore } from './task-store.ts';

/** What a new task is, with its brief in place: a task without one must never be there to be claimed. */
async function newWithBrief(store: TaskStore, order: NewTask, at: string): Promise<Task> {
  const stem = `task-${at.slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}`;
  let id: string;
  do id = `${stem}-${randomBytes(3).toString('hex')}`;
  while (await store.isTaken(id));
  await store.putText(briefFile(id), order.brief);
  return newTask(order, id, at);
}

/** That a task is there and, in the same line, that the name of its result is taken: of two who want it, one gets it. */
function created(task: Task, { outputKey, runId }: NewTask): Said[] {
  return [
    said(task.task_id, 'create', task),
    { of: nameOf({ outputKey, runId }), do: 'take', data: { task_id: task.task_id } },
  ];
}

interface Planned {
  said: Said[];
  answer: Task;
}

/** A task for the queue, if it may be there and is not there yet; `note` keeps elsewhere that it was made here. */
export async function planQueued(
  store: TaskStore,
  order: NewTask,
  tasks: readonly Task[],
  at: string,
  note: (task: Task) => Promise<unknown>,
): Promise<Planned & { removed: readonly Task[] }> {
  const known = madeBefore(order, tasks);
  if (known !== undefined) return { said: [], answer: known, removed: [] };
  checkStrangers(order, tasks);
  checkKey(order, tasks);
  checkDependencies(order, tasks);
  const removed = order.outside === undefined ? [] : tooMany(tasks);
  const task = await newWithBrief(store, order, at);
  await note(task);
  const ends = removed.map(({ task_id }) => said(task_id, 'remove', {}));
  return { said: [...created(task, order), ...ends], answer: task, removed };
}

/** Work that is done already, in one step, so that nobody is ever offered it. The same result twice is one. */
export async function planDone(
  store: TaskStore,
  order: NewTask,
  { text, by }: { text: string; by: string },
  tasks: readonly Task[],
  at: string,
): Promise<Planned> {
  const digest = digestOf(text);
  const same = tasks.find(
    ({ output_key, run_id, result, status }) =>
      output_key === order.outputKey &&
      run_id === order.runId &&
      status === 'completed' &&
      result?.digest === digest,
  );
  if (same !== undefined) return { said: [], answer: same };
  checkKey(order, tasks);
  const task = await newWithBrief(store, order, at);
  const kept = await store.putText(resultFile(task.task_id, text), text);
  const done: Task = { ...task, status: 'completed', attempts: 1, result: { ...kept, by, at } };
  return { said: created(done, order), answer: done };
}

/** All files of a task, with the one that a version before may have left. */
export const filesOf = ({ task_id, result }: Task): string[] => [
  `${task_id}.json`,
  briefFile(task_id),
  ...(result === undefined ? [] : [result.file]),
];

export function briefFile(id: string): string {
  return `${id}.brief.md`;
}

/** Named after what it says: of two workers who hand in something, neither writes over the other. */
export function resultFile(id: string, text: string): string {
  return `${id}.${digestOf(text).slice(-DIGITS)}.result.md`;
}

const DIGITS = 12;

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
  const which = left > 0 ? t`${own.length} of your tasks` : t`${open.length} tasks from outside`;
  throw new BmadError('unavailable', t`${which} are already open.`, {
    hint: t`Try again once some have finished, or cancel tasks you no longer need.`,
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
    t`This conversation already has a different message ${quoted(message_id)}.`,
    {
      subject: message_id,
      hint: t`Give each message its own id.`,
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
