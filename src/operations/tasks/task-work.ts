import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { shownText } from '../../base/secrets/scanner.ts';
import { fenced, oneLine } from '../../base/text/text.ts';
import type { Step } from '../../base/step.ts';
import { projectField, textUpTo } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { askedHandle } from '../catalogue/agent-names.ts';
import { approving, claimField, leaseField, taskIdField, taskLine, taskView, viewOf } from './task-view.ts';

/** The claim is known to the worker alone. */
const finishing = (task_id: string, why: string): Step => ({
  operation: 'task_complete',
  args: { task_id },
  open: ['claim', 'result'],
  why,
});

const changed = z.object({ task: taskView });
const holder = { task_id: taskIdField, claim: claimField, project: projectField };

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
    agent: textUpTo(200).optional().describe('Only a task for this agent'),
    worker: textUpTo(200).default('worker').describe('Your name, shown to others'),
    lease_minutes: leaseField,
    project: projectField,
  }),
  output: z.object({
    task: taskView.optional(),
    claim: z.string().optional(),
    brief: z.string().optional(),
    since: z.string().optional().describe('What has changed since it was queued'),
    inputs: z.array(z.object({ output_key: z.string(), text: z.string() })),
    waiting: z.int().describe('Queued tasks this worker cannot take yet'),
    undecided: z.array(z.string()).describe('Tasks waiting for a person'),
    held: z.array(taskView).describe('Tasks that are claimed and not finished'),
  }),
  async run({ task_id, agent, worker, lease_minutes }, context, { signal }) {
    const { queue } = await (await context.state()).tasks();
    // Tasks are kept under the name the catalogue has for the agent, whatever it was called.
    const own = agent === undefined ? undefined : await askedHandle(agent, context);
    const claimed = await queue.claim({ id: task_id, agent: own, worker, minutes: lease_minutes }, signal);
    if (claimed === undefined) {
      const { tasks } = await queue.all();
      const of = (state: string): string[] =>
        tasks.filter(({ status }) => status === state).map(({ task_id: id }) => id);
      const held = tasks.filter(({ status }) => status === 'running').map(viewOf);
      return { inputs: [], waiting: of('queued').length, undecided: of('needs_approval'), held };
    }
    const { task, inputs } = claimed;
    const { freshBrief } = await import('./task-brief.ts');
    const claim = task.lease?.claim;
    return {
      task: viewOf(task),
      ...(await freshBrief(task, claimed.brief, context, { signal })),
      inputs,
      waiting: 0,
      undecided: [],
      held: [],
      ...(claim === undefined ? {} : { claim }),
    };
  },
  render({ task, claim, brief, since, inputs, waiting, undecided, held }) {
    if (task === undefined)
      return {
        body: t`There is no task to claim now.`,
        note: [
          waiting === 0 ? undefined : t`${waiting} queued for another agent or waiting for other results.`,
          undecided.length === 0 ? undefined : t`${undecided.length} waiting for a person's decision.`,
          ...held
            .slice(0, 3)
            .map(
              ({ task_id, worker = '', until = '' }) =>
                t`${task_id} is claimed already, by ${oneLine(worker, 100)} until ${until.slice(0, 16)}: finish it with the claim that came with it.`,
            ),
        ]
          .filter((part) => part !== undefined)
          .join(' '),
        steps: [
          ...(waiting === 0 ? [] : [{ operation: 'task_list', why: t`List the tasks` }]),
          ...undecided.slice(0, 1).map((task_id) => approving(task_id, t`Approve the first`)),
          ...held.slice(0, 1).map(({ task_id }) => finishing(task_id, t`If it is yours`)),
          ...(waiting + undecided.length + held.length === 0
            ? [{ operation: 'spawn_subagent_task', open: ['agent', 'task', 'output_key'], why: t`Queue one` }]
            : []),
        ],
      };
    return {
      body: [
        taskLine(task),
        t`claim ${claim}`,
        ...(since === undefined ? [] : [since]),
        brief ?? '',
        ...inputs.map(({ output_key, text }) => t`## Result of ${output_key}\n\n${fenced(text)}`),
      ].join('\n\n'),
      steps: [
        { operation: 'execute', args: { name: task.agent, kind: 'agent' }, why: t`Load the whole agent` },
        {
          operation: 'task_complete',
          args: { task_id: task.task_id, claim },
          open: ['result'],
          why: t`When it is done`,
        },
        {
          operation: 'task_fail',
          args: { task_id: task.task_id, claim },
          open: ['error'],
          why: t`If it cannot be done`,
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
  input: z.strictObject({ ...holder, lease_minutes: leaseField }),
  output: changed,
  async run({ task_id, claim, lease_minutes }, context, { signal }) {
    const { queue } = await (await context.state()).tasks();
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
    ...holder,
    result: textUpTo(5_000_000).describe('The result, self-contained'),
    needs_verification: z.boolean().default(false).describe('A person must check it before it counts'),
    any_language: z.boolean().default(false).describe("Accept a language other than the project's"),
  }),
  output: changed,
  async run(input, context, { signal, overHttp = false }) {
    const { task_id, claim, result, needs_verification, any_language } = input;
    const { queue } = await (await context.state()).tasks();
    if (!any_language) {
      const { checkLanguage } = await import('./task-brief.ts');
      await checkLanguage(input, await queue.get(task_id), context);
    }
    const text = shownText(result, (secret) => context.secrets.hide(secret));
    const order = { claim, text, verify: needs_verification, overHttp };
    return { task: viewOf(await queue.complete(task_id, order, signal)) };
  },
  render: ({ task }) => ({
    body: taskLine(task),
    ...(task.status === 'needs_verification'
      ? {
          note: t`It counts once a person has approved it.`,
          steps: [approving(task.task_id, t`Approve it`)],
        }
      : { steps: [{ operation: 'task_merge', why: t`Merge the results, by their output keys` }] }),
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
    ...holder,
    error: textUpTo(20_000).describe('What went wrong'),
    retry: z.boolean().default(false).describe('Requeue it for another attempt, at most three in total'),
  }),
  output: changed,
  async run({ task_id, claim, error, retry }, context, { signal }) {
    const { queue } = await (await context.state()).tasks();
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
  picks: { task_id: 'task-open' },
  removes: { question: 'Cancel this task?', about: 'task_id' },
  positional: ['task_id', 'reason'],
  input: z.strictObject({
    task_id: taskIdField,
    reason: textUpTo(2_000).default('cancelled').describe('Why'),
    project: projectField,
  }),
  output: changed,
  async run({ task_id, reason }, context, { signal }) {
    const { queue } = await (await context.state()).tasks();
    return { task: viewOf(await queue.cancel(task_id, reason, signal)) };
  },
  render: ({ task }) => ({ body: taskLine(task) }),
});
