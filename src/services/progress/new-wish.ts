import type { Report } from './report.ts';
import { isSmall, isWish, repeated } from './small-wish.ts';
import { storyInput } from './story-inputs.ts';
import type { Action, Worker, Workers } from './workers.ts';

/** What leads to something that the user wants beyond the plan; a project without one has beginnings for it. */
export function wishAction(report: Report, workers: Workers, wish: string): Action | undefined {
  const { v4 } = report.locations;
  // A story of the plan is among its own actions.
  if (!isWish(wish) || storyInput(report, [], wish) !== undefined) return undefined;
  if (isSmall(wish)) {
    const worker = workers.for('quick work', v4);
    return worker && { ...small(worker), evidence: [], worker, ...repeated(wish) };
  }
  const plan = report.items.find(({ kind, id }) => kind === 'prd' && id === 'prd');
  if (plan?.state === 'not started') {
    const worker = workers.for('prd', v4);
    const why = 'it is more than one story, and there is no plan yet';
    return (
      worker && { what: 'Write the PRD for what is wanted', why, evidence: [], worker, ...repeated(wish) }
    );
  }
  const worker = plan?.state === 'complete' ? workers.for('correct course', v4) : undefined;
  return (
    worker && {
      what: 'Bring what is wanted into the plan',
      why: 'if it is not planned yet: the PRD, the architecture and the epics are changed where it needs that',
      evidence: plan?.evidence.slice(0, 1) ?? [],
      worker,
      ...repeated(wish),
      optional: true,
    }
  );
}

/** A developer of version 4 builds nothing without a story. */
function small({ command }: Worker): Pick<Action, 'what' | 'why'> {
  return {
    what: 'Build what is wanted now',
    why:
      command !== undefined
        ? 'it is small, and no story of the plan: one story is written and then built'
        : 'it is small, and no story of the plan: it goes straight to code',
  };
}
