import type { RunData } from './run-view.ts';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { contentUri } from '../../base/files/paths.ts';
import { t } from '../../base/text/message.ts';
import { type BmadRecord, qualifiedName } from '../../model/record.ts';
import { asLines, moduleField, projectField, stepSchema, textOrLines, textUpTo } from '../fields.ts';
import { lines } from '../answer-text.ts';
import { loggedAs } from '../catalogue/agent-names.ts';
import { findRecord } from '../catalogue/names.ts';
import { type Answer, defineOperation } from '../operation.ts';
import { dayOf } from '../project/discovery.ts';
import { agentField, lineField, logged, loggedSchema } from '../project/logs.ts';
import { runText } from './run-text.ts';
import {
  asideText,
  branchField,
  hasEnded,
  namedStepField,
  nextLine,
  nextSteps,
  notesField,
  openRuns,
  runIdField,
  runLine,
  runSchema,
  stepField,
  variablesField,
  withoutSecrets,
  workflowOf,
} from './run-view.ts';

export const runOpen = defineOperation({
  name: 'run_open',
  title: 'Open a workflow run',
  description:
    'Open a run: a folder that keeps the state of a workflow in progress, so that it can be tracked, interrupted and resumed. Then start the workflow with its run_id.',
  effect: 'write',
  keeps: true,
  behind: { manage_project: 'run_open' },
  command: 'run open',
  picks: { workflow: 'workflow' },
  positional: ['workflow'],
  synonyms: { workflow_name: 'workflow', name: 'workflow' },
  input: z.strictObject({
    workflow: textUpTo(5_000).describe('Name of the workflow, e.g. "prd", "bmm/prd"'),
    module: moduleField,
    branch: branchField.optional().describe('Session branch; default: the current one'),
    total_steps: stepField
      .optional()
      .describe('How many steps it has, where the workflow has no file for each'),
    variables: variablesField.optional().describe('Values to keep with the run, by name'),
    agent: agentField.optional().describe('The agent at work'),
    project: projectField,
  }),
  output: z.object({
    run: runSchema,
    start: z.string(),
    /** Another run of the same workflow that is open already. */
    open_already: z.string().optional(),
    /** The day of its last checkpoint. */
    open_since: z.string().optional(),
  }),
  async run({ workflow, module, branch, total_steps: told, variables, agent }, context) {
    const workspace = await context.workspace();
    const record = findRecord({ name: workflow, kind: 'workflow', module, fuzzy: false }, workspace, context);
    const state = await context.state();
    const runs = await state.runs();
    const name = qualifiedName(record);
    const { agentAtWork, runAtStep, stepFilesFor } = await import('./run-standing.ts');
    const files = await stepFilesFor(record, workspace);
    const before = openRuns(await runs.lately()).find((each) => workflowOf(each) === name);
    const opened = await runs.open({
      workflow: name,
      workflowPath: pathOf(record, state.root),
      branch,
      total: files?.total ?? told,
      variables: withoutSecrets(variables, context),
      agent: agentAtWork(agent),
    });
    const run = await runs.one(opened.id, opened.branch);
    return {
      run: await runAtStep(run, state.root, context),
      start: name,
      ...(before === undefined ? {} : { open_already: before.id, open_since: dayOf(before.latest) }),
    };
  },
  render: ({ run, start, open_already: before, open_since: since }) => ({
    body: t`Opened ${run.run_id} (session branch ${run.branch}) in ${run.folder}`,
    ...(before === undefined
      ? {}
      : {
          note: t`${before} is a run of the same workflow and still open, last touched ${since ?? ''}: if that is the one you meant, resume it and finish this one as abandoned.`,
        }),
    steps: [
      ...(before === undefined
        ? []
        : [{ operation: 'run_resume', args: { run_id: before }, why: t`Resume the earlier one instead` }]),
      { operation: 'execute', args: { name: start, kind: 'workflow', run_id: run.run_id }, why: t`Start it` },
    ],
  }),
});

/** Where the workflow is: a file of the project, or one that the server brings. */
function pathOf({ absolutePath, bmadRelativePath }: BmadRecord, root: string): string {
  const inside = absolutePath.startsWith(`${root}/`) ? absolutePath.slice(root.length + 1) : undefined;
  return inside ?? contentUri(bmadRelativePath);
}

const whichOne = {
  run_id: runIdField,
  branch: branchField.optional().describe('Its session branch, if several have the id'),
  project: projectField,
};

const changed = z.object({ run: runSchema, notes: z.array(z.string()) });

/** What holds now that a run is over: nobody can clear what a model has read, but it can be said. */
function afterwards({ status, workflow, agent, progress }: RunData): string[] {
  if (status === 'running' || status === 'paused') return [];
  const over =
    workflow === undefined
      ? t`The instructions of its workflow no longer hold.`
      : t`The instructions of ${workflow} no longer hold.`;
  const back = agent === undefined ? [] : [t`Continue as ${agent}.`];
  const none = status === 'completed' && progress.completed === 0 ? [t`No step was recorded as done.`] : [];
  return [[over, ...back, ...none].join(' ')];
}

function changedAnswer(
  what: string,
  { run, notes }: z.output<typeof changed>,
  after: readonly string[] = [],
): Answer {
  return {
    body: lines(
      t`${what} ${runLine(run)}`,
      run.checkpoint_id === undefined ? undefined : t`Checkpoint ${run.checkpoint_id}`,
      nextLine(run),
      notes,
      after,
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
      .array(textUpTo(1_000))
      .max(100)
      .optional()
      .describe('Paths of the files it produced, relative to the project root'),
    notes: notesField.optional().describe('Notes, replacing the earlier ones'),
    agent: agentField.optional().describe('The agent at work'),
  }),
  output: changed,
  async run({ run_id: id, branch, project: _project, ...given }, context) {
    if (Object.values(given).every((value) => value === undefined))
      throw new BmadError('invalid_input', t`run_checkpoint: there is nothing to record.`, {
        hint: t`Pass step, plus any variables, artefacts and notes that will help later.`,
      });
    const state = await context.state();
    const runs = await state.runs();
    const { agentAtWork, runAtStep, stepFilesOf, toldStep } = await import('./run-standing.ts');
    const before = await runs.one(id, branch);
    const files = await stepFilesOf(before, state.root, context, given.step);
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
    return { run: await runAtStep(run, state.root, context), notes };
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
  async run({ run_id: id, branch, status, notes }, context) {
    const state = await context.state();
    const { runAtStep } = await import('./run-standing.ts');
    const {
      run,
      notes: said,
      already,
    } = await (await state.runs()).finish(id, branch, status, asLines(notes));
    return {
      run: await runAtStep(run, state.root, context),
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
      afterwards(data.run),
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
  async run({ run_id: id, branch }, context) {
    const state = await context.state();
    const { runAtStep } = await import('./run-standing.ts');
    const { run, notes } = await (await state.runs()).repair(id, branch);
    return { run: await runAtStep(run, state.root, context), notes };
  },
  render: (data) => changedAnswer(t`Checked`, data),
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
  async run({ run_id: id, branch }, context, call) {
    const state = await context.state();
    const runs = await state.runs();
    const { agentSteps, createJudge, isRunOver, latestOpen, wayOn } = await import('./run-standing.ts');
    const reading = await runs.lately();
    const judge = await createJudge(state, reading, { context, signal: call.signal });
    const run =
      id === undefined
        ? await latestOpen(reading, branch, judge)
        : await judge.whole(await runs.one(id, branch));
    const start = run.workflow ?? run.served ?? run.workflow_path;
    const { notes, steps } = wayOn(run);
    const isGoing = !isRunOver(run) && run.aside?.kind !== 'dead';
    const agent = isGoing ? agentSteps(run, await context.workspace()) : [];
    return { run, ...(start === undefined ? {} : { start }), notes, steps: [...agent, ...steps] };
  },
  render: ({ run, notes, steps }) => ({
    body: lines(asideText(run), runText(run)),
    ...(notes.length === 0 ? {} : { note: lines(notes) }),
    steps,
  }),
});

const items = z.array(z.string().trim().min(1).max(2_000)).max(200).optional();

export const saveSession = defineOperation({
  name: 'save_session',
  title: 'Save where a session left off',
  description:
    'Save the state of the session for the next one: session-state.md, and a copy among the session summaries.',
  effect: 'write',
  keeps: true,
  behind: { manage_project: 'save_session' },
  command: 'log session',
  positional: ['agent'],
  synonyms: {
    done: 'work',
    completed: 'work',
    files_changed: 'files',
    changed_files: 'files',
    summary: 'state',
    notes: 'state',
    current_state: 'state',
    next_step: 'next',
    next_steps: 'next',
  },
  examples: ['log session dev --work "Cart page" --work "Its tests" --next "Run them in CI"'],
  input: z.strictObject({
    agent: agentField.describe('The agent whose session it was'),
    work: items.describe('What was done'),
    files: items.describe('Files changed'),
    state: textOrLines(lineField).optional().describe('What works and what does not'),
    next: textOrLines(lineField)
      .optional()
      .describe('What to do next, with the key of its story or the id of its request'),
    handoffs: items.describe('What other agents were asked to do'),
    duration: z.string().trim().min(1).max(60).optional().describe('How long it took'),
    project: projectField,
  }),
  output: loggedSchema,

  async run({ agent, work, files, handoffs, duration, ...told }, context) {
    const state = asLines(told.state);
    const facts = await (await context.state()).facts();
    const who = await loggedAs(agent, context);
    const saved = await facts.saveSession({
      agent: who,
      work: work ?? [],
      files: files ?? [],
      state,
      next: asLines(told.next),
      requests: handoffs ?? [],
      duration,
    });
    const traced = await facts.trace(who, 'CHECKPOINT', work?.join('; ') ?? state ?? saved.nothing);
    return {
      outcome: 'created' as const,
      text: `${who}, ${saved.date}`,
      files: [...saved.files, ...traced.files],
      notes: traced.notes,
    };
  },
  render: (data) => logged('session', data),
});
