import type { Run, RunsReading } from '../../model/run.ts';
import { isPutAway } from './branch-standing.ts';
import { byRecency } from './run-view.ts';

const OPEN = new Set(['running', 'paused', 'failed']);

/** Runs that somebody should go on with, the newest first. One that failed is over when its workflow was begun anew. */
export function openRuns({ branches }: RunsReading): Run[] {
  return branches
    .filter((branch) => !isPutAway(branch))
    .flatMap(({ runs }) => {
      const open = runs.filter(isOpen);
      if (open.every(({ status }) => status !== 'failed')) return open;
      const newest = newestByWorkflow(runs);
      return open.filter((run) => !isReplaced(run, newest));
    })
    .sort(byRecency);
}

export const isOpen = ({ status }: Run): boolean => OPEN.has(status);

/** The newest run of each workflow. */
function newestByWorkflow(runs: readonly Run[]): ReadonlyMap<string, Run> {
  const newest = new Map<string, Run>();
  for (const run of runs) {
    const workflow = workflowOf(run);
    const known = workflow === undefined ? undefined : newest.get(workflow);
    if (workflow !== undefined && (known === undefined || byRecency(run, known) < 0))
      newest.set(workflow, run);
  }
  return newest;
}

function isReplaced(run: Run, newest: ReadonlyMap<string, Run>): boolean {
  const other = run.status === 'failed' ? newest.get(workflowOf(run) ?? '') : undefined;
  return other !== undefined && other !== run && byRecency(other, run) < 0;
}

export const workflowOf = ({ state }: Run): string | undefined => state?.workflow ?? state?.workflowPath;
