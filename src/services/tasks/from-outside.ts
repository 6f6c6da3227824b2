import { BmadError, quoted } from '../../base/errors.ts';
import { FINAL_STATES, type Task } from '../../model/task.ts';
import type { NewTask } from './task-rules.ts';

/** Strangers cannot fill the queue: what they have asked for has to be worked on before they ask for more. */
const OPEN = 100;

/** Nor the disk: of what has ended, this many are kept. */
const ENDED = 200;

const hasEnded = ({ status }: Task): boolean => FINAL_STATES.includes(status);

export function checkStrangers({ outside }: NewTask, tasks: readonly Task[]): void {
  if (outside === undefined) return;
  const open = tasks.filter((task) => task.outside !== undefined && !hasEnded(task));
  if (open.length < OPEN) return;
  throw new BmadError('unavailable', `${open.length} tasks from outside are already open.`, {
    hint: 'Try again once some have finished, or cancel tasks you no longer need.',
  });
}

/** The task that a message has made already: whoever got no answer sends it again. */
export function madeBefore({ outside, task: text }: NewTask, tasks: readonly Task[]): Task | undefined {
  if (outside === undefined) return undefined;
  const { protocol, context_id, message_id } = outside;
  const known = tasks.find(
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
 * The ended tasks from outside that are too many: first those nobody ever began, then the oldest. What the project has
 * asked for itself is not among them, nor what an open task builds on.
 */
export function tooMany(tasks: readonly Task[]): Task[] {
  const ended = tasks.filter((task) => task.outside !== undefined && hasEnded(task));
  const excess = ended.length - ENDED;
  if (excess <= 0) return [];
  const needed = new Set(tasks.filter((task) => !hasEnded(task)).flatMap(({ depends_on }) => depends_on));
  return ended
    .filter(({ output_key }) => !needed.has(output_key))
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
    .slice(0, excess);
}

function rank({ attempts, updated_at, task_id }: Task): string {
  return `${attempts === 0 ? 0 : 1} ${updated_at} ${task_id}`;
}
