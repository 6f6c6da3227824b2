import type { Report } from './report.ts';
import { isSmall, isWish, repeated } from './small-wish.ts';
import { worksOf, type Action, type Work, type Workers } from './workers.ts';

const BEGINNINGS: readonly { work: Work; what: string; why: string; optional?: true }[] = [
  {
    work: 'begin',
    what: 'Choose a track and write the list of workflows',
    why: 'this version of BMAD starts with it',
  },
  { work: 'document code', what: 'Document the existing code', why: 'there is code but no plan' },
  {
    work: 'brief',
    what: 'Write a product brief',
    why: 'the project has no BMAD documents yet; PRD, architecture and epics follow, some 30 calls before code',
  },
  { work: 'prd', what: 'Write the PRD', why: 'if the idea is already clear', optional: true },
  {
    work: 'quick work',
    what: 'Build something small right away',
    why: 'for one small change: it goes straight to code, without documents',
    optional: true,
  },
  { work: 'brainstorm', what: 'Brainstorm', why: 'if the idea is not clear yet', optional: true },
];

/** Version 4 builds nothing without a story. */
const ONE_STORY = 'for one small change: one story is written and then built, without other documents';

/** How to begin in a project that has nothing yet; what is wanted and small comes first, and what is under way is begun. */
export function beginnings(
  report: Report,
  workers: Workers,
  { wish, started }: { wish: string; started: readonly string[] },
): Action[] {
  const begun = new Set(started.flatMap(worksOf));
  const said = isWish(wish) ? repeated(wish) : {};
  const actions = plainBeginnings(report, workers, begun).map((action) => ({ ...action, ...said }));
  const { v4 } = report.locations;
  const quick = isWish(wish) && isSmall(wish) ? workers.for('quick work', v4) : undefined;
  // Several commands of one agent may begin something.
  const found = actions.findIndex(
    ({ worker }) =>
      worker !== undefined && worker.record === quick?.record && worker.command === quick.command,
  );
  const built = actions[found];
  if (built === undefined) return actions;
  return [
    {
      ...built,
      why: v4
        ? 'what is wanted is small: one story is written and then built, without other documents'
        : 'what is wanted is small: one story goes straight to code, without documents',
      optional: begun.size > 0,
    },
    ...actions.toSpliced(found, 1).map((action) => ({ ...action, optional: true })),
  ];
}

function plainBeginnings(
  { brownfield, locations: { v4 } }: Report,
  workers: Workers,
  begun: ReadonlySet<Work>,
): Action[] {
  const actions = BEGINNINGS.flatMap(({ work, ...action }): Action[] => {
    const worker = work === 'document code' && !brownfield ? undefined : workers.for(work, v4);
    if (worker === undefined || begun.has(work)) return [];
    const why = v4 && work === 'quick work' ? ONE_STORY : action.why;
    return [{ ...action, why, evidence: [], worker, optional: action.optional === true || begun.size > 0 }];
  });
  const type = brownfield ? 'brownfield' : 'greenfield';
  const frame = v4 ? workers.frame(`${type}-fullstack`) : undefined;
  if (frame === undefined) return actions;
  const needed = actions.filter(({ optional }) => optional !== true);
  const action: Action = {
    what: `Follow the workflow ${frame.name}`,
    why: `it names every step from the idea to the last story; ${type}-service is for a product without a user interface, ${type}-ui for a front end`,
    evidence: [],
    worker: frame,
    optional: true,
  };
  return [...needed, action, ...actions.filter(({ optional }) => optional === true)];
}
