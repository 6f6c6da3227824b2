import * as z from 'zod';
import { oneLine, plural } from '../../base/text/text.ts';
import { MEMORY_TYPES } from '../../model/memory.ts';
import { lines } from '../answer-text.ts';
import type { Context } from '../context.ts';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';

const hitSchema = z.object({ id: z.string(), score: z.number(), text: z.string() });

export const embedderTry = defineOperation({
  name: 'embedder_try',
  title: 'Compare embedders',
  description:
    "Ask the project's memories one question with each embedder: the built-in one, tables that were added, and those the settings name. Shows what each finds, by meaning alone, and how long it takes.",
  effect: 'read',
  command: 'embedder try',
  positional: ['question'],
  examples: ['embedder try "how do we deploy?"'],
  input: z.strictObject({
    question: z.string().min(1).max(2_000).describe('Question that the memories should answer'),
    memories: z.int().min(1).max(10_000).default(500).describe('How many of the newest to compare'),
    limit: z.int().min(1).max(20).default(3).describe('How many to show for each'),
    project: projectField,
  }),
  output: z.object({
    memories: z.int(),
    trials: z.array(
      z.object({
        name: z.string(),
        id: z.string().optional(),
        dim: z.int().optional(),
        openMs: z.number().optional(),
        textMs: z.number().optional(),
        hits: z.array(hitSchema),
        problem: z.string().optional(),
      }),
    ),
  }),
  async run({ question, memories: most, limit, project }, context, call) {
    const texts = await newest(context, project, most);
    const embedders = await context.embedders();
    const trials =
      texts.length === 0
        ? []
        : await embedders.compare(
            question,
            texts.map(({ text }) => text),
            limit,
            call.signal,
          );
    return {
      memories: texts.length,
      trials: trials.map(({ hits, openMs, textMs, ...trial }) => ({
        ...trial,
        ...(openMs === undefined ? {} : { openMs: rounded(openMs, 1) }),
        ...(textMs === undefined ? {} : { textMs: rounded(textMs, 3) }),
        hits: hits.map(({ index, score }) => ({
          id: texts[index]?.id ?? '',
          score: rounded(score, 3),
          text: texts[index]?.text ?? '',
        })),
      })),
    };
  },
  render: ({ memories, trials }) =>
    memories === 0
      ? { body: 'This project has no memories to compare.' }
      : {
          body: trials
            .map(({ name, id, dim, openMs, textMs, hits, problem }) =>
              lines(
                problem === undefined
                  ? `${name}: ${id ?? ''}, ${dim ?? 0} dimensions, ready in ${openMs ?? 0} ms, ${textMs ?? 0} ms a text`
                  : `${name}: ${problem}`,
                hits.map(({ score, text }) => `  ${score.toFixed(3)} ${oneLine(text, 120)}`),
              ),
            )
            .join('\n\n'),
          note: `${plural(memories, 'memory', 'memories')} compared by meaning alone; recall compares words as well. Scores of different embedders are on different scales: compare the order.`,
        },
});

interface Remembered {
  id: string;
  text: string;
  at: string;
}

/** What the store and the project's files have, newest first. */
async function newest(context: Context, project: string | undefined, most: number): Promise<Remembered[]> {
  const memory = await context.memory(project, false);
  const found: Remembered[] = [];
  for (const type of MEMORY_TYPES)
    for (const { entry } of (await memory.browse(type, undefined, { most })).entries)
      found.push({ id: entry.id, text: entry.text, at: entry.createdAt });
  return found.sort((a, b) => (a.at > b.at ? -1 : 1)).slice(0, most);
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
