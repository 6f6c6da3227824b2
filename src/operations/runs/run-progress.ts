import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { projectField, stepSchema } from '../fields.ts';
import { lines } from '../answer-text.ts';
import { defineOperation, type Answer } from '../operation.ts';
import {
  branchField,
  allDone,
  keepingNotes,
  keepingSteps,
  nextSteps,
  openRun,
  runData,
  runIdField,
  runLine,
  runSchema,
  runText,
  stepField,
  variablesField,
  withoutSecrets,
} from './run-view.ts';

const whichOne = {
  run_id: runIdField,
  branch: branchField.optional().describe('Its session branch, if several have the id'),
  project: projectField,
};

const changed = z.object({ run: runSchema, notes: z.array(z.string()) });

function changedAnswer(what: string, { run, notes }: z.output<typeof changed>): Answer {
  return {
    body: lines(
      `${what}: ${runLine(run)}`,
      run.checkpoint_id === undefined ? undefined : `Checkpoint ${run.checkpoint_id}`,
      run.resume_step === undefined ? undefined : `Next: step ${run.resume_step}`,
      notes,
      run.problems.map((problem) => `Problem: ${problem}`),
    ),
    steps: nextSteps(run),
  };
}

export const runCheckpoint = defineOperation({
  name: 'run_checkpoint',
  title: 'Record a step in a run',
  description:
    'Record progress in a run: a step, variables, files it produced, notes. Files must exist; nothing is copied.',
  effect: 'write',
  behind: { manage_project: 'run_checkpoint' },
  command: 'run checkpoint',
  positional: ['run_id'],
  synonyms: {
    step_number: 'step',
    step_name: 'notes',
    note: 'notes',
    summary: 'notes',
    artifacts: 'artefacts',
  },
  input: z.strictObject({
    ...whichOne,
    step: stepField.optional().describe('Number of the finished step'),
    current_step: stepField.optional().describe('The next step, if not the following one'),
    total_steps: stepField.optional().describe('Total number of steps'),
    variables: variablesField.optional().describe('Values to keep, by name; added to the existing ones'),
    artefacts: z
      .array(z.string().min(1).max(1_000))
      .max(100)
      .optional()
      .describe('Paths of the files it produced, relative to the project root'),
    notes: z.string().min(1).max(20_000).optional().describe('Notes, replacing the earlier ones'),
  }),
  output: changed,
  async run({ run_id: id, branch, project, current_step: current, total_steps: total, ...rest }, context) {
    const progress = { ...withoutSecrets(rest, context), current, total };
    if (Object.values(progress).every((value) => value === undefined))
      throw new BmadError('invalid_input', 'run_checkpoint: there is nothing to record.', {
        hint: 'Pass step, plus any variables, artefacts and notes that will help later.',
      });
    const state = await context.state(project);
    const runs = await state.runs();
    const { run, notes } = await runs.checkpoint(id, branch, progress);
    return { run: runData(run, state.root), notes };
  },
  render: (data) => changedAnswer('Recorded', data),
});

export const runFinish = defineOperation({
  name: 'run_finish',
  title: 'Finish or pause a run',
  description: 'Mark a run as completed, failed or paused. A checkpoint resumes a failed or paused run.',
  effect: 'write',
  behind: { manage_project: 'run_finish' },
  command: 'run finish',
  positional: ['run_id', 'status'],
  input: z.strictObject({
    ...whichOne,
    status: z.enum(['completed', 'failed', 'paused']).default('completed').describe('The new status'),
    notes: z.string().min(1).max(20_000).optional().describe('Notes, replacing the earlier ones'),
  }),
  output: changed.extend({
    /** It was so before, and nothing was written. */
    already: z.boolean(),
  }),
  async run({ run_id: id, branch, status, notes, project }, context) {
    const state = await context.state(project);
    const { run, notes: said, already } = await (await state.runs()).finish(id, branch, status, notes);
    return { run: runData(run, state.root), notes: said, already: already ?? false };
  },
  render: (data) =>
    changedAnswer(
      `${data.run.status === 'paused' ? 'Paused' : 'Ended'}${data.already ? ' already' : ''}`,
      data,
    ),
});

export const runResume = defineOperation({
  name: 'run_resume',
  title: 'How to continue a run',
  description:
    'What was done in a run, with which values and files, and how to continue. Without an id: the latest unfinished run.',
  effect: 'read',
  behind: { manage_project: 'run_resume' },
  command: 'run resume',
  positional: ['run_id'],
  input: z.strictObject({
    run_id: runIdField.optional().describe('Exact id; default: the latest open run'),
    branch: branchField.optional().describe('Session branch'),
    project: projectField,
  }),
  output: z.object({
    run: runSchema,
    start: z.string().optional(),
    notes: z.array(z.string()),
    steps: z.array(stepSchema),
  }),
  async run({ run_id: id, branch, project }, context) {
    const state = await context.state(project);
    const runs = await state.runs();
    const reading = await runs.read();
    const open = reading.branches
      .filter((each) => each.archive === undefined && each.name === (branch ?? reading.current))
      .flatMap((each) => each.runs)
      .filter(({ status }) => ['running', 'paused', 'failed', 'pending'].includes(status))
      .sort((a, b) => b.latest - a.latest || (a.id < b.id ? 1 : -1));
    const found = id === undefined ? open[0] : runs.find(reading, id, branch);
    if (found === undefined)
      throw new BmadError('not_found', `There is no open run in the branch ${branch ?? reading.current}.`, {
        steps: [
          openRun(undefined, 'Open a run'),
          { operation: 'list_sessions', why: 'See the session branches' },
        ],
      });
    const run = runData(found, state.root);
    const start = run.workflow ?? run.workflow_path;
    return { run, ...(start === undefined ? {} : { start }), ...wayOn(run, start) };
  },
  render: ({ run, notes, steps }) => ({
    body: runText(run),
    ...(notes.length === 0 ? {} : { note: lines(notes) }),
    steps,
  }),
});

function wayOn(
  run: z.output<typeof runSchema>,
  start: string | undefined,
): { notes: string[]; steps: z.input<typeof stepSchema>[] } {
  const { archive, status, workflow, run_id, resume_step: next, progress } = run;
  if (archive !== undefined || status === 'completed')
    return {
      notes: [archive === undefined ? 'It is completed.' : 'It is archived and can only be read.'],
      steps: [openRun(workflow, 'Open a new run')],
    };
  if (allDone(run)) return { notes: [], steps: keepingSteps(run) };
  return {
    notes: [
      ...(start === undefined || workflow !== undefined ? [] : [`Start the workflow of ${start} again.`]),
      ...(next === undefined
        ? []
        : [`Continue with step ${next}${progress.total === undefined ? '' : ` of ${progress.total}`}.`]),
      ...keepingNotes(run),
    ],
    steps: [
      ...(workflow === undefined
        ? []
        : [{ operation: 'execute', args: { name: workflow, kind: 'workflow', run_id }, why: 'Continue' }]),
      ...keepingSteps(run),
    ],
  };
}

export const runRepair = defineOperation({
  name: 'run_repair',
  title: "Repair a run's state",
  description:
    "Rebuild a run's state.json from its journal, after a crash or if the file is broken. A broken file is kept beside it.",
  effect: 'write',
  behind: { manage_project: 'run_repair' },
  command: 'run repair',
  positional: ['run_id'],
  input: z.strictObject(whichOne),
  output: changed,
  async run({ run_id: id, branch, project }, context) {
    const state = await context.state(project);
    const { run, notes } = await (await state.runs()).repair(id, branch);
    return { run: runData(run, state.root), notes };
  },
  render: (data) => changedAnswer('Checked', data),
});
