import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { oneLine } from '../../base/text/text.ts';
import { projectField } from '../fields.ts';
import { failureLines, failureSchema, knownFailures, type FailureData } from './failure-view.ts';
import { lines } from '../answer-text.ts';
import { defineOperation } from '../operation.ts';

const MOST = 5;

export const checkFailures = defineOperation({
  name: 'check_failures',
  title: 'Check a plan against past failures',
  description:
    "The project's past failures that are nearest to a planned change, by words and meaning, and the rules that came of them.",
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
    /** The nearest first. */
    warnings: z.array(failureSchema),
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
    const { hits, notes: more } = await memory.recall({ ...asked, superseded: false, related: true }, signal);
    const near = hits.flatMap(
      (hit) =>
        failures.find(
          ({ id, source }) => hit.sources.includes(source) || (hit.stored && id === hit.entry.id),
        ) ?? [],
    );
    const warnings = [...new Set(near)].slice(0, MOST).map(({ data }) => data());
    return {
      warnings,
      rules: [...new Set(warnings.flatMap(ruleOf))],
      compared: failures.length,
      notes: [...notes, ...more],
    };
  },

  render: ({ warnings, rules, compared, notes }) => ({
    body:
      warnings.length === 0
        ? compared === 0
          ? t`No failures are recorded yet.`
          : t`None of ${plural(compared, 'past failure')} has anything in common with it.`
        : lines(
            t`Past failures, the nearest first (${warnings.length} of ${compared}):`,
            warnings.flatMap((failure) => {
              const [head = '', ...rest] = failureLines(failure, 200);
              return [`- ${head}`, ...rest];
            }),
            rules.length === 0 ? undefined : t`Rules to keep:`,
            rules.map((rule) => `- ${oneLine(rule, 300)}`),
          ),
    ...(notes.length === 0 ? {} : { note: lines(notes) }),
  }),
});

function ruleOf({ rule, lesson }: FailureData): string[] {
  const told = rule ?? lesson;
  return told === undefined ? [] : [told];
}
