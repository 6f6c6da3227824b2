import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { projectField } from '../fields.ts';
import { lines } from '../answer-text.ts';
import { memoryAgentField, memoryTypeField, selectionFields } from './memory-view.ts';
import { namesToRecall } from '../catalogue/kept-names.ts';
import { defineOperation } from '../operation.ts';

export const memoryExport = defineOperation({
  name: 'memory_export',
  title: 'Export the memories',
  description:
    'Print the memories: Markdown in the format of the kit\'s "export-md", or JSONL with every field and the full text.',
  effect: 'read',
  command: 'memory export',
  printsFile: true,
  examples: ['memory export --type decisions', 'memory export --format jsonl --all'],
  input: z.strictObject({
    format: z.enum(['markdown', 'jsonl']).default('markdown').describe('markdown or jsonl'),
    ...selectionFields,
    all: z.boolean().default(false).describe('Include forgotten and superseded ones'),
    project: projectField,
  }),
  output: z.object({ text: z.string(), count: z.int() }),
  async run({ format, project, agent, ...rest }, context) {
    const agents = await namesToRecall(agent, context, project);
    return (await context.memory(project)).exported(format, { ...rest, agents });
  },
  render: ({ text, count }) => ({
    body: text,
    exact: true,
    // Markdown begins with a heading or a dash.
    ...(text.startsWith('{') ? { json: true as const } : {}),
    note: plural(count, 'memory', 'memories'),
  }),
});

export const memoryImport = defineOperation({
  name: 'memory_import',
  title: 'Import memories',
  description:
    'Remember the entries of a file: Markdown with "- [date] text" lines, JSONL, or memories.json. Known memories stay, forgotten ones stay forgotten.',
  effect: 'write',
  command: 'memory import',
  positional: ['file'],
  input: z.strictObject({
    file: z.string().min(1).max(4_000).describe('File to read'),
    type: memoryTypeField.optional().describe('For entries without a type'),
    agent: memoryAgentField.optional().describe('For entries without an agent'),
    project: projectField,
  }),
  output: z.object({
    created: z.int(),
    updated: z.int(),
    unchanged: z.int(),
    refusedCount: z.int(),
    refused: z.array(z.object({ text: z.string(), reason: z.string() })),
  }),
  async run({ file, type, agent, project }, context, call) {
    const text = await context.readUserFile(file);
    return (await context.memory(project)).imported(text, { type, agent }, call);
  },
  render: ({ created, updated, unchanged, refusedCount, refused }) => ({
    body: lines(
      t`${created} created, ${updated} updated, ${unchanged} unchanged, ${refusedCount} refused`,
      refused.map(({ text, reason }) => t`- "${text}": ${reason}`),
      refusedCount > refused.length ? t`- and ${refusedCount - refused.length} more` : undefined,
    ),
  }),
});

export const memoryReindex = defineOperation({
  name: 'memory_reindex',
  title: 'Compute missing vectors',
  description:
    'Compute missing vectors after the embedder changed or failed. A server does this automatically, in the background.',
  effect: 'write',
  command: 'memory reindex',
  input: z.strictObject({ project: projectField }),
  output: z.object({ done: z.int(), total: z.int() }),
  async run({ project }, context, { signal, progress }) {
    const memory = await context.memory(project);
    const { done, total } = await memory.reindex(
      (state) => progress(t`${state.done} of ${state.total} memories`),
      signal,
    );
    return { done, total };
  },
  render: ({ done, total }) => ({
    body: t`${done} of ${plural(total, 'memory has a vector', 'memories have a vector')}.`,
  }),
});
