import { say, t } from '../../base/text/message.ts';
import type { Report } from './report.ts';
import { worksOf, type Action, type Work, type Workers } from './workers.ts';

interface Way {
  work: Work;
  what: string;
  why: string;
}

/** What a project is begun with, or begun anew; which of them a wish needs, its reader knows. */
const WAYS: readonly Way[] = [
  { work: 'quick work', what: 'Build it right away', why: 'for one change' },
  { work: 'prd', what: 'Write a PRD', why: 'for several stories' },
  { work: 'brief', what: 'Write a product brief', why: 'for a whole plan' },
  { work: 'brainstorm', what: 'Brainstorm', why: 'for an idea that is not clear yet' },
  {
    work: 'document code',
    what: 'Document the existing code',
    why: 'for code that no document describes',
  },
];

/** The same where there is a plan, which then changes with what is new. */
const WITH_PLAN: readonly Way[] = [
  { work: 'quick work', what: 'Build it right away', why: 'for one change' },
  { work: 'correct course', what: 'Change the plan', why: 'for several stories' },
];

/** The ways to begin something new, as equals. */
export function beginnings(report: Report, workers: Workers, started: readonly string[]): Action[] {
  const { v4 } = report.locations;
  const prd = report.items.find(({ kind, id }) => kind === 'prd' && id === 'prd');
  const begun = new Set(started.flatMap(worksOf));
  const ways = prd?.state === 'complete' ? WITH_PLAN : WAYS;
  const actions = ways.flatMap(({ work, what, why }): Action[] => {
    const worker = isWay(work, report, begun) ? workers.for(work, v4) : undefined;
    if (worker === undefined) return [];
    return [
      {
        what: say(what),
        why: say(why),
        evidence: [],
        worker,
        optional: true,
        of: 'new',
      },
    ];
  });
  return [...actions, ...frames(report, workers)];
}

/**
 * Existing code and open ideas are for projects that have nothing else, and a document that is being written is finished
 * first; another change can always be built.
 */
function isWay(work: Work, report: Report, begun: ReadonlySet<Work>): boolean {
  if (work === 'quick work') return true;
  if (begun.has(work)) return false;
  const isFresh = !isBegun(report);
  if (work === 'document code') return isFresh && report.brownfield;
  if (work === 'brainstorm' || work === 'brief') return isFresh;
  return work !== 'prd' || !report.items.some(({ kind, state }) => kind === 'prd' && state !== 'not started');
}

/** The workflows of version 4 name every step from the idea to the last story. */
function frames(report: Report, workers: Workers): Action[] {
  const type = report.brownfield ? 'brownfield' : 'greenfield';
  const worker = report.locations.v4 && !isBegun(report) ? workers.frame(`${type}-fullstack`) : undefined;
  if (worker === undefined) return [];
  return [
    {
      what: t`Follow the workflow ${worker.name}`,
      why: t`for a whole plan, agent after agent (${type}-service without a user interface, ${type}-ui for a front end)`,
      evidence: [],
      worker,
      optional: true,
      of: 'new',
    },
  ];
}

/** The early alphas begin with the choice of a track, whatever is wanted. */
export function firstSteps(workers: Workers, started: readonly string[]): Action[] {
  const worker = started.flatMap(worksOf).includes('begin') ? undefined : workers.for('begin', false);
  if (worker === undefined) return [];
  const what = t`Choose a track and write the list of workflows`;
  return [{ what, why: t`this version of BMAD starts with it`, evidence: [], worker }];
}

/** Whether there is anything to go on with. */
export function isBegun({ items, files, sprint }: Report): boolean {
  return items.some(({ state }) => state !== 'not started') || files.specs.length > 0 || sprint !== undefined;
}
