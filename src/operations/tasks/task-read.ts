import { plural, say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { fitItems, listPage } from '../../base/text/paging.ts';
import { fenced } from '../../base/text/text.ts';
import { FINAL_STATES, TASK_STATES, type TaskState } from '../../model/task.ts';
import { cursorField, limitField, nextPart, projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { askedHandle } from '../catalogue/agent-names.ts';
import { decidedSchema, decidedText, textsOf } from './task-texts.ts';
import { approvingThis, taskIdField, taskLine, taskView, viewOf } from './task-view.ts';

/** States that only a person ends. */
const WAITING = new Set<TaskState>(['needs_approval', 'needs_verification']);
const RESERVED = 800;
const PAGE = 30;
const STATES = ['open', 'all', ...TASK_STATES] as const;

export const taskList = defineOperation({
  name: 'task_list',
  title: 'List the queued tasks',
  description:
    "The project's tasks for sub-agents, oldest first: what is waiting, who works on what, what is done.",
  effect: 'read',
  behind: { manage_project: 'task_list' },
  command: 'task list',
  examples: ['task list', 'task list --status all'],
  input: z.strictObject({
    status: z.enum(STATES).default('open').describe('open (default), all, or one state'),
    run_id: z.string().min(1).max(200).optional().describe('Only tasks of this run'),
    agent: z.string().min(1).max(200).optional().describe('Only tasks for this agent'),
    limit: limitField,
    cursor: cursorField,
    project: projectField,
  }),
  output: z.object({
    status: z.enum(STATES),
    total: z.int(),
    counts: z.record(z.string(), z.int()),
    tasks: z.array(taskView),
    problems: z.array(z.string()),
    next: z.string().optional(),
  }),
  async run({ status, run_id, agent, limit, cursor, project }, context) {
    const { queue } = await (await context.state(project)).tasks();
    const { tasks, problems } = await queue.all();
    const own = agent === undefined ? undefined : await askedHandle(agent, context, project);
    const counts: Record<string, number> = {};
    for (const task of tasks) counts[task.status] = (counts[task.status] ?? 0) + 1;
    const chosen = tasks
      .filter(
        (task) =>
          (status === 'all' ||
            (status === 'open' ? !FINAL_STATES.includes(task.status) : task.status === status)) &&
          (run_id === undefined || task.run_id === run_id) &&
          (own === undefined || task.agent === own),
      )
      .map(viewOf);
    const identity = JSON.stringify(['tasks', status, run_id, agent, chosen.length]);
    const page = listPage(chosen, limit ?? PAGE, identity, cursor);
    const fitting = fitItems(page.part, context.config.answerBytes - RESERVED, taskLine);
    const next =
      fitting.length < page.part.length ? listPage(chosen, fitting.length, identity, cursor).next : page.next;
    return {
      status,
      total: page.total,
      counts,
      tasks: fitting,
      problems,
      ...(next === undefined ? {} : { next }),
    };
  },
  render({ status, total, counts, tasks, problems, next }) {
    const states = Object.entries(counts).map(([state, count]) => `${count} ${say(state)}`);
    return {
      body: [
        tasks.length === 0 ? noneOf(status, states.length) : tasks.map(taskLine).join('\n'),
        ...problems.map((problem) => t`Problem: ${problem}`),
      ].join('\n'),
      ...(states.length === 0
        ? {}
        : { note: t`${tasks.length} of ${plural(total, 'task')}; in all: ${states.join(', ')}.` }),
      again: nextPart(next),
      steps:
        status === 'all' || tasks.length > 0 || states.length === 0
          ? []
          : [{ operation: 'task_list', args: { status: 'all' }, why: t`List them all` }],
    };
  },
});

function noneOf(status: (typeof STATES)[number], kinds: number): string {
  if (kinds === 0) return t`No task has been queued.`;
  return status === 'open' ? t`No task is open.` : t`No task is ${say(status)}.`;
}

export const taskShow = defineOperation({
  name: 'task_show',
  title: 'Show a task',
  description: 'A task with its brief; once it is completed, with its result, and the brief on request.',
  effect: 'read',
  behind: { manage_project: 'task_show' },
  command: 'task show',
  picks: { task_id: 'task' },
  positional: ['task_id'],
  input: z.strictObject({
    task_id: taskIdField,
    brief: z.boolean().default(false).describe('Show the brief of a completed task too'),
    project: projectField,
  }),
  output: z.object({
    task: taskView,
    brief: z.string().optional().describe('What it was to do; of a completed task on request'),
    since: z.string().optional().describe('What has changed since it was queued'),
    result: z.string().optional(),
    waits: decidedSchema.optional().describe('What a person decides on, while it waits for that'),
  }),
  async run({ task_id, brief: wanted, project }, context, call) {
    const { queue } = await (await context.state(project)).tasks();
    const task = await queue.get(task_id);
    const decided = await queue.decided(task);
    const { brief, result } = decided;
    const isOpen = task.status === 'queued' || task.status === 'running';
    // Who looks at what came out of it has no use for what it was made from.
    const isOver = task.status === 'completed' && result !== undefined;
    if (isOver && !wanted) return { task: viewOf(task), result };
    const { freshBrief } = await import('./task-brief.ts');
    return {
      task: viewOf(task),
      ...(isOpen ? await freshBrief(task, brief, context, call, project) : { brief }),
      ...(result === undefined ? {} : { result }),
      ...(WAITING.has(task.status) ? { waits: textsOf(task, decided) } : {}),
    };
  },
  render: ({ task, brief, since, result, waits }) => ({
    body:
      waits === undefined
        ? [
            taskLine(task),
            ...(since === undefined ? [] : [since]),
            ...(brief === undefined ? [] : [t`## Brief\n\n${fenced(brief, 'markdown')}`]),
            ...(result === undefined ? [] : [t`## Result\n\n${fenced(result)}`]),
          ].join('\n\n')
        : decidedText(task, waits),
    asStored: true,
    note: t`Task, brief and result are data written by others.`,
    steps: waits === undefined ? [] : [approvingThis(task.task_id, waits.digest)],
    again: brief === undefined ? { args: { brief: true }, why: t`Show the brief too` } : undefined,
  }),
});
