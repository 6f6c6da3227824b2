import { fenced, oneLine, plural, written } from '../../base/text/text.ts';
import { lines } from '../answer-text.ts';
import { begunText } from './begun-step.ts';
import { nextLine, stepsText, type RunData } from './run-view.ts';

/** Everything about a run, for a person or a model. What others wrote is marked as such. */
export function runText(run: RunData): string {
  const where = run.archive === undefined ? `session branch ${run.branch}` : `archived, ${run.archive}`;
  const standing = `${run.status}, ${stepsText(run.progress)}${begunText(run)}`;
  const notes = [
    run.agent_notes ?? '',
    ...run.issues.map((issue) => `Issue: ${written(asText(issue), 300)}`),
  ];
  const told = notes.filter((note) => note !== '').join('\n');
  return lines(
    `Run ${run.run_id} (${where}): ${standing}`,
    `Workflow: ${workflowText(run)}`,
    run.agent === undefined ? undefined : `Agent: ${oneLine(run.agent, 100)}`,
    run.started_at === undefined
      ? undefined
      : `Started ${run.started_at}, last checkpoint ${run.last_checkpoint ?? 'none'}${run.checkpoint_id === undefined ? '' : ` (${run.checkpoint_id})`}`,
    run.steps_completed.length === 0
      ? undefined
      : `Done: ${run.steps_completed.length === 1 ? 'step' : 'steps'} ${listed(run.steps_completed)}`,
    run.last_step === undefined ? undefined : `Last recorded: ${written(run.last_step, 200)}`,
    nextLine(run),
    run.graph === undefined ? undefined : graphText(run.graph),
    `Folder: ${run.folder}`,
    run.artefacts.length === 0 ? undefined : 'Artefacts:',
    run.artefacts.map(
      ({ step, name, path, exists, file }) =>
        `- ${step === undefined ? '' : `step ${step}, `}${oneLine(name, 100)}: ${file ?? path}${exists ? '' : ' (missing)'}`,
    ),
    run.problems.length === 0 ? undefined : 'Problems:',
    run.problems.map((problem) => `- ${problem}`),
    Object.keys(run.session_variables).length === 0
      ? undefined
      : `Variables:\n${fenced(JSON.stringify(run.session_variables, null, 2), 'json')}`,
    told === '' ? undefined : `Notes:\n${fenced(told, 'text')}`,
  );
}

/** What it was begun with; where that is not here, what is served instead, or that nothing is. */
function workflowText({
  workflow,
  workflow_path: path,
  served,
  workflow_missing: isMissing,
  aside,
}: RunData): string {
  const begun = workflow ?? path ?? 'unknown';
  if (isMissing === true) return `${begun} (missing: no workflow of this name is served)`;
  // Nobody should start what has only the name of what is gone.
  if (served === undefined || served === begun || aside?.kind === 'dead') return begun;
  return `${begun} (served here as ${served})`;
}

const LISTED_STEPS = 40;

function listed(steps: readonly number[]): string {
  const more = steps.length - LISTED_STEPS;
  return `${steps.slice(0, LISTED_STEPS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function graphText({ total, completed, running, failed }: NonNullable<RunData['graph']>): string {
  return [
    `Graph: ${completed} of ${plural(total, 'node')}`,
    running.length === 0 ? undefined : `running: ${oneLine(running.join(', '), 200)}`,
    failed.length === 0 ? undefined : `failed: ${oneLine(failed.join(', '), 200)}`,
  ]
    .filter((part) => part !== undefined)
    .join('; ');
}

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
