import { t } from '../../base/text/message.ts';
import { field, isTable, textField, type Table } from '../../base/parse/parse.ts';
import { RUN_STATUSES, type RunArtefact, type RunState, type RunStatus } from '../../model/run.ts';

export const STATE_FILE = 'state.json';

/** What a state file says. Values of the wrong kind are left out and named; nothing is guessed. */
export function stateOf(table: Table, problems: string[]): RunState {
  const wrong = (name: string, wanted: string): undefined => {
    problems.push(t`"${name}" is not ${wanted} and is ignored.`);
    return undefined;
  };
  const text = (name: string): string | undefined => {
    const value = field(table, name);
    if (value === undefined || value === null || typeof value === 'string') return value ?? undefined;
    return wrong(name, t`a text`);
  };
  const moment = (name: string): string | undefined => {
    const value = text(name)?.trim();
    if (value === undefined || value === '') return undefined;
    return Number.isNaN(new Date(value).getTime()) ? wrong(name, t`a date`) : value;
  };
  const number = (name: string): number | undefined => {
    const value = field(table, name);
    if (value === undefined || value === null) return undefined;
    return numberOf(value) ?? wrong(name, t`a whole number`);
  };
  const list = (name: string): readonly unknown[] => {
    const value = field(table, name);
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value;
    wrong(name, t`a list`);
    return [];
  };
  const variables = field(table, 'session_variables');
  if (variables !== undefined && variables !== null && !isTable(variables))
    wrong('session_variables', t`an object`);
  const steps = list('steps_completed').map(numberOf);
  if (steps.includes(undefined)) wrong('steps_completed', t`a list of whole numbers`);
  return {
    runId: text('run_id'),
    workflow: text('workflow'),
    workflowPath: text('workflow_path'),
    branch: text('session_branch') ?? text('branch'),
    startedAt: moment('started_at'),
    lastCheckpoint: moment('last_checkpoint'),
    status: statusIn(table, problems),
    stepsCompleted: steps.filter((step) => step !== undefined),
    currentStep: number('current_step'),
    totalSteps: number('total_steps'),
    resumeFromStep: number('resume_from_step'),
    variables: isTable(variables) ? variables : {},
    artefacts: list('artefacts_produced').flatMap((each) => artefactOf(each, problems)),
    checkpointId: text('checkpoint_id'),
    issues: list('issues'),
    notes: text('agent_notes'),
    lastStep: text('last_step'),
    agent: text('agent'),
  };
}

/** Models write numbers as texts now and then. */
function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value.trim()) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

export function statusIn(table: Table, problems: string[] = []): RunStatus {
  if (field(table, 'abandoned') === true) return 'abandoned';
  const value = field(table, 'status');
  const known = RUN_STATUSES.find(
    (status) => status === (typeof value === 'string' ? value.trim().toLowerCase() : undefined),
  );
  if (known === undefined) problems.push(t`"status" must be pending, running, paused, completed or failed.`);
  return known ?? 'unknown';
}

function artefactOf(value: unknown, problems: string[]): RunArtefact[] {
  const path = typeof value === 'string' ? value : isTable(value) ? textField(value, 'path') : undefined;
  if (path === undefined || path.trim() === '') {
    problems.push(t`An entry in "artefacts_produced" has no path and is ignored.`);
    return [];
  }
  const table = isTable(value) ? value : {};
  const name = textField(table, 'name') ?? path.replace(/^.*[\\/]/, '');
  return [{ step: numberOf(field(table, 'step')), name, path, file: undefined }];
}

/** The highest step of a list that may be very long. */
export function lastStep(steps: Iterable<number>): number | undefined {
  let last: number | undefined;
  for (const step of steps) last = last === undefined || step > last ? step : last;
  return last;
}
