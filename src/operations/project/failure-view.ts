import * as z from 'zod';
import { localDay, utcOf } from '../../base/text/local-time.ts';
import { compare, oneLine } from '../../base/text/text.ts';
import { CATEGORIES, SEVERITIES, UNKNOWN_CATEGORY } from '../../model/failure.ts';
import type { MemoryPort, ProjectFacts } from '../context.ts';

/** Failures as the operations about them give them. */

const text = z.string().optional();

/** What the museum numbers itself. */
export const NUMBER = /^FM-\d+$/;

export const failureSchema = z.object({
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
type KnownFailure = Pick<FailureData, 'id' | 'category' | 'severity' | 'status' | 'date' | 'source'> & {
  data(): FailureData;
};

/** Everything that went wrong in a project: the museum, and what was only remembered. The worst and newest first. */
export async function knownFailures(facts: ProjectFacts, context: MemoryPort, project?: string) {
  const { failures, files, problems } = await facts.museum();
  const {
    all,
    ids,
    gone,
    shown: masked,
    notes: told,
  } = await (await context.memory(project)).browseAll('failures');
  const notes = [...new Set([...problems, ...told])];
  return { failures: facts.made([failures, all], inOrder), notes };

  function inOrder(): KnownFailure[] {
    const heads = files.map((file) => `${file}:`);
    const isInMuseum = (source: string): boolean => heads.some((head) => source.startsWith(head));
    const entries = all.filter(({ stored, sources }) => stored || !sources.every(isInMuseum));
    // What was superseded or forgotten by its id still stands in the file.
    const left = new Set(gone);
    const inMuseum = failures
      .filter(({ source, line }) => !left.has(`${source}:${line}`))
      .map((each) => ofMuseum(each, facts, ids.get(`${each.source}:${each.line}`)));
    return ordered([...inMuseum, ...entries.map((each) => remembered(each, facts, masked))]);
  }
}

type InMuseum = Awaited<ReturnType<ProjectFacts['museum']>>['failures'][number];
type Remembered = Awaited<ReturnType<Memory['browseAll']>>['all'][number];
type Memory = Awaited<ReturnType<MemoryPort['memory']>>;

function ofMuseum(failure: InMuseum, facts: ProjectFacts, id: string | undefined): KnownFailure {
  const shown = (value: string | undefined): string | undefined =>
    value === undefined ? undefined : facts.shown(value);
  const about = {
    id: failure.id ?? id,
    category: failure.category,
    severity: failure.severity,
    status: failure.status,
    date: dayOf(failure.date),
    source: `${failure.source}:${failure.line}`,
  };
  return {
    ...about,
    data: () => ({
      ...about,
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

export function countBy<T>(items: readonly T[], key: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[key(item)] = (counts[key(item)] ?? 0) + 1;
  return counts;
}

export function failureLines(failure: FailureData, most: number): string[] {
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
