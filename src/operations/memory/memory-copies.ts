import * as z from 'zod';
import { plural } from '../../base/text/text.ts';
import { lines } from '../answer-text.ts';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';

const copySchema = z.object({
  day: z.string(),
  path: z.string(),
  engine: z.string(),
  bytes: z.int(),
});

export const memoryCopies = defineOperation({
  name: 'memory_copies',
  title: 'Daily copies of the memories',
  description:
    'List the daily copies of the memory store, or put one in its place. Only shows what would be done, unless apply is set; the store that is replaced is kept beside it.',
  effect: 'destroy',
  command: 'memory copies',
  examples: ['memory copies', 'memory copies --restore 2026-03-01 --apply'],
  input: z.strictObject({
    restore: z.string().min(1).max(20).optional().describe('Day of the copy to restore'),
    apply: z.boolean().default(false).describe('Really restore it'),
    project: projectField,
  }),
  output: z.object({
    copies: z.array(copySchema),
    restored: z
      .object({
        day: z.string(),
        memories: z.int(),
        to: z.string(),
        kept: z.string().optional(),
        applied: z.boolean(),
      })
      .optional(),
  }),
  async run({ restore, apply, project }, context) {
    const memory = await context.memory(project);
    const copies = await memory.copies();
    if (restore === undefined) return { copies };
    const { copy, kept, ...done } = await memory.restoreCopy(restore, apply);
    return { copies, restored: { day: copy.day, ...done, ...(kept === undefined ? {} : { kept }) } };
  },
  render({ copies, restored }) {
    if (restored === undefined)
      return {
        body:
          copies.length === 0
            ? 'There is no copy yet. One is made each day that the store is opened to be written.'
            : copies
                .map(({ day, bytes, path }) => `${day}  ${Math.ceil(bytes / 1024)} kB  ${path}`)
                .join('\n'),
        ...(copies[0] === undefined
          ? {}
          : { again: { args: { restore: copies[0].day }, why: 'See what restoring one would do' } }),
      };
    const { day, memories, to, kept, applied } = restored;
    return {
      body: lines(
        `${applied ? 'Restored' : 'Would be restored'}: the copy of ${day} with ${plural(memories, 'memory', 'memories')}`,
        `to ${to}`,
        kept === undefined ? undefined : `The store before is kept as ${kept}`,
      ),
      ...(applied
        ? {}
        : {
            note: 'Nothing was changed. What was remembered after the copy is not in it.',
            again: { args: { apply: true }, why: 'Restore it' },
          }),
    };
  },
});
