import * as z from 'zod';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { taskIdField, taskLine, taskView, viewOf } from './task-view.ts';

const changed = z.object({ task: taskView });
const decision = {
  task_id: taskIdField,
  by: z.string().min(1).max(200).default('a person at the command line').describe('Who decides'),
  project: projectField,
};

/**
 * These two are commands and nothing else: a model that queued a task must not be able to agree to it in the name of
 * the person it was to ask.
 */
export const taskApprove = defineOperation({
  name: 'task_approve',
  title: 'Approve a task',
  description: 'Approve a task that is waiting for a person, or a result that no one has checked.',
  effect: 'write',
  command: 'task approve',
  positional: ['task_id'],
  input: z.strictObject(decision),
  output: changed,
  async run({ task_id, by, project }, context, { signal }) {
    const { queue } = await (await context.state(project)).tasks();
    return { task: viewOf(await queue.decide(task_id, { agrees: true, by }, signal)) };
  },
  render: ({ task }) => ({ body: taskLine(task) }),
});

export const taskRefuse = defineOperation({
  name: 'task_refuse',
  title: 'Refuse a task',
  description: 'Refuse a task that is waiting for a person, or a result that is not good enough.',
  effect: 'write',
  command: 'task refuse',
  positional: ['task_id', 'reason'],
  input: z.strictObject({
    ...decision,
    reason: z.string().min(1).max(2_000).optional().describe('Why'),
  }),
  output: changed,
  async run({ task_id, by, reason, project }, context, { signal }) {
    const { queue } = await (await context.state(project)).tasks();
    return { task: viewOf(await queue.decide(task_id, { agrees: false, by, reason }, signal)) };
  },
  render: ({ task }) => ({ body: taskLine(task) }),
});
