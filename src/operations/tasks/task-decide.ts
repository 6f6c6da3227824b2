import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { present } from '../../base/values.ts';
import { projectField, textUpTo } from '../fields.ts';
import { askedBy } from '../offers.ts';
import { defineOperation } from '../operation.ts';
import {
  approvingThis,
  decidedSchema,
  decidedText,
  taskIdField,
  taskLine,
  taskView,
  textsOf,
  viewOf,
} from './task-view.ts';

const changed = z.object({ task: taskView });
const decision = {
  task_id: taskIdField,
  by: textUpTo(200).default('a person at the command line').describe('Who decides'),
  project: projectField,
};

/** As `task show` gives it. */
const digestField = z
  .string()
  .regex(/^[0-9a-f]{16}$/, 'Expected the 16 digits that "task show" ends with.')
  .optional()
  .describe(
    'What you approve, as "task show" gives it; without it, you are shown the task and nothing changes',
  );

/**
 * These two are commands and nothing else: a model that queued a task must not be able to agree to it in the name of
 * the person it was to ask.
 */
export const taskApprove = defineOperation({
  name: 'task_approve',
  title: 'Approve a task',
  description:
    'Approve a task that is waiting for a person, or a result that no one has checked: exactly the text with this digest.',
  effect: 'write',
  writes: ({ digest }) => digest !== undefined,
  command: 'task approve',
  reviews: true,
  forPeople: true,
  positional: ['task_id'],
  input: z.strictObject({ ...decision, digest: digestField }),
  output: z.object({ task: taskView, approved: z.boolean(), shown: decidedSchema.optional() }),
  async run({ task_id, by, digest }, context, call) {
    const { queue } = await (await context.state()).tasks();
    if (digest !== undefined) {
      const agreed = { agrees: true, by, via: askedBy(call), digest } as const;
      return { task: viewOf(await queue.decide(task_id, agreed, call.signal)), approved: true };
    }
    const task = await queue.undecided(task_id);
    return { task: viewOf(task), approved: false, shown: textsOf(task, await queue.decided(task)) };
  },
  // A result that was taken is not given back; what is only queued is.
  undo: ({ approved, task: { task_id, status } }) =>
    approved && status === 'queued' ? { operation: 'task_withdraw', args: { task_id } } : undefined,
  // A script that takes it for approved has to learn that it is not.
  failed: ({ approved }) => !approved,
  render: ({ task, shown }) =>
    shown === undefined
      ? { body: taskLine(task) }
      : {
          body: decidedText(task, shown),
          asStored: true,
          note: t`Nothing is approved yet. What is shown was written by others; read all of it.`,
          steps: [approvingThis(task.task_id, shown.digest)],
        },
});

export const taskWithdraw = defineOperation({
  name: 'task_withdraw',
  title: 'Take an approval back',
  description:
    'Take back the approval of a task that no one has begun yet: it waits for a person again, and no worker gets it.',
  effect: 'write',
  command: 'task withdraw',
  picks: { task_id: 'task-open' },
  forPeople: true,
  positional: ['task_id'],
  input: z.strictObject(decision),
  output: changed,
  async run({ task_id, by }, context, call) {
    const { queue } = await (await context.state()).tasks();
    return { task: viewOf(await queue.withdraw(task_id, { by }, call.signal)) };
  },
  render: ({ task }) => ({ body: taskLine(task) }),
});

/** What an earlier version has queued, or a colleague on another machine: each is whole on the screen, and one answer will do. */
export const taskApproveAll = defineOperation({
  name: 'task_approve_all',
  title: 'Approve tasks from elsewhere',
  description:
    'Approve together all tasks that are queued in their files but were neither queued nor approved on this machine: exactly those with this digest.',
  effect: 'write',
  writes: ({ digest }) => digest !== undefined,
  command: 'task approve-all',
  forPeople: true,
  input: z.strictObject({
    by: decision.by,
    digest: digestField.describe(
      'What you approve, as this command gives it; without it, you are shown the tasks and nothing changes',
    ),
    project: projectField,
  }),
  output: z.object({
    tasks: z.array(taskView),
    approved: z.boolean(),
    shown: z.array(decidedSchema).optional(),
    digest: z.string().describe('Stands for all of them; approving takes it'),
  }),
  async run({ by, digest }, context, call) {
    const { queue } = await (await context.state()).tasks();
    if (digest !== undefined) {
      const tasks = await queue.decideAll({ agrees: true, by, via: askedBy(call), digest }, call.signal);
      return { tasks: tasks.map(viewOf), approved: true, digest };
    }
    const { waiting, digest: shown } = await queue.elsewhere();
    return {
      tasks: waiting.map(({ task }) => viewOf(task)),
      approved: false,
      shown: waiting.map(({ task, ...decided }) => textsOf(task, decided)),
      digest: shown,
    };
  },
  failed: ({ approved, tasks }) => !approved && tasks.length > 0,
  render({ tasks, shown = [], approved, digest }) {
    if (tasks.length === 0) return { body: t`No task from elsewhere is waiting for a person.` };
    if (approved) return { body: tasks.map(taskLine).join('\n') };
    const texts = tasks.flatMap((task, index) => {
      const decided = shown[index];
      return decided === undefined ? [] : [decidedText(task, decided)];
    });
    return {
      body: [...texts, t`Digest of all ${tasks.length}: ${digest}`].join('\n\n'),
      asStored: true,
      note: t`Nothing is approved yet. What is shown was written by others; read all of it.`,
      steps: [{ operation: 'task_approve_all', args: { digest }, why: t`Approve exactly these` }],
    };
  },
});

export const taskRefuse = defineOperation({
  name: 'task_refuse',
  title: 'Refuse a task',
  description: 'Refuse a task that is waiting for a person, or a result that is not good enough.',
  effect: 'write',
  command: 'task refuse',
  picks: { task_id: 'task-waiting' },
  forPeople: true,
  positional: ['task_id', 'reason'],
  input: z.strictObject({
    ...decision,
    reason: textUpTo(2_000).optional().describe('Why'),
  }),
  output: changed,
  async run({ task_id, by, reason }, context, call) {
    const { queue } = await (await context.state()).tasks();
    const refusal = present({ agrees: false as const, by, via: askedBy(call), reason });
    return { task: viewOf(await queue.decide(task_id, refusal, call.signal)) };
  },
  render: ({ task }) => ({ body: taskLine(task) }),
});
