import * as z from 'zod';
import { plural, written } from '../../base/text/text.ts';
import { SEVERITIES } from '../../model/failure.ts';
import { projectField } from '../fields.ts';
import { failureLines, failureSchema, knownFailures, type FailureData } from './failure-view.ts';
import { DATA_NOTE, lines } from '../answer-text.ts';
import { defineOperation } from '../operation.ts';

const MOST = 5;
/** Below these, a past failure has nothing to do with the change: two common words, or nearness in meaning. */
const LEAST_WORDS = 2;
const LEAST_COVERAGE = 0.34;
const LEAST_MEANING = 0.45;
/** From here on it is the same thing again, however bad it was. */
const HIGH = 0.5;
/** From here on a match is strong enough for its severity to count. */
const STRONG = 0.25;
const STRONG_WORDS = 3;

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
    /** What the risk follows from. */
    why: z.string(),
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
    const { hits, notes: more } = await memory.recall({ ...asked, superseded: false, related: true }, signal);
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
    return {
      ...riskOf(worst, failures.length, change),
      warnings: worst,
      rules: [...new Set(worst.flatMap(ruleOf))],
      compared: failures.length,
      notes: [...notes, ...more],
    };
  },

  render({ risk, why, warnings, rules, notes }) {
    const note = notes.length === 0 ? {} : { note: lines(notes) };
    if (risk === 'none') return { body: `Risk: none. ${why}`, ...note };
    return {
      body: lines(
        DATA_NOTE,
        `Risk: ${risk}. ${why}`,
        warnings.flatMap((failure) => {
          const [head = '', ...rest] = failureLines(failure, 200);
          return [`- ${percent(failure)}${isStrong(failure) ? '' : ', a weak match:'} ${head}`, ...rest];
        }),
        rules.length === 0 ? undefined : 'Rules to keep:',
        rules.map((rule) => `- ${written(rule, 300)}`),
      ),
      ...note,
    };
  },
});

function ruleOf({ rule, lesson }: FailureData): string[] {
  const told = rule ?? lesson;
  return told === undefined ? [] : [told];
}

type Warning = FailureData & { relevance: number; matched: readonly string[] };

const percent = ({ relevance }: Warning): string => `${Math.round(relevance * 100)} %`;

const isStrong = ({ relevance, matched }: Warning): boolean =>
  relevance >= STRONG || matched.length >= STRONG_WORDS;

/** The risk is that of the worst failure among those that are similar enough; the others are only named. */
function riskOf(
  warnings: readonly Warning[],
  compared: number,
  plan: string,
): { risk: 'none' | 'low' | 'high'; why: string } {
  if (compared === 0) return { risk: 'none', why: 'No failures are recorded yet.' };
  if (warnings.length === 0)
    return { risk: 'none', why: `None of ${plural(compared, 'past failure')} is similar.` };
  const strong = warnings.filter(isStrong);
  const [worst] = strong.toSorted(
    (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || b.relevance - a.relevance,
  );
  if (worst === undefined)
    return {
      risk: 'low',
      why: 'The plan has only a few words in common with these, whatever their severity.',
    };
  const again = strong.find(({ relevance }) => relevance >= HIGH);
  const decisive = worst.severity === 'critical' ? worst : (again ?? worst);
  const how = decisive.severity === 'unknown' ? 'A past failure' : `A past failure (${decisive.severity})`;
  const common = asWritten(decisive.matched, plan);
  const words = common.length === 0 ? '' : `: ${common.join(', ')}`;
  return {
    risk: worst.severity === 'critical' || again !== undefined ? 'high' : 'low',
    why: `${how} is similar, by ${percent(decisive)}${words}.`,
  };
}

/** Compared are the stems of words, without accents; people want to see the words of their plan. */
function asWritten(stems: readonly string[], plan: string): string[] {
  const words = plan.match(/[\p{L}\p{N}]+/gu) ?? [];
  const plain = (word: string): string => word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  const found = stems.flatMap((stem) => words.find((word) => plain(word).startsWith(stem)) ?? []);
  return [...new Set(found)];
}
