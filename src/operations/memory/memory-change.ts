import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { oneLine } from '../../base/text/text.ts';
import type { MemoryEntry } from '../../model/memory.ts';
import { keptAs } from '../catalogue/kept-names.ts';
import { tagsField } from '../fields.ts';
import { headline, memoryAgentField, memoryData, memorySchema, whichMemory } from './memory-view.ts';
import { lines } from '../answer-text.ts';
import { defineOperation, type Answer } from '../operation.ts';

const changed = z.object({
  memory: memorySchema,
  files: z.array(z.string()),
  notes: z.array(z.string()),
});

interface Done extends Pick<z.output<typeof changed>, 'files' | 'notes'> {
  entry: MemoryEntry;
}

const changedData = ({ entry, files, notes }: Done) => ({ memory: memoryData(entry), files, notes });

function changedAnswer(what: string, { memory, files, notes }: z.output<typeof changed>): Answer {
  return {
    body: lines(
      t`${what}: ${headline(memory)}`,
      `id ${memory.id}`,
      oneLine(memory.text, 200),
      files.length === 0 ? undefined : t`Changed in ${files.join(', ')}`,
      notes,
    ),
  };
}

export const memoryUpdate = defineOperation({
  name: 'memory_update',
  title: 'Change a memory',
  description:
    'Change the text, tags or agent of a memory by its id; the earlier text is kept as a revision.',
  effect: 'write',
  behind: { manage_memories: 'update' },
  command: 'memory update',
  picks: { id: 'memory' },
  forPeople: true,
  positional: ['id', 'text'],
  input: z.strictObject({
    ...whichMemory,
    text: z.string().max(5_000_000).optional().describe('The new text'),
    tags: tagsField.optional().describe('The new tags, replacing the old ones'),
    agent: memoryAgentField.optional().describe('The new agent'),
  }),
  output: changed,
  async run({ id, type, project, ...change }, context, { signal }) {
    if (change.text === undefined && change.tags === undefined && change.agent === undefined)
      throw new BmadError('invalid_input', t`There is nothing to change.`, {
        hint: t`Pass text, tags or agent.`,
      });
    const agent = change.agent === undefined ? undefined : await keptAs(change.agent, context, project);
    const memory = await context.memory(project);
    return changedData(await memory.update(id, type, { ...change, agent }, signal));
  },
  render: (data) => changedAnswer(t`Revision ${data.memory.revision}`, data),
});

export const memoryForget = defineOperation({
  name: 'memory_forget',
  title: 'Forget a memory',
  description:
    "Remove a memory from all answers, and its copies from the project's files. It can be restored.",
  effect: 'write',
  behind: { manage_memories: 'forget' },
  command: 'memory forget',
  picks: { id: 'memory' },
  removes: {
    question: 'Forget this memory?',
    async details({ id, type }, ask) {
      const data = await ask('memory_get', { id, ...(type === undefined ? {} : { type }) });
      const memory = data?.['memory'] as { type: string; agent: string; text: string } | undefined;
      return memory === undefined
        ? undefined
        : `${memory.type}, ${memory.agent}: ${oneLine(memory.text, 400)}`;
    },
  },
  forPeople: true,
  positional: ['id'],
  input: z.strictObject(whichMemory),
  output: changed,
  run: async ({ id, type, project }, context) =>
    changedData(await (await context.memory(project)).forget(id, type)),
  render: (data) => ({
    ...changedAnswer(t`Forgotten`, data),
    steps: [{ operation: 'memory_restore', args: { id: data.memory.id }, why: t`Undo it` }],
  }),
});

export const memoryRestore = defineOperation({
  name: 'memory_restore',
  title: 'Restore a memory',
  description: 'Bring back a forgotten memory.',
  effect: 'write',
  behind: { manage_memories: 'restore' },
  command: 'memory restore',
  picks: { id: 'memory-forgotten' },
  forPeople: true,
  positional: ['id'],
  input: z.strictObject(whichMemory),
  output: changed,
  run: async ({ id, type, project }, context) =>
    changedData(await (await context.memory(project)).restore(id, type)),
  render: (data) => changedAnswer(t`Restored`, data),
});

export const memoryKeepBoth = defineOperation({
  name: 'memory_keep_both',
  title: 'Say that two memories both hold',
  description:
    'Settle that two memories about the same both hold: both are kept, and answers stop marking them.',
  effect: 'write',
  behind: { manage_memories: 'keep_both' },
  command: 'memory keep-both',
  forPeople: true,
  positional: ['id', 'other'],
  input: z.strictObject({
    ...whichMemory,
    other: z.string().min(1).max(100).describe('Id of the other memory'),
  }),
  output: changed.extend({ other: memorySchema }),
  async run({ id, other, type, project }, context) {
    const done = await (await context.memory(project)).keepBoth(id, other, type);
    return { ...changedData(done), other: memoryData(done.other) };
  },
  render: ({ memory, other }) => ({
    body: lines(
      t`Both are kept, and no longer marked as being about the same:`,
      [memory, other].map((each) => t`- ${headline(each)}, id ${each.id}: ${oneLine(each.text, 160)}`),
    ),
  }),
});

export const memorySupersede = defineOperation({
  name: 'memory_supersede',
  title: 'Mark a memory as replaced',
  description:
    'Mark a memory as out of date, or as replaced by another: it is kept, but answers leave it out. Remembering its text again brings it back.',
  effect: 'write',
  behind: { manage_memories: 'supersede' },
  command: 'memory supersede',
  picks: { id: 'memory' },
  forPeople: true,
  positional: ['id', 'by'],
  input: z.strictObject({
    ...whichMemory,
    by: z.string().min(1).max(100).optional().describe('Id of the memory that replaces it'),
  }),
  output: changed,
  run: async ({ id, by, type, project }, context) =>
    changedData(await (await context.memory(project)).supersede(id, by, type)),
  render: (data) => changedAnswer(t`Superseded`, data),
});
