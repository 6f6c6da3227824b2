import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { oneLine } from '../../base/text/text.ts';
import { projectField } from '../fields.ts';
import { headline, memoryData, memorySchema, memoryTypeField } from './memory-view.ts';
import { lines } from '../answer-text.ts';
import { defineOperation } from '../operation.ts';

export const memoryPurge = defineOperation({
  name: 'memory_purge',
  title: 'Remove forgotten memories for good',
  description:
    'Remove forgotten memories with their earlier versions. There is no undo. Only shows what would be removed, unless apply is set.',
  effect: 'destroy',
  command: 'memory purge',
  removes: {
    question: 'Remove them for good? There is no undo.',
    when: ({ apply }) => apply === true,
    async details(given, ask) {
      const data = await ask('memory_purge', { ...given, apply: false });
      const memories = (data?.['memories'] as { id: string; text: string }[] | undefined) ?? [];
      return memories.map(({ id, text }) => `${id}  ${oneLine(text, 160)}`).join('\n');
    },
  },
  examples: [
    'memory purge --forgotten-before 2026-01-01',
    'memory purge --ids 728cfd79-2a3f-5f9a-ad84-d776ac131a77 --apply',
  ],
  input: z.strictObject({
    ids: z
      .array(z.string().min(1).max(100))
      .min(1)
      .max(200)
      .optional()
      .describe('Exact ids of forgotten memories'),
    forgotten_before: z.string().max(40).optional().describe('All those forgotten before this date'),
    type: memoryTypeField.optional().describe('Only this type'),
    apply: z.boolean().default(false).describe('Really remove them'),
    project: projectField,
  }),
  output: z.object({
    memories: z.array(memorySchema),
    revisions: z.int(),
    applied: z.boolean(),
    notes: z.array(z.string()),
  }),
  async run({ ids, forgotten_before, type, apply, project }, context) {
    const memory = await context.memory(project);
    const done = await memory.purge({ ids, forgottenBefore: forgotten_before, type, apply });
    return { ...done, memories: done.memories.map(memoryData) };
  },
  render: ({ memories, revisions, applied, notes }) => ({
    body: lines(
      t`${applied ? t`Removed for good` : t`Would be removed for good`}: ${plural(memories.length, 'memory', 'memories')}, ${plural(revisions, 'earlier version')}`,
      memories.map((each) => `${each.id} ${headline(each)}\n    ${oneLine(each.text, 160)}`),
      notes,
    ),
    ...(applied || memories.length === 0
      ? {}
      : {
          note: t`Nothing was removed.`,
          again: { args: { apply: true }, why: t`Remove them for good` },
        }),
  }),
});
