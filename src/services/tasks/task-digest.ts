import { sha256 } from '../../base/sha256.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import type { Task } from '../../model/task.ts';

/** What a person decides on: all that a worker reads and, once there is one, what it has given back. */
export interface TaskTexts {
  brief: string;
  result?: string;
}

/** So many digits are shown and asked for: nobody finds a second text for them. */
const DIGITS = 16;

/** Stands for everything that is decided on; any other text, agent or file has another one. */
export function taskDigest(task: Task, { brief, result }: TaskTexts): string {
  const { agent, task: text, output_key, context_files, depends_on, run_id, branch, outside } = task;
  const decided = [
    agent,
    text,
    output_key,
    context_files,
    depends_on,
    run_id,
    branch,
    outside,
    brief,
    result,
  ];
  return sha256(JSON.stringify(decided.map((part) => part ?? null))).slice(0, DIGITS);
}

/** A decision counts for the text that was read, not for what has taken its place since. */
export function checkRead(task: Task, given: string, current: string): void {
  if (given === current) return;
  throw new BmadError(
    'conflict',
    `${task.task_id} is not what was read: its digest is ${current}, not ${quoted(given)}.`,
    {
      subject: task.task_id,
      hint: 'It has changed since, or the digest is that of another task.',
      steps: [{ operation: 'task_show', args: { task_id: task.task_id }, why: 'Read it again' }],
    },
  );
}

/** Whether it still is what a person has agreed to. Tasks that nobody had to agree to, or that older versions asked about, are. */
export function isAsAgreed(task: Task, texts: TaskTexts): boolean {
  const { agreed, digest } = task.approval ?? {};
  return agreed !== true || digest === undefined || digest === taskDigest(task, texts);
}

export function changedSince({ task_id }: Task): BmadError {
  return new BmadError(
    'conflict',
    `${task_id} has changed since a person approved it; no one may begin it.`,
    {
      subject: task_id,
      hint: 'Someone has edited its files. Cancel it, and queue it again if it is still wanted.',
      steps: [
        { operation: 'task_show', args: { task_id }, why: 'See what it says now' },
        { operation: 'task_cancel', args: { task_id }, why: 'Cancel it' },
      ],
    },
  );
}
