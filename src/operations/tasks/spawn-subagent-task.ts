import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { queueTask } from './queue-task.ts';
import { approving, outputKeyField, taskLine, taskView, viewOf } from './task-view.ts';

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
    agent: z.string().min(1).max(200).describe('Who does it'),
    task: z.string().min(1).max(100_000).describe('What to do, self-contained'),
    output_key: outputKeyField.describe('Name of the result'),
    context_files: z.array(z.string().min(1).max(1_000)).max(50).optional().describe('Paths in the project'),
    run_id: z.string().min(1).max(200).optional().describe('Run it belongs to'),
    depends_on: z.array(outputKeyField).max(50).optional().describe('Output keys it waits for'),
    needs_approval: z.string().min(1).max(2_000).optional().describe('Why a person must agree first'),
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
        project: input.project,
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
