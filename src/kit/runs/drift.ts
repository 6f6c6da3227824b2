import { plural } from '../../base/text/text.ts';
import type { RunGraph, RunState } from '../../model/run.ts';
import { lastStep } from './state-file.ts';

/** What a state file says that cannot all be true. One sentence each, in a fixed order. */
export function driftOf(
  { id, branch, archived }: { id: string; branch: string; archived: boolean },
  state: RunState,
  graph: RunGraph | undefined,
): string[] {
  const found: string[] = [];
  const { runId, stepsCompleted, totalSteps, currentStep, resumeFromStep, status } = state;
  if (runId !== undefined && runId !== id)
    found.push('"run_id" differs from the folder name; the folder name is used.');
  if (state.branch !== undefined && state.branch !== branch && !archived)
    found.push('The branch it names differs from the one it is in; the one it is in is used.');
  const done = new Set(stepsCompleted);
  if (done.size < stepsCompleted.length) found.push('"steps_completed" lists a step twice.');
  const last = lastStep(done) ?? 0;
  if (totalSteps !== undefined && last > totalSteps)
    found.push(
      `Step ${last} is completed, but there ${totalSteps === 1 ? 'is' : 'are'} ${plural(totalSteps, 'step')}.`,
    );
  const from = done.has(0) ? 0 : 1;
  const gaps: number[] = [];
  for (let step = from; step < last && gaps.length <= 10; step++) if (!done.has(step)) gaps.push(step);
  const more = gaps.length > 10;
  if (more) gaps.pop();
  if (gaps.length > 0)
    found.push(
      `Step ${last} is completed, but ${gaps.length === 1 ? 'an earlier step is' : 'earlier steps are'} not: ${gaps.join(', ')}${more ? ', …' : '.'}`,
    );
  if (status === 'completed' && totalSteps !== undefined && done.size < totalSteps)
    found.push(`It is marked completed with ${done.size} of ${plural(totalSteps, 'step')} done.`);
  const isOver = totalSteps !== undefined && last >= totalSteps;
  if (status === 'running' && !isOver && currentStep !== undefined && done.has(currentStep))
    found.push(`The current step ${currentStep} is already completed.`);
  if (done.size > 0 && !isOver && resumeFromStep !== undefined && resumeFromStep !== last + 1)
    found.push(`"resume_from_step" is ${resumeFromStep}; after step ${last} the next step is ${last + 1}.`);
  if (
    state.startedAt !== undefined &&
    state.lastCheckpoint !== undefined &&
    new Date(state.lastCheckpoint) < new Date(state.startedAt)
  )
    found.push('The last checkpoint is older than the start.');
  if (graph?.status !== undefined && graph.status !== status)
    found.push('workflow-graph.yaml has another status.');
  return found;
}
