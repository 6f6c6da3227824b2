import * as z from 'zod';
import { localDay, utcOf } from '../../base/text/local-time.ts';
import { compare, oneLine, written } from '../../base/text/text.ts';
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
  const shown = (value: string | undefined): string | undefined =>
    value === undefined ? undefined : facts.shown(value);
  const heads = files.map((file) => `${file}:`);
  const isInMuseum = (source: string): boolean => heads.some((head) => source.startsWith(head));
  const { entries, ids, gone, notes } = await (
    await context.memory(project)
  ).browse('failures', undefined, {
    takes: ({ stored, sources }) => stored || !sources.every(isInMuseum),
  });
  // What was superseded or forgotten by its id still stands in the file.
  const left = new Set(gone);
  const inMuseum = failures.flatMap((each): KnownFailure | [] => {
    const source = `${each.source}:${each.line}`;
    if (left.has(source)) return [];
    const about = {
      id: each.id ?? ids.get(source),
      category: each.category,
      severity: each.severity,
      status: each.status,
      date: dayOf(each.date),
      source,
    };
    return {
      ...about,
      data: () => ({
        ...about,
        title: facts.shown(each.title),
        agents: each.agents,
        what_happened: shown(each.happened),
        root_cause: shown(each.cause),
        impact: shown(each.impact),
        lesson: shown(each.lesson),
        fix: shown(each.fix),
        rule: shown(each.rule),
        tags: each.tags,
      }),
    };
  });
  const remembered = entries.map(({ entry, sources, dated }): KnownFailure => {
    const told = facts.failureIn(entry.text, entry.tags);
    const marks = new Set(entry.text.toUpperCase().split(/[\s:[\]]+/));
    const about = {
      id: entry.id,
      category:
        told.category === UNKNOWN_CATEGORY
          ? (CATEGORIES.find((category) => marks.has(category)) ?? UNKNOWN_CATEGORY)
          : told.category,
      severity: told.severity,
      status: told.status,
      date: dated ? localDay(new Date(entry.createdAt)) : undefined,
      source: sources[0] ?? 'memory',
    };
    return {
      ...about,
      data: () => ({
        ...about,
        title: oneLine(told.title, 200),
        agents: [entry.agent],
        what_happened: told.happened ?? (told.title.length > 200 ? told.title : undefined),
        root_cause: told.cause,
        impact: told.impact,
        lesson: told.lesson,
        fix: told.fix,
        rule: told.rule,
        tags: [...entry.tags],
      }),
    };
  });
  return { failures: ordered([...inMuseum, ...remembered]), notes: [...new Set([...problems, ...notes])] };
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
    value === undefined ? [] : [`   ${name}: ${written(value, most)}`];
  return [
    `${severity === 'unknown' ? '' : `[${severity}] `}${category === UNKNOWN_CATEGORY ? '' : `${category}: `}${written(title, 200)} (${[date, agents.join(', '), status === 'open' ? 'open' : '', named, source].filter(Boolean).join('; ')})`,
    ...part('happened', failure.what_happened),
    ...part('cause', failure.root_cause),
    ...part('impact', failure.impact),
    ...part('lesson', failure.lesson ?? failure.fix),
    ...part('rule', failure.rule),
  ];
}
