import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { unlessMissing } from '../../base/expected.ts';
import { byteLength } from '../../base/text/text.ts';
import { FINAL_STATES, markOf, TASK_STATES, type Task } from '../../model/task.ts';
import type { Requester, TaskQueue } from '../context.ts';
import { withoutEnd } from '../../base/text/ends.ts';

/** What those see who asked for a task from outside: their own words, how it stands, and the result. */
export const outsideTaskView = z.object({
  task_id: z.string(),
  status: z.enum(TASK_STATES),
  /** A person would not have it done. */
  refused: z.boolean(),
  final: z.boolean(),
  agent: z.string(),
  text: z.string(),
  context_id: z.string(),
  message_id: z.string(),
  output_key: z.string(),
  /** Where the queue is, and with it the one who can decide: in the project, or with the user of the server. */
  kept_with: z.enum(['project', 'user']),
  worker: z.string().optional(),
  error: z.string().optional(),
  created_at: z.string(),
  updated_at: z.string(),
  /** Stands for the task as it is now; another one means that it has changed. */
  mark: z.string(),
  result: z.string().optional(),
  result_bytes: z.int().optional(),
});
export type OutsideTaskView = z.output<typeof outsideTaskView>;

/** Longer results are cut: they have to fit into one event of a stream, which clients limit. */
const RESULT_BYTES = 1_000_000;

export async function outsideViewOf(
  task: Task,
  queue: TaskQueue['queue'],
  withResult = true,
): Promise<OutsideTaskView> {
  const { status, outside, lease, error, result } = task;
  // A result that was refused, or is no longer wanted, is none.
  const counts = status === 'completed' || status === 'needs_verification';
  const text = withResult && counts ? await queue.result(task).catch(unlessMissing) : undefined;
  return {
    task_id: task.task_id,
    status,
    refused: isRefused(task),
    final: FINAL_STATES.includes(status),
    agent: task.agent,
    text: task.task,
    context_id: outside?.context_id ?? '',
    message_id: outside?.message_id ?? '',
    output_key: task.output_key,
    kept_with: queue.place.owner,
    ...(lease === undefined ? {} : { worker: lease.worker }),
    // Of an attempt before this one nobody outside has to know.
    ...(error === undefined || !FINAL_STATES.includes(status) ? {} : { error }),
    created_at: task.created_at,
    updated_at: task.updated_at,
    mark: markOf(task),
    ...(text === undefined || result === undefined
      ? {}
      : { result: firstBytes(text), result_bytes: result.bytes }),
  };
}

/** A person would not have it done; a result that was refused is another matter. */
export function isRefused({ status, approval }: Task): boolean {
  return status === 'cancelled' && approval?.agreed === false;
}

/** Outsiders see what outsiders asked for, and most of them only what they did. All else in the queue is not there. */
export function isSeenBy({ outside }: Task, requester: Requester | undefined): boolean {
  return outside !== undefined && (requester?.alone !== true || outside.requester === requester.mark);
}

export function fromOutside(task: Task, requester: Requester | undefined): Task {
  if (isSeenBy(task, requester)) return task;
  throw new BmadError('not_found', t`There is no task ${quoted(task.task_id)}.`, { subject: task.task_id });
}

function firstBytes(text: string): string {
  if (byteLength(text) <= RESULT_BYTES) return text;
  return withoutEnd(new TextDecoder().decode(Buffer.from(text).subarray(0, RESULT_BYTES)), '\uFFFD');
}
