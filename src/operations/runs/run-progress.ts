import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { asLines, projectField } from '../fields.ts';
import { agentField } from '../project/log-view.ts';
import { lines } from '../answer-text.ts';
import { defineOperation, type Answer } from '../operation.ts';
import {
  branchField,
  namedStepField,
  notesField,
  runIdField,
  stepField,
  variablesField,
  withoutSecrets,
} from './run-fields.ts';
import { hasEnded, nextLine, nextSteps, runLine, runSchema } from './run-view.ts';

const whichOne = {
  run_id: runIdField,
  branch: branchField.optional().describe('Its session branch, if several have the id'),
  project: projectField,
};

const changed = z.object({ run: runSchema, notes: z.array(z.string()) });

function changedAnswer(what: string, { run, notes }: z.output<typeof changed>): Answer {
  return {
    body: lines(
      t`${what} ${runLine(run)}`,
      run.checkpoint_id === undefined ? undefined : t`Checkpoint ${run.checkpoint_id}`,
      nextLine(run),
      notes,
      // Of a run that is over, what its files lack needs nobody.
      hasEnded(run) ? [] : run.problems.map((problem) => t`Problem: ${problem}`),
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
    step: namedStepField
      .optional()
      .describe('The finished step: its number, or the name of its file, e.g. 3, "2b", "step-02b-vision"'),
    current_step: namedStepField.optional().describe('The next step, if not the following one'),
    total_steps: stepField
      .optional()
      .describe('Total number of steps, where the workflow has no file for each'),
    variables: variablesField.optional().describe('Values to keep, by name; added to the existing ones'),
    artefacts: z
      .array(z.string().min(1).max(1_000))
      .max(100)
      .optional()
      .describe('Paths of the files it produced, relative to the project root'),
    notes: notesField.optional().describe('Notes, replacing the earlier ones'),
    agent: agentField.optional().describe('The agent at work'),
  }),
  output: changed,
  async run({ run_id: id, branch, project, ...given }, context) {
    if (Object.values(given).every((value) => value === undefined))
      throw new BmadError('invalid_input', t`run_checkpoint: there is nothing to record.`, {
        hint: t`Pass step, plus any variables, artefacts and notes that will help later.`,
      });
    const state = await context.state(project);
    const runs = await state.runs();
    const { agentAtWork, runAtStep, stepFilesOf, toldStep } = await import('./run-at-step.ts');
    const before = await runs.one(id, branch);
    const files = await stepFilesOf(before, state.root, context, project, given.step);
    const {
      step,
      current_step: current,
      total_steps: total,
      agent,
      ...rest
    } = withoutSecrets(given, context);
    const understood = async (each: number | string) =>
      files === undefined ? toldStep(each) : files.told(each);
    const told = step === undefined ? undefined : await understood(step);
    const { run, notes } = await runs.checkpoint(id, branch, {
      ...rest,
      notes: asLines(rest.notes),
      step: told?.number,
      told: told?.told,
      goesOn: told?.goesOn,
      current: current === undefined ? undefined : (await understood(current)).number,
      // Files can be counted; texts have been wrong about it.
      total: files === undefined || files.total === before.state?.totalSteps ? total : files.total,
      agent: agentAtWork(agent),
    });
    return { run: await runAtStep(run, state.root, context, project), notes };
  },
  render: (data) => changedAnswer(t`Recorded`, data),
});

export const runFinish = defineOperation({
  name: 'run_finish',
  title: 'Finish or pause a run',
  description:
    'Mark a run as completed, failed, paused or abandoned. A checkpoint resumes a failed or paused run.',
  effect: 'write',
  behind: { manage_project: 'run_finish' },
  command: 'run finish',
  positional: ['run_id', 'status'],
  input: z.strictObject({
    ...whichOne,
    status: z
      .enum(['completed', 'failed', 'paused', 'abandoned'])
      .default('completed')
      .describe('The new status; an abandoned run is not offered again'),
    notes: notesField.optional().describe('Notes, replacing the earlier ones'),
  }),
  output: changed.extend({
    /** It was so before, and nothing was written. */
    already: z.boolean(),
  }),
  async run({ run_id: id, branch, status, notes, project }, context) {
    const state = await context.state(project);
    const { runAtStep } = await import('./run-at-step.ts');
    const {
      run,
      notes: said,
      already,
    } = await (await state.runs()).finish(id, branch, status, asLines(notes));
    return {
      run: await runAtStep(run, state.root, context, project),
      notes: said,
      already: already ?? false,
    };
  },
  render: (data) =>
    changedAnswer(
      data.run.status === 'paused'
        ? data.already
          ? t`Paused already`
          : t`Paused`
        : data.already
          ? t`Ended already`
          : t`Ended`,
      data,
    ),
});

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
    const { runAtStep } = await import('./run-at-step.ts');
    const { run, notes } = await (await state.runs()).repair(id, branch);
    return { run: await runAtStep(run, state.root, context, project), notes };
  },
  render: (data) => changedAnswer(t`Checked`, data),
});
