import { plural, say, t } from '../../base/text/message.ts';
import { fenced, oneLine } from '../../base/text/text.ts';
import { lines } from '../answer-text.ts';
import { begunText, nextLine, type RunData, stepsText } from './run-view.ts';

/** Everything about a run, for a person or a model. What others wrote is marked as such. */
export function runText(run: RunData): string {
  const where = run.archive === undefined ? t`session branch ${run.branch}` : t`archived, ${run.archive}`;
  const standing = `${say(run.status)}, ${stepsText(run.progress)}${begunText(run)}`;
  const notes = [
    run.agent_notes ?? '',
    ...run.issues.map((issue) => t`Issue: ${oneLine(asText(issue), 300)}`),
  ];
  const told = notes.filter((note) => note !== '').join('\n');
  return lines(
    t`Run ${run.run_id} (${where}): ${standing}`,
    t`Workflow: ${workflowText(run)}`,
    run.agent === undefined ? undefined : t`Agent: ${oneLine(run.agent, 100)}`,
    run.started_at === undefined
      ? undefined
      : t`Started ${run.started_at}, last checkpoint ${run.last_checkpoint ?? t`none`}${run.checkpoint_id === undefined ? '' : ` (${run.checkpoint_id})`}`,
    run.steps_completed.length === 0
      ? undefined
      : run.steps_completed.length === 1
        ? t`Done: step ${listed(run.steps_completed)}`
        : t`Done: steps ${listed(run.steps_completed)}`,
    run.last_step === undefined ? undefined : t`Last recorded: ${oneLine(run.last_step, 200)}`,
    nextLine(run),
    run.graph === undefined ? undefined : graphText(run.graph),
    t`Folder: ${run.folder}`,
    run.artefacts.length === 0 ? undefined : t`Artefacts:`,
    run.artefacts.map(
      ({ step, name, path, exists, file }) =>
        t`- ${step === undefined ? '' : t`step ${step}, `}${oneLine(name, 100)}: ${file ?? path}${exists ? '' : t` (missing)`}`,
    ),
    run.problems.length === 0 ? undefined : t`Problems:`,
    run.problems.map((problem) => `- ${problem}`),
    Object.keys(run.session_variables).length === 0
      ? undefined
      : t`Variables:\n${fenced(JSON.stringify(run.session_variables, null, 2), 'json')}`,
    told === '' ? undefined : t`Notes:\n${fenced(told, 'text')}`,
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
  const begun = workflow ?? path ?? t`unknown`;
  if (isMissing === true) return t`${begun} (missing: no workflow of this name is served)`;
  // Nobody should start what has only the name of what is gone.
  if (served === undefined || served === begun || aside?.kind === 'dead') return begun;
  return t`${begun} (served here as ${served})`;
}

const LISTED_STEPS = 40;

function listed(steps: readonly number[]): string {
  const more = steps.length - LISTED_STEPS;
  return `${steps.slice(0, LISTED_STEPS).join(', ')}${more > 0 ? t` and ${more} more` : ''}`;
}

function graphText({ total, completed, running, failed }: NonNullable<RunData['graph']>): string {
  return [
    t`Graph: ${completed} of ${plural(total, 'node')}`,
    running.length === 0 ? undefined : t`running: ${oneLine(running.join(', '), 200)}`,
    failed.length === 0 ? undefined : t`failed: ${oneLine(failed.join(', '), 200)}`,
  ]
    .filter((part) => part !== undefined)
    .join('; ');
}

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
