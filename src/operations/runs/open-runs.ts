import { plural } from '../../base/text/text.ts';
import type { Run, RunsReading } from '../../model/run.ts';
import { isPutAway } from './branch-standing.ts';
import { allDone, byRecency, runData } from './run-view.ts';

const OPEN = new Set(['running', 'paused', 'failed']);

/** Runs that somebody should go on with, the newest first. One that failed is over when its workflow was begun anew. */
function openRuns({ branches }: RunsReading): Run[] {
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

const workflowOf = ({ state }: Run): string | undefined => state?.workflow ?? state?.workflowPath;

interface RunAction {
  what: string;
  why: string;
  action: { name: 'run_resume' | 'run_finish'; args: { run_id: string; branch?: string } };
  evidence: { file: string; says: string }[];
}

const NAMED = 3;

/** What is begun comes before anything new: the newest open run, and which others there are. */
export function runAction(reading: RunsReading, root: string): RunAction | undefined {
  const [first, ...others] = openRuns(reading);
  if (first === undefined) return undefined;
  const run = runData(first, root);
  const over = allDone(run);
  const { completed, total } = run.progress;
  const steps = total === undefined ? '' : `, ${completed} of ${plural(total, 'step')}`;
  const more = others.length > NAMED ? ` and ${others.length - NAMED} more` : '';
  const also =
    others.length === 0
      ? ''
      : `; also open: ${others
          .slice(0, NAMED)
          .map(({ id }) => id)
          .join(', ')}${more}`;
  const place = run.branch === 'main' ? {} : { branch: run.branch };
  return {
    what: `${over ? 'End' : 'Resume'} run ${run.run_id}`,
    why: `it is ${run.status}${over ? ' and all its steps are done' : steps}${also}`,
    action: { name: over ? 'run_finish' : 'run_resume', args: { run_id: run.run_id, ...place } },
    evidence: [{ file: `${run.folder}/state.json`, says: run.status }],
  };
}
