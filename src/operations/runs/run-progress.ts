import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import type { Run, RunsReading } from '../../model/run.ts';
import { asLines, projectField, stepSchema } from '../fields.ts';
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
import { otherVersionNote } from './begun-step.ts';
import {
  allDone,
  fileSteps,
  keepingNotes,
  keepingSteps,
  nextLabel,
  nextLine,
  nextSteps,
  openRun,
  runLine,
  runSchema,
  runText,
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
      nextLine(run),
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
    agent: agentField.optional().describe('The agent at work; default: the one started last'),
  }),
  output: changed,
  async run({ run_id: id, branch, project, ...given }, context, call) {
    if (Object.values(given).every((value) => value === undefined))
      throw new BmadError('invalid_input', 'run_checkpoint: there is nothing to record.', {
        hint: 'Pass step, plus any variables, artefacts and notes that will help later.',
      });
    const state = await context.state(project);
    const runs = await state.runs();
    const { agentAtWork, runAtStep, stepFilesOf, toldStep } = await import('./run-at-step.ts');
    const before = await runs.one(id, branch);
    const files = await stepFilesOf(before, state.root, context, project);
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
      agent: agentAtWork(agent, call, project),
    });
    return { run: await runAtStep(run, state.root, context, project), notes };
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
    const found = id === undefined ? latestOpen(await runs.read(), branch) : await runs.one(id, branch);
    const { agentSteps, runAtStep } = await import('./run-at-step.ts');
    const run = await runAtStep(found, state.root, context, project);
    const start = run.workflow ?? run.served ?? run.workflow_path;
    const { notes, steps } = wayOn(run, start);
    const agent = isOver(run) ? [] : agentSteps(run, await context.workspace(project));
    return { run, ...(start === undefined ? {} : { start }), notes, steps: [...agent, ...steps] };
  },
  render: ({ run, notes, steps }) => ({
    body: runText(run),
    ...(notes.length === 0 ? {} : { note: lines(notes) }),
    steps,
  }),
});

function latestOpen({ branches, current }: RunsReading, branch = current): Run {
  const [found] = branches
    .filter((each) => each.archive === undefined && each.name === branch)
    .flatMap((each) => each.runs)
    .filter(({ status }) => ['running', 'paused', 'failed', 'pending'].includes(status))
    .sort((a, b) => b.latest - a.latest || (a.id < b.id ? 1 : -1));
  if (found !== undefined) return found;
  throw new BmadError('not_found', `There is no open run in the branch ${branch}.`, {
    steps: [
      openRun(undefined, 'Open a run'),
      { operation: 'list_sessions', why: 'See the session branches' },
    ],
  });
}

const isOver = ({ archive, status }: z.output<typeof runSchema>): boolean =>
  archive !== undefined || status === 'completed';

function wayOn(
  run: z.output<typeof runSchema>,
  start: string | undefined,
): { notes: string[]; steps: z.input<typeof stepSchema>[] } {
  const { archive, workflow, run_id, resume_step: next, progress } = run;
  if (isOver(run))
    return {
      notes: [archive === undefined ? 'It is completed.' : 'It is archived and can only be read.'],
      steps: [openRun(workflow, 'Open a new run')],
    };
  if (allDone(run)) return { notes: [], steps: keepingSteps(run) };
  const isMissing = run.workflow_missing === true;
  const name = isMissing ? undefined : (workflow ?? run.served);
  return {
    notes: [
      ...(isMissing
        ? [
            `Its workflow is not here: nothing is served as ${start ?? 'it'}. Go by what is recorded above, or ask the user which workflow takes its place.`,
          ]
        : otherVersionNote(run)),
      ...(next === undefined
        ? []
        : [
            `Continue with step ${nextLabel(run)}${progress.total === undefined ? '' : ` of ${progress.total}`}.`,
          ]),
      ...keepingNotes(run),
    ],
    steps: [
      ...fileSteps(run),
      ...(isMissing ? [{ operation: 'list', args: { what: 'workflows' }, why: 'List the workflows' }] : []),
      ...(name === undefined
        ? []
        : [
            {
              operation: 'execute',
              args: { name, kind: 'workflow', run_id },
              why: run.next_files === undefined ? 'Continue' : 'The same with the rules of its workflow',
            },
          ]),
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
    const { runAtStep } = await import('./run-at-step.ts');
    const { run, notes } = await (await state.runs()).repair(id, branch);
    return { run: await runAtStep(run, state.root, context, project), notes };
  },
  render: (data) => changedAnswer('Checked', data),
});
