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

/** Everything that went wrong in a project: the museum, and what was only remembered. The worst and newest first. */
export async function knownFailures(facts: ProjectFacts, context: MemoryPort, project?: string) {
  const { failures, files, problems } = await facts.museum();
  const shown = (value: string | undefined): string | undefined =>
    value === undefined ? undefined : facts.shown(value);
  const { entries, gone, notes } = await (await context.memory(project)).browse('failures');
  const ids = new Map(entries.flatMap(({ entry, sources }) => sources.map((place) => [place, entry.id])));
  const placeOf = ({ source, line }: (typeof failures)[number]): string => `${source}:${line}`;
  // What was superseded or forgotten by its id still stands in the file.
  const current = failures.filter((each) => !gone.includes(placeOf(each)));
  const inMuseum = current.map((each): FailureData => {
    const at = utcOf(each.date);
    return {
      id: each.id ?? ids.get(placeOf(each)),
      title: facts.shown(each.title),
      category: each.category,
      severity: each.severity,
      status: each.status,
      date: at === undefined ? undefined : localDay(new Date(at)),
      agents: each.agents,
      what_happened: shown(each.happened),
      root_cause: shown(each.cause),
      impact: shown(each.impact),
      lesson: shown(each.lesson),
      fix: shown(each.fix),
      rule: shown(each.rule),
      tags: each.tags,
      source: placeOf(each),
    };
  });
  const remembered = entries
    .filter(({ stored, sources }) => stored || !sources.every((source) => isIn(source, files)))
    .map(({ entry, sources, dated }): FailureData => {
      const told = facts.failureIn(entry.text, entry.tags);
      const marks = new Set(entry.text.toUpperCase().split(/[\s:[\]]+/));
      return {
        id: entry.id,
        title: oneLine(told.title, 200),
        category:
          told.category === UNKNOWN_CATEGORY
            ? (CATEGORIES.find((category) => marks.has(category)) ?? UNKNOWN_CATEGORY)
            : told.category,
        severity: told.severity,
        status: told.status,
        date: dated ? localDay(new Date(entry.createdAt)) : undefined,
        agents: [entry.agent],
        what_happened: told.happened ?? (told.title.length > 200 ? told.title : undefined),
        root_cause: told.cause,
        impact: told.impact,
        lesson: told.lesson,
        fix: told.fix,
        rule: told.rule,
        tags: [...entry.tags],
        source: sources[0] ?? 'memory',
      };
    });
  return { failures: ordered([...inMuseum, ...remembered]), notes: [...new Set([...problems, ...notes])] };
}

function isIn(source: string, files: readonly string[]): boolean {
  return files.some((file) => source.startsWith(`${file}:`));
}

/** The severest first, then what is still open, then what happens again and again, then the newest. */
function ordered(failures: readonly FailureData[]): FailureData[] {
  const times = countBy(failures, ({ category }) => category);
  const again = ({ category }: FailureData): number =>
    category === UNKNOWN_CATEGORY ? 0 : (times[category] ?? 0);
  return failures.toSorted(
    (a, b) =>
      SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
      Number(b.status === 'open') - Number(a.status === 'open') ||
      again(b) - again(a) ||
      compare(b.date ?? '', a.date ?? ''),
  );
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
