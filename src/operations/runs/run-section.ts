import { BmadError, quoted } from '../../base/errors.ts';
import type { StatePort } from '../context.ts';
import { howToKeep, runData, runText } from './run-view.ts';

/** What a model has to know when it works in a run: how far it is, and how to keep it. Nothing without a run. */
export async function runSection(
  id: string | undefined,
  workflow: string,
  context: StatePort,
  project: string | undefined,
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
        hint: 'Open a new one with run_open, or start without run_id.',
      },
    );
  if (run.workflow !== undefined && run.workflow !== workflow)
    throw new BmadError(
      'invalid_input',
      `The run ${quoted(id)} is one of ${run.workflow}, not of ${workflow}.`,
      {
        subject: id,
        hint: `Start ${run.workflow}, or open a run of ${workflow} with run_open.`,
      },
    );
  const keep = howToKeep(run).map((line) => `- ${line}`);
  return ['## Run', '', runText(run), '', ...keep].join('\n');
}
