import * as z from 'zod';
import { oneLine } from '../../base/text/text.ts';
import { projectField } from '../fields.ts';
import { failureLines, failureSchema, knownFailures, type FailureData } from './failure-view.ts';
import { DATA_NOTE, lines } from '../answer-text.ts';
import { defineOperation } from '../operation.ts';

const MOST = 5;
/** Below these, a past failure has nothing to do with the change: two common words, or nearness in meaning. */
const LEAST_WORDS = 2;
const LEAST_COVERAGE = 0.34;
const LEAST_MEANING = 0.45;
const HIGH = 0.5;

export const checkFailures = defineOperation({
  name: 'check_failures',
  title: 'Check a plan against past failures',
  description:
    "Check whether a planned change resembles the project's past failures, by words and meaning, and which rules to keep.",
  effect: 'read',
  behind: { manage_project: 'check_failures' },
  command: 'project check-failures',
  positional: ['change'],
  examples: ['project check-failures "Mark the story done before the tests have run"'],
  synonyms: { plan: 'change', task: 'change', description: 'change', action: 'change' },
  input: z.strictObject({
    change: z.string().trim().min(1).max(20_000).describe('What you plan to do, in a sentence or two'),
    project: projectField,
  }),
  output: z.object({
    risk: z.enum(['none', 'low', 'high']),
    warnings: z.array(failureSchema.extend({ relevance: z.number(), matched: z.array(z.string()) })),
    rules: z.array(z.string()),
    /** How many failures it was compared with. */
    compared: z.int(),
    notes: z.array(z.string()),
  }),

  async run({ change, project }, context, { signal }) {
    const facts = await (await context.state(project)).facts();
    const { failures, notes } = await knownFailures(facts, context, project);
    const asked = { query: change, alternatives: [], types: ['failures'], tags: [], limit: 30 } as const;
    const memory = await context.memory(project);
    const { hits, notes: more } = await memory.recall({ ...asked, superseded: false }, signal);
    const warnings = hits.flatMap((hit) => {
      const failure = failures.find(
        ({ id, source }) => hit.sources.includes(source) || (hit.stored && id === hit.entry.id),
      );
      const meaning = hit.cosine ?? 0;
      const isAlike =
        hit.matched.length >= LEAST_WORDS || hit.coverage >= LEAST_COVERAGE || meaning >= LEAST_MEANING;
      if (failure === undefined || !isAlike) return [];
      const relevance = Math.round(Math.min(1, Math.max(hit.coverage, meaning)) * 100) / 100;
      return [{ ...failure, relevance, matched: [...hit.matched] }];
    });
    const worst = warnings.sort((a, b) => b.relevance - a.relevance).slice(0, MOST);
    const isHigh = worst.some(
      ({ relevance, severity }) => relevance >= HIGH || (severity === 'critical' && relevance >= 0.7 * HIGH),
    );
    return {
      risk: worst.length === 0 ? ('none' as const) : isHigh ? ('high' as const) : ('low' as const),
      warnings: worst,
      rules: [...new Set(worst.flatMap(ruleOf))],
      compared: failures.length,
      notes: [...notes, ...more.filter((note) => !note.startsWith('All matches are weak'))],
    };
  },

  render({ risk, warnings, rules, compared, notes }) {
    const note = notes.length === 0 ? {} : { note: lines(notes) };
    if (compared === 0) return { body: 'Risk: none. No failures are recorded yet.', ...note };
    if (risk === 'none') return { body: `Risk: none of ${compared} past failures is similar.`, ...note };
    return {
      body: lines(
        DATA_NOTE,
        `Risk: ${risk}`,
        warnings.flatMap((failure) => {
          const [head = '', ...rest] = failureLines(failure, 200);
          return [`- ${Math.round(failure.relevance * 100)} % ${head}`, ...rest];
        }),
        rules.length === 0 ? undefined : 'Rules to keep:',
        rules.map((rule) => `- ${oneLine(rule, 300)}`),
      ),
      ...note,
    };
  },
});

function ruleOf({ rule, lesson }: FailureData): string[] {
  const told = rule ?? lesson;
  return told === undefined ? [] : [told];
}
