import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { nearest } from '../../base/text/suggest.ts';
import { oneLine } from '../../base/text/text.ts';
import { CATEGORIES, UNKNOWN_CATEGORY } from '../../model/failure.ts';
import { countBy, failureLines, failureSchema, knownFailures, NUMBER } from './failure-view.ts';
import { countsText, lines } from '../answer-text.ts';
import { whereField } from '../fields.ts';
import { defineOperation } from '../operation.ts';

const SHOWN = 10;
/** Of thousands, so many come back unless more are asked for. */
const TOLD = 100;

const museumSchema = z.object({
  failures: z.array(failureSchema),
  total: z.int(),
  /** Of those that were asked for. */
  by_category: z.record(z.string(), z.int()),
  by_severity: z.record(z.string(), z.int()),
  /** Of all there are, where only a category was asked for. */
  all_categories: z.record(z.string(), z.int()).optional(),
  rules: z.array(z.object({ rule: z.string(), from: z.string() })),
  notes: z.array(z.string()),
});

export const getFailureMuseum = defineOperation({
  name: 'get_failure_museum',
  title: 'Failure museum',
  description: 'What went wrong before: past failures, the severest first, and the rules that prevent them.',
  effect: 'read',
  toolset: 'project',
  command: 'project failures',
  positional: ['category'],
  examples: ['project failures', 'project failures CC-FAIL --top-n 3'],
  input: z.strictObject({
    category: z.string().max(60).optional().describe('E.g. CC-FAIL'),
    top_n: z.int().min(1).max(1_000).optional(),
    project: whereField,
  }),
  output: museumSchema,

  async run({ category, top_n: most = TOLD, project }, context) {
    const facts = await (await context.state(project)).facts();
    const { failures, notes } = await knownFailures(facts, context, project);
    const wanted =
      category === undefined || /^all$/i.test(category)
        ? undefined
        : (facts.categoryOf(category) ?? category.toUpperCase());
    const known = [...new Set([...CATEGORIES, UNKNOWN_CATEGORY, ...failures.map((each) => each.category)])];
    if (wanted !== undefined && !known.includes(wanted))
      throw new BmadError('invalid_input', t`There is no category ${quoted(category ?? '')}.`, {
        subject: 'category',
        suggestions: nearest(wanted, known, 2),
        hint: t`Categories: all, ${known.join(', ')}.`,
      });
    const chosen = wanted === undefined ? failures : failures.filter((each) => each.category === wanted);
    const told = chosen.slice(0, Math.max(most, TOLD)).map(({ data }) => data());
    return {
      failures: told.slice(0, most),
      total: chosen.length,
      by_category: countBy(chosen, (each) => each.category),
      by_severity: countBy(chosen, (each) => each.severity),
      ...(wanted === undefined ? {} : { all_categories: countBy(failures, (each) => each.category) }),
      rules: told.flatMap(({ rule, id, source }) =>
        // What the museum numbers is cited by its number, all else by its place.
        rule === undefined
          ? []
          : [{ rule, from: id !== undefined && (NUMBER.test(id) || source === 'memory') ? id : source }],
      ),
      notes,
    };
  },

  render: (data) => ({
    body: museumText(data, SHOWN),
    ...(data.notes.length === 0 ? {} : { note: lines(data.notes) }),
  }),
});

/** The failures and the rules they led to; at most so many. */
export function museumText(data: z.output<typeof museumSchema>, most: number): string {
  const { failures, total, by_category: kinds, by_severity: severities, rules } = data;
  const all = data.all_categories ?? {};
  if (total === 0)
    return Object.keys(all).length === 0
      ? t`No failures are recorded.`
      : t`None in this category; available: ${kindsText({}, all, -1)}.`;
  const shown = failures.slice(0, most);
  const left = total - shown.length;
  return lines(
    `${plural(total, 'failure')} (${kindsText(severities, kinds, total)})`,
    shown.flatMap((failure, index) => {
      const [head = '', ...rest] = failureLines(failure, 300);
      return [`${index + 1}. ${head}`, ...rest];
    }),
    left > 0 ? t`… ${left} more: pass a category or a larger top_n.` : undefined,
    rules.length === 0 ? undefined : t`Rules to keep:`,
    rules.map(({ rule, from }) => `- ${oneLine(rule, 300)} (${from})`),
  );
}

/** How many there are of each sort; those that say nothing about it come last, in plain words. */
function kindsText(
  { unknown = 0, ...severities }: Readonly<Record<string, number>>,
  { [UNKNOWN_CATEGORY]: uncategorized = 0, ...kinds }: Readonly<Record<string, number>>,
  total: number,
): string {
  const without =
    unknown === total && uncategorized === total
      ? [t`without severity and category`]
      : [
          ...(unknown === 0 ? [] : [t`${unknown} without a severity`]),
          ...(uncategorized === 0 ? [] : [t`${uncategorized} without a category`]),
        ];
  return [countsText(severities), countsText(kinds), without.join(', ')]
    .filter((part) => part !== '')
    .join('; ');
}
