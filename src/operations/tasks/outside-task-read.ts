import { say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { sha256 } from '../../base/sha256.ts';
import { foreignCursor } from '../../base/text/paging.ts';
import { TASK_STATES, type Task } from '../../model/task.ts';
import { cursorField, limitField, nextPart } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import {
  fromOutside,
  isSeenBy,
  outsideTaskView,
  outsideViewOf,
  type OutsideTaskView,
} from './outside-task-view.ts';
import { taskIdField } from './task-view.ts';

const PAGE = 50;
const LONGEST_WAIT = 60;

/** For programs that speak for somebody outside; `wait_seconds` spares them to ask again and again. */
export const outsideTaskShow = defineOperation({
  name: 'outside_task_show',
  title: 'Show a task from outside',
  description: 'A task requested from outside, with its result; can wait for a change.',
  effect: 'read',
  serves: 'a2a',
  input: z.strictObject({
    task_id: taskIdField,
    known: z.string().max(200).default('').describe('The mark from the last answer'),
    wait_seconds: z.int().min(0).max(LONGEST_WAIT).default(0).describe('How long to wait for a new mark'),
  }),
  output: z.object({ task: outsideTaskView }),
  async run({ task_id, known, wait_seconds }, context, { signal, requester }) {
    const { queue, follow } = await (await context.state()).tasks();
    const task = fromOutside(await queue.get(task_id), requester);
    const now = wait_seconds === 0 ? task : await follow(task_id, known, wait_seconds * 1_000, signal);
    return { task: await outsideViewOf(fromOutside(now, requester), queue) };
  },
  render: ({ task }) => ({ body: outsideLine(task) }),
});

export const outsideTaskList = defineOperation({
  name: 'outside_task_list',
  title: 'List tasks from outside',
  description: 'The tasks requested from outside that the caller may see, most recently changed first.',
  effect: 'read',
  serves: 'a2a',
  input: z.strictObject({
    context_id: z.string().min(1).max(200).optional().describe('Only tasks from this conversation'),
    status: z.array(z.enum(TASK_STATES)).max(10).default([]).describe('Only tasks in one of these states'),
    refused: z.boolean().optional().describe('Only tasks that a person has refused, or only the others'),
    changed_after: z.string().max(40).optional().describe('Only tasks changed after this time'),
    results: z.boolean().default(false).describe('Include their results'),
    limit: limitField,
    cursor: cursorField,
  }),
  output: z.object({ total: z.int(), tasks: z.array(outsideTaskView), next: z.string().optional() }),
  async run({ context_id, status, refused, changed_after, results, limit, cursor }, context, { requester }) {
    const { queue } = await (await context.state()).tasks();
    const { tasks } = await queue.all();
    const chosen = tasks.filter(
      (task) =>
        isSeenBy(task, requester) &&
        (context_id === undefined || task.outside?.context_id === context_id) &&
        (status.length === 0 || status.includes(task.status)) &&
        (refused === undefined || (task.approval?.agreed === false) === refused) &&
        (changed_after === undefined || task.updated_at > changed_after),
    );
    const filters = JSON.stringify([context_id, status, refused, changed_after]);
    const { part, next } = pageByChange(chosen, limit ?? PAGE, filters, cursor);
    return {
      total: chosen.length,
      tasks: await Promise.all(part.map((task) => outsideViewOf(task, queue, results))),
      ...(next === undefined ? {} : { next }),
    };
  },
  render: ({ total, tasks, next }) => ({
    body: tasks.length === 0 ? t`No tasks from outside.` : tasks.map(outsideLine).join('\n'),
    note: t`${tasks.length} of ${total}.`,
    again: nextPart(next),
  }),
});

export function outsideLine({ task_id, status, agent, output_key }: OutsideTaskView): string {
  return t`- ${task_id} ${say(status)}: ${agent} → ${output_key}`;
}

/**
 * A page of tasks, the one that changed last first. The cursor names the last task that was shown and when it had changed,
 * and goes on with what is older: nothing is shown twice or passed over because something came or changed in between. What
 * has changed since is at the beginning, for a client that starts over.
 */
function pageByChange(
  tasks: readonly Task[],
  size: number,
  filters: string,
  cursor: string | undefined,
): { part: Task[]; next: string | undefined } {
  const mark = `c${sha256(filters).slice(0, 8)}-`;
  const shown = cursor === undefined ? undefined : placeIn(cursor, mark);
  const older = tasks
    .filter((task) => shown === undefined || placeOf(task) < shown)
    .sort((a, b) => (placeOf(a) > placeOf(b) ? -1 : 1));
  const part = older.slice(0, size);
  const last = part.at(-1);
  return {
    part,
    next: last === undefined || part.length === older.length ? undefined : mark + placeOf(last),
  };
}

function placeOf({ updated_at, task_id }: Task): string {
  return `${updated_at}/${task_id}`;
}

function placeIn(cursor: string, mark: string): string {
  const place = cursor.startsWith(mark) ? cursor.slice(mark.length) : '';
  if (!/^[\w.:+-]+\/task-[\w-]+$/.test(place)) throw foreignCursor();
  return place;
}
