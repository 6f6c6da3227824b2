import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { shownText } from '../../base/secrets/scanner.ts';
import { plural, say, t } from '../../base/text/message.ts';
import { fitItems, listPage } from '../../base/text/paging.ts';
import { nearest } from '../../base/text/suggest.ts';
import { fenced, kilobytes } from '../../base/text/text.ts';
import { FINAL_STATES, MERGE_STRATEGIES, type Task, TASK_STATES, type TaskState } from '../../model/task.ts';
import { askedHandle } from '../catalogue/agent-names.ts';
import type { Call, Context, RunsPort } from '../context.ts';
import { cursorField, limitField, projectField, textUpTo } from '../fields.ts';
import { nextPart } from '../answer-text.ts';
import { defineOperation } from '../operation.ts';
import { openRun } from '../runs/run-view.ts';
import {
  approving,
  approvingThis,
  decidedSchema,
  decidedText,
  outputKeyField,
  taskIdField,
  taskLine,
  taskView,
  textsOf,
  viewOf,
} from './task-view.ts';

export const spawnSubagentTask = defineOperation({
  name: 'spawn_subagent_task',
  title: 'Queue work for a sub-agent',
  description:
    'Queue a task for a sub-agent, with a self-contained brief: persona, context files, decisions. A worker claims it.',
  effect: 'write',
  keeps: true,
  toolset: 'project',
  command: 'task add',
  positional: ['agent', 'task'],
  input: z.strictObject({
    agent: textUpTo(200).describe('Who does it'),
    task: textUpTo(100_000).describe('What to do, self-contained'),
    output_key: outputKeyField.describe('Name of the result'),
    context_files: z.array(textUpTo(1_000)).max(50).optional().describe('Paths in the project'),
    run_id: textUpTo(200).optional().describe('Run it belongs to'),
    depends_on: z.array(outputKeyField).max(50).optional().describe('Output keys it waits for'),
    needs_approval: textUpTo(2_000).optional().describe('Why a person must agree first'),
    project: projectField,
  }),
  output: z.object({
    task: taskView,
    brief_bytes: z.int(),
    left_out: z.array(z.string()),
    kept_in: z.string(),
    /** Said of an agent that has no file. */
    note: z.string().optional(),
  }),

  async run(input, context, call) {
    const { task, briefBytes, leftOut, keptIn, note } = await queueTask(
      {
        agent: input.agent,
        task: input.task,
        outputKey: input.output_key,
        contextFiles: input.context_files,
        runId: input.run_id,
        dependsOn: input.depends_on,
        approval: input.needs_approval,
        createdBy: 'bmad',
      },
      context,
      call,
    );
    return {
      task: viewOf(task),
      brief_bytes: briefBytes,
      left_out: leftOut,
      kept_in: keptIn,
      ...(note === undefined ? {} : { note }),
    };
  },

  render: ({ task, brief_bytes, left_out, kept_in, note }) => ({
    body: [
      taskLine(task),
      t`Kept in ${kept_in}; the brief is ${brief_bytes} bytes long.`,
      ...(note === undefined ? [] : [note]),
      ...(left_out.length === 0 ? [] : [t`Left out for length: ${left_out.join('; ')}.`]),
    ].join('\n'),
    ...(task.status === 'needs_approval'
      ? { note: t`A person must approve it first.`, steps: [approving(task.task_id, t`Approve it`)] }
      : {
          steps: [
            { operation: 'task_claim', args: { task_id: task.task_id }, why: t`Claim it` },
            {
              operation: 'task_show',
              args: { task_id: task.task_id },
              why: t`Read the brief for a sub-agent`,
            },
          ],
        }),
  }),
});

interface TaskOrder {
  agent: string;
  task: string;
  outputKey: string;
  contextFiles?: readonly string[] | undefined;
  runId?: string | undefined;
  dependsOn?: readonly string[] | undefined;
  approval?: string | undefined;
  createdBy: string;
  outside?: Task['outside'];
  /** What a worker has to know about where it comes from. */
  origin?: string | undefined;
}

/** Puts a task into the queue of a project with all that a worker needs to know. */
export async function queueTask(order: TaskOrder, context: Context, call: Call) {
  const { outputKey, runId, dependsOn = [], approval, createdBy, outside, origin } = order;
  const hide = (text: string): string => context.secrets.hide(text);
  const task = shownText(order.task, hide);
  const state = await context.state();
  await askedHandle(order.agent, context);
  await checkRun(runId, state);
  const [{ briefFor, digestsOf }, { contextFiles }] = await Promise.all([
    import('./task-brief.ts'),
    import('../delegation/context-files.ts'),
  ]);
  const files = await contextFiles(state, order.contextFiles ?? [], { hide, signal: call.signal });
  const { person, brief } = await briefFor(
    { agent: order.agent, task, outputKey, files, dependsOn, origin },
    context,
    call,
  );
  const tasks = await state.tasks();
  const added = await tasks.queue.add(
    {
      agent: person.handle,
      task,
      outputKey,
      contextFiles: files.map(({ path }) => path),
      contextDigests: digestsOf(files),
      dependsOn,
      runId,
      createdBy,
      approval,
      brief: brief.text,
      outside,
    },
    call.signal,
  );
  const { path: folder, owner } = tasks.queue.place;
  return {
    task: added,
    briefBytes: Buffer.byteLength(brief.text),
    leftOut: brief.leftOut,
    ...(person.note === undefined ? {} : { note: person.note }),
    keptIn: owner === 'project' ? folder : t`the user's state folder (${folder})`,
  };
}

/** A task of a run that is not there would be found by nobody who looks for the tasks of a run. */
async function checkRun(id: string | undefined, state: RunsPort): Promise<void> {
  if (id === undefined) return;
  const runs = await state.runs();
  if (await runs.has(id)) return;
  const { branches } = await runs.lately();
  const ids = branches.flatMap((branch) => branch.runs.map((run) => run.id));
  throw new BmadError('not_found', t`There is no run ${quoted(id)}.`, {
    subject: id,
    suggestions: nearest(id, ids),
    hint: t`Omit run_id for a task without a run.`,
    steps: [openRun(undefined, t`Open a run`)],
  });
}

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
    run_id: textUpTo(200).optional().describe('Only tasks of this run'),
    agent: textUpTo(200).optional().describe('Only tasks for this agent'),
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
  async run({ status, run_id, agent, limit, cursor }, context) {
    const { queue } = await (await context.state()).tasks();
    const { tasks, problems } = await queue.all();
    const own = agent === undefined ? undefined : await askedHandle(agent, context);
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
  async run({ task_id, brief: wanted }, context, call) {
    const { queue } = await (await context.state()).tasks();
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
      ...(isOpen ? await freshBrief(task, brief, context, call) : { brief }),
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

const SHOWN = 6_000;

export const taskMerge = defineOperation({
  name: 'task_merge',
  title: 'Merge results',
  description:
    'Combine the results of completed tasks in one file: concat, structured (JSON by key), first-wins, vote or summarize. Failed tasks are listed; it does not wait for them.',
  effect: 'write',
  behind: { manage_project: 'task_merge' },
  command: 'task merge',
  positional: ['strategy'],
  input: z.strictObject({
    strategy: z.enum(MERGE_STRATEGIES).default('concat').describe('How to combine the results'),
    output_keys: z.array(outputKeyField).max(200).default([]).describe('Which results; default: all'),
    run_id: textUpTo(200).optional().describe('Only tasks of this run'),
    merged_output_key: outputKeyField.default('merged').describe('Name of the file'),
    project: projectField,
  }),
  output: z.object({
    file: z.string(),
    used: z.array(z.string()),
    missing: z.array(z.object({ output_key: z.string(), status: z.string(), reason: z.string() })),
    text: z.string(),
  }),
  async run({ strategy, output_keys, run_id, merged_output_key }, context, { signal }) {
    const { queue } = await (await context.state()).tasks();
    const { file, used, missing, text } = await queue.merge(
      { strategy, outputKeys: output_keys, runId: run_id, mergedOutputKey: merged_output_key },
      signal,
    );
    return { file, used, missing, text };
  },
  render: ({ file, used, missing, text }) => ({
    body: [
      t`Merged ${used.join(', ')} into ${file} (${kilobytes(Buffer.byteLength(text))}).`,
      ...missing.map(
        ({ output_key, status, reason }) => t`Not included: ${output_key}, ${say(status)} (${reason}).`,
      ),
      fenced(text.length > SHOWN ? `${text.slice(0, SHOWN)}\n…` : text),
    ].join('\n'),
    ...(text.length > SHOWN ? { note: t`The rest is in ${file}.` } : {}),
  }),
});
