import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { localDay, utcOf, compare, oneLine } from '../../base/text/text.ts';
import { plural, t } from '../../base/text/message.ts';
import { nearest } from '../../base/text/suggest.ts';
import { CATEGORIES, SEVERITIES, UNKNOWN_CATEGORY } from '../../model/memory.ts';
import { projectField, tagsField, whereField } from '../fields.ts';
import { countsText, lines } from '../answer-text.ts';
import { loggedAs } from '../catalogue/agent-names.ts';
import type { MemoryPort, ProjectFacts } from '../context.ts';
import { defineOperation } from '../operation.ts';
import { agentField, languageNote, lineField, logged, loggedSchema } from './logs.ts';

/** Failures as the operations about them give them. */

const text = z.string().optional();

/** What the museum numbers itself. */
const NUMBER = /^FM-\d+$/;

const failureSchema = z.object({
  id: text,
  title: z.string(),
  category: z.string(),
  severity: z.enum(SEVERITIES),
  status: z.enum(['open', 'resolved', 'wontfix', 'unknown']),
  date: text,
  agents: z.array(z.string()),
  what_happened: text,
  root_cause: text,
  impact: text,
  lesson: text,
  fix: text,
  rule: text,
  tags: z.array(z.string()),
  source: z.string(),
});
export type FailureData = z.output<typeof failureSchema>;

/** A failure by what decides about its place among others; the rest is put together for those that are shown. */
type KnownFailure = Pick<FailureData, 'category' | 'severity' | 'status' | 'date' | 'source'> & {
  /** In the store. */
  id: string | undefined;
  data(): FailureData;
};

/** Everything that went wrong in a project: the museum, and what was only remembered. The worst and newest first. */
async function knownFailures(facts: ProjectFacts, context: MemoryPort) {
  const { failures, files, problems } = await facts.museum();
  const {
    all,
    idAt,
    gone,
    shown: masked,
    notes: told,
  } = await (await context.memory()).browseAll('failures', files);
  const notes = [...new Set([...problems, ...told])];
  return { failures: facts.made([failures, all], inOrder), notes };

  function inOrder(): KnownFailure[] {
    // What was superseded or forgotten by its id still stands in the file.
    const left = new Set(gone);
    const living =
      left.size === 0 ? failures : failures.filter(({ source, line }) => !left.has(`${source}:${line}`));
    const inMuseum = living.map((each) => ofMuseum(each, facts, idAt));
    return ordered([...inMuseum, ...all.map((each) => remembered(each, facts, masked))]);
  }
}

type InMuseum = Awaited<ReturnType<ProjectFacts['museum']>>['failures'][number];
type Remembered = Awaited<ReturnType<Memory['browseAll']>>['all'][number];
type Memory = Awaited<ReturnType<MemoryPort['memory']>>;

function ofMuseum(
  failure: InMuseum,
  facts: ProjectFacts,
  idAt: (place: string) => string | undefined,
): KnownFailure {
  const shown = (value: string | undefined): string | undefined =>
    value === undefined ? undefined : facts.shown(value);
  const { category, severity, status } = failure;
  const date = dayOf(failure.date);
  const source = `${failure.source}:${failure.line}`;
  return {
    id: undefined,
    source,
    category,
    severity,
    status,
    date,
    data: () => ({
      id: failure.id ?? idAt(source),
      category,
      severity,
      status,
      date,
      source,
      title: facts.shown(failure.title),
      agents: failure.agents,
      what_happened: shown(failure.happened),
      root_cause: shown(failure.cause),
      impact: shown(failure.impact),
      lesson: shown(failure.lesson),
      fix: shown(failure.fix),
      rule: shown(failure.rule),
      tags: failure.tags,
    }),
  };
}

function remembered(
  { entry, sources, dated }: Remembered,
  facts: ProjectFacts,
  masked: (entry: Remembered['entry']) => Remembered['entry'],
): KnownFailure {
  const { category, severity, status } = facts.failureIn(entry.text, entry.tags);
  const marks = new Set(entry.text.toUpperCase().split(/[\s:[\]]+/));
  const about = {
    id: entry.id,
    category:
      category === UNKNOWN_CATEGORY
        ? (CATEGORIES.find((each) => marks.has(each)) ?? UNKNOWN_CATEGORY)
        : category,
    severity,
    status,
    date: dated ? localDay(new Date(entry.createdAt)) : undefined,
    source: sources[0] ?? 'memory',
  };
  return {
    ...about,
    data() {
      const { agent, text: own, tags } = masked(entry);
      const told = facts.failureIn(own, tags);
      return {
        ...about,
        title: oneLine(told.title, 200),
        agents: [agent],
        what_happened: told.happened ?? (told.title.length > 200 ? told.title : undefined),
        root_cause: told.cause,
        impact: told.impact,
        lesson: told.lesson,
        fix: told.fix,
        rule: told.rule,
        tags: [...tags],
      };
    },
  };
}

/** The severest first, then what is still open, then what happens again and again, then the newest. */
function ordered(failures: readonly KnownFailure[]): KnownFailure[] {
  const times = countBy(failures, ({ category }) => category);
  const ranked = failures.map((failure) => {
    const { category, severity, status } = failure;
    const rank = SEVERITIES.indexOf(severity) * 2 + (status === 'open' ? 0 : 1);
    return { failure, rank, again: category === UNKNOWN_CATEGORY ? 0 : (times[category] ?? 0) };
  });
  return ranked
    .sort(
      (a, b) => a.rank - b.rank || b.again - a.again || compare(b.failure.date ?? '', a.failure.date ?? ''),
    )
    .map(({ failure }) => failure);
}

const DAY = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/;

/** The day that a file names; most name just that, and there may be thousands. */
function dayOf(date: string | undefined): string | undefined {
  if (date !== undefined && DAY.test(date)) return date;
  const at = utcOf(date);
  return at === undefined ? undefined : localDay(new Date(at));
}

function countBy<T>(items: readonly T[], key: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) {
    const name = key(item);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

function failureLines(failure: FailureData, most: number): string[] {
  const { id, title, category, severity, status, date, agents, source } = failure;
  const named = id === undefined || NUMBER.test(id) ? id : `id ${id}`;
  const part = (name: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`   ${name}: ${oneLine(value, most)}`];
  return [
    `${severity === 'unknown' ? '' : `[${severity}] `}${category === UNKNOWN_CATEGORY ? '' : `${category}: `}${oneLine(title, 200)} (${[date, agents.join(', '), status === 'open' ? 'open' : '', named, source].filter(Boolean).join('; ')})`,
    ...part('happened', failure.what_happened),
    ...part('cause', failure.root_cause),
    ...part('impact', failure.impact),
    ...part('lesson', failure.lesson ?? failure.fix),
    ...part('rule', failure.rule),
  ];
}

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
  description:
    'Ask what went wrong before, so that it does not happen again: past failures, the severest first, and the rules that prevent them.',
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

  async run({ category, top_n: most = TOLD }, context) {
    const facts = await (await context.state()).facts();
    const { failures, notes } = await knownFailures(facts, context);
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

  async run({ change }, context, { signal }) {
    const facts = await (await context.state()).facts();
    const { failures, notes } = await knownFailures(facts, context);
    const asked = { query: change, type: 'failures', limit: 30, related: true } as const;
    const memory = await context.memory();
    const { hits, notes: more } = await memory.recall(asked, signal);
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

export const logFailure = defineOperation({
  name: 'log_failure',
  title: 'Log a failure',
  description:
    "Record a failure in the project's museum, in its format, so that no one repeats it. Include the lesson and the rule.",
  effect: 'write',
  keeps: true,
  behind: { manage_project: 'log_failure' },
  command: 'log failure',
  positional: ['title'],
  synonyms: {
    failure: 'title',
    summary: 'title',
    description: 'what_happened',
    details: 'what_happened',
    cause: 'root_cause',
    resolution: 'fix',
    prevention: 'rule',
  },
  examples: [
    'log failure "Story closed with red tests" --category CC-FAIL --severity critical --agent dev --rule "No done without a passing contract"',
  ],
  input: z.strictObject({
    title: z.string().trim().min(3).max(300).describe('What went wrong, in a few words'),
    category: z.enum(CATEGORIES).describe(CATEGORIES.join(', ')),
    severity: z
      .enum(['critical', 'important', 'micro'])
      .default('important')
      .describe('critical (work lost or blocked), important (default), micro'),
    agent: agentField.optional().describe('The agent it happened to'),
    what_happened: lineField.optional().describe('The facts'),
    root_cause: lineField.optional().describe('Why it happened'),
    impact: lineField.optional().describe('What it cost'),
    lesson: lineField.optional().describe('What is done differently now'),
    fix: lineField.optional().describe('How it was repaired'),
    rule: lineField.optional().describe('The rule that prevents it'),
    status: z
      .enum(['open', 'resolved', 'wontfix'])
      .default('resolved')
      .describe('resolved (default), open or wontfix'),
    tags: tagsField.optional().describe('Words to find it by'),
    project: projectField,
  }),
  output: loggedSchema,

  async run(input, context, { signal }) {
    const {
      agent,
      what_happened: happened,
      root_cause: cause,
      tags = [],
      project: _project,
      ...told
    } = input;
    const { title, category, severity } = told;
    const who = agent === undefined ? undefined : await loggedAs(agent, context);
    const facts = await (await context.state()).facts();
    const failure = { ...told, agent: who, happened, cause, tags };
    const said = [title, happened, cause, told.lesson, told.rule].filter((each) => each !== undefined);
    const language = await facts.otherLanguage(said.join('. '));
    const spoken = language === undefined ? [] : [languageNote(language)];
    if (facts.keepsLines) {
      const memory = await context.memory();
      const { outcome, entry, notes } = await memory.remember(
        {
          type: 'failures',
          agent: who ?? 'team',
          text: await facts.failureText(failure),
          tags: [...new Set([severity, ...tags])],
        },
        signal,
      );
      const where = t`Kept as a memory in ${memory.place.folder}: the project has no museum of the kit.`;
      return { outcome, id: entry.id, text: title, files: [], notes: [where, ...notes, ...spoken] };
    }
    const { id, files, added, notes } = await facts.logFailure(failure);
    const traced = added
      ? await facts.trace(who ?? 'team', 'ERROR', `${category} — ${title}`)
      : { files: [], notes: [] };
    return {
      outcome: added ? ('created' as const) : ('unchanged' as const),
      ...(id === undefined ? {} : { id }),
      text: title,
      files: [...files, ...traced.files],
      notes: [...notes, ...traced.notes, ...spoken],
    };
  },
  render: (data) => logged('failure', data),
});
