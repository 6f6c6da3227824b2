import { BmadError, quoted } from '../../base/errors.ts';
import { stepLines } from '../../base/step.ts';
import type { Call, StatePort } from '../context.ts';
import { toolCall } from '../unified/forms.ts';
import { keepingNotes, keepingSteps, openRun, runData, runText } from './run-view.ts';

/** What a model has to know when it works in a run: how far it is, and how to keep it. Nothing without a run. */
export async function runSection(
  id: string | undefined,
  workflow: string,
  context: StatePort,
  project: string | undefined,
  { say = toolCall }: Call,
): Promise<string | undefined> {
  if (id === undefined) return undefined;
  const state = await context.state(project);
  const runs = await state.runs();
  const run = runData(runs.find(await runs.read(), id), state.root);
  if (run.archive !== undefined || run.status === 'completed')
    throw new BmadError(
      'invalid_input',
      `The run ${quoted(id)} is ${run.archive === undefined ? 'completed' : 'archived'}.`,
      {
        subject: id,
        steps: [
          openRun(workflow, 'Open a new run'),
          { operation: 'execute', args: { name: workflow, kind: 'workflow' }, why: 'Start without a run' },
        ],
      },
    );
  if (run.workflow !== undefined && run.workflow !== workflow)
    throw new BmadError(
      'invalid_input',
      `The run ${quoted(id)} is for ${run.workflow}, not for ${workflow}.`,
      {
        subject: id,
        steps: [
          {
            operation: 'execute',
            args: { name: run.workflow, kind: 'workflow', run_id: id },
            why: `Continue ${run.workflow}`,
          },
          openRun(workflow, `Open a run for ${workflow}`),
        ],
      },
    );
  const keep = [...stepLines(keepingSteps(run), say), ...keepingNotes(run)].map((line) => `- ${line}`);
  return ['## Run', '', runText(run), '', ...keep].join('\n');
}
