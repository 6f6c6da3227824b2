import type { Run, RunsReading } from '../../model/run.ts';
import { isPutAway } from './branch-standing.ts';
import { byRecency } from './run-view.ts';

const OPEN = new Set(['running', 'paused', 'failed']);

/** Runs that somebody should go on with, the newest first. One that failed is over when its workflow was begun anew. */
export function openRuns({ branches }: RunsReading): Run[] {
  return branches
    .filter((branch) => !isPutAway(branch))
    .flatMap(({ runs }) => runs.filter((run) => OPEN.has(run.status) && !isReplaced(run, runs)))
    .sort(byRecency);
}

function isReplaced(run: Run, others: readonly Run[]): boolean {
  const workflow = workflowOf(run);
  if (run.status !== 'failed' || workflow === undefined) return false;
  return others.some((other) => other !== run && workflowOf(other) === workflow && byRecency(other, run) < 0);
}

export const workflowOf = ({ state }: Run): string | undefined => state?.workflow ?? state?.workflowPath;
