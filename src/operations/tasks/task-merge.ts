import { say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { fenced, kilobytes } from '../../base/text/text.ts';
import { MERGE_STRATEGIES } from '../../model/task.ts';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { outputKeyField } from './task-view.ts';

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
    run_id: z.string().min(1).max(200).optional().describe('Only tasks of this run'),
    merged_output_key: outputKeyField.default('merged').describe('Name of the file'),
    project: projectField,
  }),
  output: z.object({
    file: z.string(),
    used: z.array(z.string()),
    missing: z.array(z.object({ output_key: z.string(), status: z.string(), reason: z.string() })),
    text: z.string(),
  }),
  async run({ strategy, output_keys, run_id, merged_output_key, project }, context, { signal }) {
    const { queue } = await (await context.state(project)).tasks();
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
