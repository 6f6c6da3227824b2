import * as z from 'zod';
import { plural, t } from '../../base/text/message.ts';
import { oneLine } from '../../base/text/text.ts';
import { MEMORY_TYPES, type MemoryType } from '../../model/memory.ts';
import { projectField, textUpTo } from '../fields.ts';
import { lines } from '../answer-text.ts';
import { namesToRecall } from '../catalogue/agent-names.ts';
import type { Context } from '../context.ts';
import { defineOperation } from '../operation.ts';
import {
  allField,
  headline,
  memoryAgentField,
  memoryData,
  memorySchema,
  memoryTypeField,
  selectionFields,
} from './memory-view.ts';

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

/** What is about the same among the newest of some types, and whether there are more than were compared. */
export async function pairsIn(memory: Memory, types: readonly MemoryType[], signal: AbortSignal) {
  const pairs: z.output<typeof pairSchema>[] = [];
  let cut = false;
  for (const each of types) {
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
  return { pairs, cut };
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
    type: selectionFields.type,
    project: projectField,
  }),
  output: z.object({
    pairs: z.array(pairSchema),
    total: z.int(),
    /** How many of the newest of each type were compared, where there are more. */
    compared: z.int().optional(),
  }),
  async run({ type }, context, { signal }) {
    const memory = await context.memory(false);
    const { pairs, cut } = await pairsIn(memory, type === undefined ? MEMORY_TYPES : [type], signal);
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
    ids: z.array(textUpTo(100)).min(1).max(200).optional().describe('Exact ids of forgotten memories'),
    forgotten_before: z.string().max(40).optional().describe('All those forgotten before this date'),
    type: selectionFields.type,
    apply: z.boolean().default(false).describe('Really remove them'),
    project: projectField,
  }),
  output: z.object({
    memories: z.array(memorySchema),
    revisions: z.int(),
    applied: z.boolean(),
    notes: z.array(z.string()),
  }),
  async run({ ids, forgotten_before, type, apply }, context) {
    const memory = await context.memory();
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
    all: allField,
    project: projectField,
  }),
  output: z.object({ text: z.string(), count: z.int() }),
  async run({ format, project: _project, agent, ...rest }, context) {
    const agents = await namesToRecall(agent, context);
    return (await context.memory()).exported(format, { ...rest, agents });
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
    file: textUpTo(4_000).describe('File to read'),
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
  async run({ file, type, agent }, context, call) {
    const text = await context.readUserFile(file);
    return (await context.memory()).imported(text, { type, agent }, call);
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
  async run(_input, context, { signal, progress }) {
    const memory = await context.memory();
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
