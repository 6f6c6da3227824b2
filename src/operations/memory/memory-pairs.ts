import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { oneLine } from '../../base/text/text.ts';
import { MEMORY_TYPES, type MemoryType } from '../../model/memory.ts';
import { lines } from '../answer-text.ts';
import type { Context } from '../context.ts';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { headline, memoryData, memorySchema, memoryTypeField } from './memory-view.ts';

/** Each is compared with each other one of its type; of more, the newest are. */
const MOST_COMPARED = 120;
const MOST_PAIRS = 30;
const MOST_OFFERED = 3;
const MOST_BROWSED = 2_000;

const pairSchema = z.object({
  /** The newer of the two, where dates are known. */
  memory: memorySchema,
  other: memorySchema,
  /** Whether each can be changed; what is only in a file of the project cannot. */
  stored: z.boolean(),
});

type Memory = Awaited<ReturnType<Context['memory']>>;
type RecalledMemory = Parameters<Memory['distinct']>[0][number];

/** The newest of a type, also from files of the project; of a memory too large to be read whole, only from the store. */
async function newest(memory: Memory, type: MemoryType): Promise<readonly RecalledMemory[]> {
  if ((await memory.count({ type, stored: true })) <= MOST_BROWSED)
    return (await memory.browse(type)).entries;
  const { entries } = await memory.list({ type, stored: true }, { limit: MOST_COMPARED + 1 });
  return entries.map((entry) => ({ entry, sources: [], stored: true }));
}

export const memoryPairs = defineOperation({
  name: 'memory_pairs',
  title: 'List what is about the same',
  description:
    'Pairs of memories of one type that are about the same and that no one has settled yet: one may replace the other, or both hold.',
  effect: 'read',
  command: 'memory pairs',
  forPeople: true,
  examples: ['memory pairs'],
  input: z.strictObject({
    type: memoryTypeField.optional().describe('Only this type'),
    project: projectField,
  }),
  output: z.object({
    pairs: z.array(pairSchema),
    total: z.int(),
    /** How many of the newest of each type were compared, where there are more. */
    compared: z.int().optional(),
  }),
  async run({ type, project }, context, { signal }) {
    const memory = await context.memory(project, false);
    const pairs: z.input<typeof pairSchema>[] = [];
    let cut = false;
    for (const each of type === undefined ? MEMORY_TYPES : [type]) {
      const entries = await newest(memory, each);
      cut ||= entries.length > MOST_COMPARED;
      const told = await memory.distinct(entries.slice(0, MOST_COMPARED), signal);
      const known = new Map(told.map((one) => [one.entry.id, one]));
      const seen = new Set<string>();
      for (const one of told)
        for (const { id, age } of one.against) {
          const other = known.get(id);
          const key = [one.entry.id, id].sort().join(' ');
          if (other === undefined || seen.has(key)) continue;
          seen.add(key);
          const [newer, older] = age === 'newer' ? [other, one] : [one, other];
          pairs.push({
            memory: memoryData(newer.entry),
            other: memoryData(older.entry),
            stored: newer.stored && older.stored,
          });
        }
    }
    return {
      pairs: pairs.slice(0, MOST_PAIRS),
      total: pairs.length,
      ...(cut ? { compared: MOST_COMPARED } : {}),
    };
  },
  render: ({ pairs, total, compared }) => ({
    body:
      pairs.length === 0
        ? t`No two memories are about the same.`
        : lines(
            pairs.map(({ memory, other }) =>
              [memory, other]
                .map((each) => `${each.id} ${headline(each)}\n    ${oneLine(each.text, 160)}`)
                .join('\n'),
            ),
          ),
    note: [
      `${plural(total, 'pair')}.`,
      ...(compared === undefined
        ? []
        : [t`Only the newest ${compared} memories of each type were compared.`]),
    ].join(' '),
    steps: pairs.slice(0, MOST_OFFERED).flatMap(({ memory, other, stored }) =>
      stored
        ? [
            {
              operation: 'memory_supersede',
              args: { id: other.id, by: memory.id },
              why: t`If the newer one replaces it`,
            },
            { operation: 'memory_keep_both', args: { id: memory.id, other: other.id }, why: t`If both hold` },
          ]
        : [],
    ),
  }),
});
