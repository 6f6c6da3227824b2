import * as z from 'zod';
import { shownText } from '../../base/secrets/masking.ts';
import { fenced } from '../../base/text/text.ts';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { askedHandle } from './asked-agent.ts';
import { approving, claimField, leaseField, taskIdField, taskLine, taskView, viewOf } from './task-view.ts';

const changed = z.object({ task: taskView });
const held = { task_id: taskIdField, claim: claimField, project: projectField };

export const taskClaim = defineOperation({
  name: 'task_claim',
  title: 'Claim a task',
  description:
    'Claim the oldest task that can be started, or a named one, with its brief. No one else gets it until the lease ends.',
  effect: 'write',
  behind: { manage_project: 'task_claim' },
  command: 'task claim',
  positional: ['task_id'],
  input: z.strictObject({
    task_id: taskIdField.optional().describe('Exact id; default: the oldest that can be started'),
    agent: z.string().min(1).max(200).optional().describe('Only a task for this agent'),
    worker: z.string().min(1).max(200).default('worker').describe('Your name, shown to others'),
    lease_minutes: leaseField,
    project: projectField,
  }),
  output: z.object({
    task: taskView.optional(),
    claim: z.string().optional(),
    brief: z.string().optional(),
    inputs: z.array(z.object({ output_key: z.string(), text: z.string() })),
    waiting: z.int().describe('Queued tasks this worker cannot take yet'),
    undecided: z.array(z.string()).describe('Tasks waiting for a person'),
  }),
  async run({ task_id, agent, worker, lease_minutes, project }, context, { signal }) {
    const { queue } = await (await context.state(project)).tasks();
    // Tasks are kept under the name the catalogue has for the agent, whatever it was called.
    const own = agent === undefined ? undefined : await askedHandle(agent, context, project);
    const claimed = await queue.claim({ id: task_id, agent: own, worker, minutes: lease_minutes }, signal);
    if (claimed === undefined) {
      const { tasks } = await queue.all();
      const of = (state: string): string[] =>
        tasks.filter(({ status }) => status === state).map(({ task_id: id }) => id);
      return { inputs: [], waiting: of('queued').length, undecided: of('needs_approval') };
    }
    const { task, brief, inputs } = claimed;
    const claim = task.lease?.claim;
    return {
      task: viewOf(task),
      brief,
      inputs,
      waiting: 0,
      undecided: [],
      ...(claim === undefined ? {} : { claim }),
    };
  },
  render({ task, claim, brief, inputs, waiting, undecided }) {
    if (task === undefined)
      return {
        body: 'There is no task to claim now.',
        note: [
          waiting === 0 ? undefined : `${waiting} queued for another agent or waiting for other results.`,
          undecided.length === 0 ? undefined : `${undecided.length} waiting for a person's decision.`,
        ]
          .filter((part) => part !== undefined)
          .join(' '),
        steps: [
          ...(waiting === 0 ? [] : [{ operation: 'task_list', why: 'List the tasks' }]),
          ...undecided.slice(0, 1).map((task_id) => approving(task_id, 'Approve the first')),
          ...(waiting + undecided.length === 0
            ? [{ operation: 'spawn_subagent_task', open: ['agent', 'task', 'output_key'], why: 'Queue one' }]
            : []),
        ],
      };
    return {
      body: [
        taskLine(task),
        `claim ${claim}`,
        brief ?? '',
        ...inputs.map(({ output_key, text }) => `## Result of ${output_key}\n\n${fenced(text)}`),
      ].join('\n\n'),
      steps: [
        { operation: 'execute', args: { name: task.agent, kind: 'agent' }, why: 'Load the whole agent' },
        {
          operation: 'task_complete',
          args: { task_id: task.task_id, claim },
          open: ['result'],
          why: 'When it is done',
        },
        {
          operation: 'task_fail',
          args: { task_id: task.task_id, claim },
          open: ['error'],
          why: 'If it cannot be done',
        },
      ],
    };
  },
});

export const taskRenew = defineOperation({
  name: 'task_renew',
  title: 'Keep a task longer',
  description: 'Renew the lease on a task that takes longer.',
  effect: 'write',
  behind: { manage_project: 'task_renew' },
  command: 'task renew',
  positional: ['task_id', 'claim'],
  input: z.strictObject({ ...held, lease_minutes: leaseField }),
  output: changed,
  async run({ task_id, claim, lease_minutes, project }, context, { signal }) {
    const { queue } = await (await context.state(project)).tasks();
    return { task: viewOf(await queue.renew(task_id, claim, lease_minutes, signal)) };
  },
  render: ({ task }) => ({ body: taskLine(task) }),
});

export const taskComplete = defineOperation({
  name: 'task_complete',
  title: 'Complete a task',
  description: 'Hand in the result of a claimed task: JSON or structured Markdown.',
  effect: 'write',
  behind: { manage_project: 'task_complete' },
  command: 'task complete',
  positional: ['task_id', 'claim', 'result'],
  input: z.strictObject({
    ...held,
    result: z.string().min(1).max(5_000_000).describe('The result, self-contained'),
    needs_verification: z.boolean().default(false).describe('A person must check it before it counts'),
  }),
  output: changed,
  async run({ task_id, claim, result, needs_verification, project }, context, { signal, overHttp = false }) {
    const { queue } = await (await context.state(project)).tasks();
    const text = shownText(result, (secret) => context.secrets.hide(secret));
    const order = { claim, text, verify: needs_verification, overHttp };
    return { task: viewOf(await queue.complete(task_id, order, signal)) };
  },
  render: ({ task }) => ({
    body: taskLine(task),
    ...(task.status === 'needs_verification'
      ? {
          note: 'It counts once a person has approved it.',
          steps: [approving(task.task_id, 'Approve it')],
        }
      : { steps: [{ operation: 'task_merge', why: 'Merge the results, by their output keys' }] }),
  }),
});

export const taskFail = defineOperation({
  name: 'task_fail',
  title: 'Give a task back',
  description: 'Report that a claimed task could not be done, and why. With retry it returns to the queue.',
  effect: 'write',
  behind: { manage_project: 'task_fail' },
  command: 'task fail',
  positional: ['task_id', 'claim', 'error'],
  input: z.strictObject({
    ...held,
    error: z.string().min(1).max(20_000).describe('What went wrong'),
    retry: z.boolean().default(false).describe('Requeue it for another attempt, at most three in total'),
  }),
  output: changed,
  async run({ task_id, claim, error, retry, project }, context, { signal }) {
    const { queue } = await (await context.state(project)).tasks();
    return { task: viewOf(await queue.fail(task_id, claim, error, retry, signal)) };
  },
  render: ({ task }) => ({ body: taskLine(task) }),
});

export const taskCancel = defineOperation({
  name: 'task_cancel',
  title: 'Cancel a task',
  description: 'Remove an unfinished task from the queue.',
  effect: 'write',
  behind: { manage_project: 'task_cancel' },
  command: 'task cancel',
  positional: ['task_id', 'reason'],
  input: z.strictObject({
    task_id: taskIdField,
    reason: z.string().min(1).max(2_000).default('cancelled').describe('Why'),
    project: projectField,
  }),
  output: changed,
  async run({ task_id, reason, project }, context, { signal }) {
    const { queue } = await (await context.state(project)).tasks();
    return { task: viewOf(await queue.cancel(task_id, reason, signal)) };
  },
  render: ({ task }) => ({ body: taskLine(task) }),
});
