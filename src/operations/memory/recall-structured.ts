import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { isMemoryId } from '../../base/values.ts';
import type { SayStep } from '../../base/step.ts';
import { cut, oneLine } from '../../base/text/text.ts';
import { namesToRecall } from '../catalogue/agent-names.ts';
import { handOver } from '../execute.ts';
import { memoryGet } from './memory-operations.ts';
import { stepsField, whereField, textUpTo } from '../fields.ts';
import { lines, rounded } from '../answer-text.ts';
import { headline, memoryData, memorySchema, selectionFields, snippet } from './memory-view.ts';
import { defineOperation } from '../operation.ts';

const DEFAULT_LIMIT = 5;
const LATEST = 3;
/** A longer question is not written out again. */
const QUERY_LENGTH = 300;

type Selection = Readonly<Partial<Record<'type' | 'agent' | 'tags' | 'since' | 'until', unknown>>>;

const hitSchema = memorySchema.omit({ text: true }).extend({
  snippet: z.string(),
  /** Whether there is more of the text than the snippet. */
  cut: z.boolean(),
  score: z.number(),
  meaning: z.number().optional(),
  words: z.number(),
  matched: z.array(z.string()),
  stored: z.boolean(),
  sources: z.array(z.string()),
});

export const recallStructured = defineOperation({
  name: 'recall_structured',
  title: 'Recall what the project knows',
  description:
    'Search what the project remembers and its memory files, by words and meaning, in English and French: what did we decide, and why? Ask before you decide or repeat work.',
  effect: 'read',
  toolset: 'memory',
  command: 'memory recall',
  positional: ['query'],
  sentence: true,
  examples: ['memory recall "which database"', 'memory recall "tests panier" --type failures --limit 3'],
  input: z.strictObject({
    query: z
      .string()
      .trim()
      .min(1)
      .max(20_000)
      .describe('Question or words; an id gives that memory in full'),
    ...selectionFields,
    limit: z.int().min(1).max(50).optional(),
    min_score: z.number().min(0).max(2).optional().describe('Minimum score, from 0 to 2'),
    alt_queries: z.array(textUpTo(2_000)).max(8).optional().describe('The same in other words'),
    project: whereField,
  }),
  output: z.object({
    /** What was asked, as far as it is written out again. */
    query: z.string(),
    hits: z.array(hitSchema),
    /** Where nothing has a word of it: the newest decisions. */
    latest: z.array(memorySchema).optional(),
    notes: z.array(z.string()),
    steps: stepsField,
    memory: z.record(z.string(), z.unknown()).optional(),
  }),

  async run(input, context, call) {
    const { query, type, agent, tags, since, until, limit, min_score, alt_queries } = input;
    if (isMemoryId(query)) {
      const memory = await handOver(memoryGet, { id: query, type }, context, call);
      return { query, hits: [], notes: [], memory };
    }
    const memory = await context.memory();
    const found = await memory.recall(
      {
        query,
        alternatives: alt_queries,
        type,
        agents: await namesToRecall(agent, context),
        tags,
        since,
        until,
        minScore: min_score,
        limit: limit ?? DEFAULT_LIMIT,
      },
      call.signal,
    );
    const { hits, notes, steps = [] } = found;
    const isUnknown = hits.length === 0 && isPlain(input);
    const latest = isUnknown ? (await memory.browse('decisions', undefined, { most: LATEST })).entries : [];
    return {
      query: cut(query, QUERY_LENGTH),
      ...(latest.length === 0 ? {} : { latest: latest.map(({ entry }) => memoryData(entry)) }),
      hits: hits.map(({ entry, score, cosine, coverage, matched, sources, stored }) => {
        const { text, ...rest } = memoryData(entry);
        const piece = snippet(text, matched);
        return {
          ...rest,
          snippet: piece.text,
          cut: piece.cut,
          score: rounded(score),
          ...(cosine === undefined ? {} : { meaning: rounded(cosine) }),
          words: rounded(coverage),
          matched: [...matched],
          stored,
          sources,
        };
      }),
      notes: [...notes, ...memory.notes()],
      steps: [...steps],
    };
  },

  render({ query, hits, latest = [], notes, steps = [], memory }, say) {
    if (memory !== undefined) return memoryGet.render(memory as z.output<typeof memoryGet.output>, say);
    const shown = hits.map((hit, index) =>
      lines(
        `${index + 1}. ${headline(hit)}`,
        `   ${hit.snippet}`,
        `   id ${hit.id}${hit.sources.length === 0 ? '' : hit.stored ? t`; also in ${hit.sources.join(', ')}` : t`; in ${hit.sources.join(', ')}`}`,
      ),
    );
    const shortened = hits.find((hit) => hit.cut);
    return {
      body:
        hits.length > 0
          ? lines(hits.some(({ matched }) => matched.length > 0) ? undefined : nearest(), shown)
          : lines(
              t`No memory contains these words.${latest.length === 0 ? '' : t` The latest decisions are:`}`,
              latest.map((each) => t`- ${headline(each)}, id ${each.id}: ${oneLine(each.text, 160)}`),
            ),
      note: lines(notes, notSearched(query, say)),
      steps: [
        ...(shortened === undefined
          ? []
          : [{ operation: 'memory_get', args: { id: shortened.id }, why: t`Read a memory in full` }]),
        ...steps,
      ],
    };
  },
});

const nearest = (): string => t`The nearest in meaning; none shares a word with the question:`;

/** Whether nothing but words was asked for: what is of a type, an agent or a time can be in memory only. */
const isPlain = ({ type, agent, tags, since, until }: Selection): boolean =>
  [type, agent, tags, since, until].every((each) => each === undefined);

/** The same in every answer: what is near a question in memory says nothing about what stands elsewhere. */
function notSearched(query: string, say: SayStep): string {
  const by = (step: Parameters<SayStep>[0]): string => {
    const call = (say.ifTaken ?? say)(step);
    return call === undefined ? '' : ` (${call})`;
  };
  const documents = by({ operation: 'search_codebase', args: { query, lang: 'markdown' } });
  return t`Recall searches neither the project's documents${documents} nor the last session${by({ operation: 'get_project_context' })}.`;
}
