import { posix } from 'node:path';
import type * as z from 'zod';
import { BmadError, quoted, attempt, orElse } from '../../base/errors.ts';
import { type Step, stepLines, type StepWriter } from '../../base/step.ts';
import { agentName } from '../../base/text/agent-titles.ts';
import { say as sayText, t } from '../../base/text/message.ts';
import { type BmadRecord, qualifiedName } from '../../model/record.ts';
import type { Run, RunsReading } from '../../model/run.ts';
import { KINDS_OF } from '../catalogue/names.ts';
import type { CataloguePort, ProjectState, StatePort, Workspace } from '../context.ts';
import type { stepSchema } from '../fields.ts';
import { dayOf, isPast, laterWork } from '../project/discovery.ts';
import { labelOf, servedFor, stepFilesOf } from './run-steps.ts';
import { runText } from './run-text.ts';
import {
  allDone,
  asideSteps,
  byRecency,
  closing,
  fileSteps,
  hasEnded,
  isOpen,
  isOtherVersion,
  keepingNotes,
  keepingSteps,
  nextLabel,
  openRun,
  otherVersionNote,
  type RunAside,
  type RunData,
  runData,
} from './run-view.ts';

export { stepFilesFor, stepFilesOf, toldStep } from './run-steps.ts';
export { workOfRun } from './run-steps.ts';

interface Where {
  context: CataloguePort & StatePort;
  signal: AbortSignal;
}

export type Judge = Awaited<ReturnType<typeof createJudge>>;

/** So many are looked at; of a project with thousands of open runs the newest say enough. */
const MOST_JUDGED = 12;

/** Says which of the open runs of a project are going on, and why the others are nothing to go on with. */
export async function createJudge(state: ProjectState, reading: RunsReading, where: Where) {
  const { context, signal } = where;
  const workspace = await context.workspace();
  const isPassed = laterWork(state, reading, signal);
  const around: Around = { state, workspace, isPassed };
  const judged =
    (read: typeof runAtStep) =>
    async (run: Run): Promise<RunData> => {
      const data = await read(run, state.root, context);
      const aside = await asideOf(run, data, around);
      return aside === undefined ? data : { ...data, aside };
    };
  const served = judged(runAsServed);
  /** With the step that comes next. */
  const whole = judged(runAtStep);
  return {
    isPassed,
    served,
    whole,
    /** Those that are going on, the first with the step that comes next, and those that are set aside. */
    async sorted(runs: readonly Run[]) {
      const going: { run: Run; data: RunData }[] = [];
      const aside: RunData[] = [];
      for (const run of runs.slice(0, MOST_JUDGED)) {
        const cheap = await served(run);
        const data = cheap.aside === undefined && going.length === 0 ? await whole(run) : cheap;
        if (data.aside === undefined) going.push({ run, data });
        else aside.push(data);
      }
      // What can still be resumed comes before what cannot.
      aside.sort((a, b) => Number(isDead(a)) - Number(isDead(b)));
      return { going, aside };
    },
  };
}

const isDead = ({ aside }: RunData): boolean => aside?.kind === 'dead';

/** What else is known of the project while a run is judged. */
interface Around {
  state: Pick<ProjectState, 'progress' | 'root'>;
  workspace: Workspace;
  /** Whether something was done in the project well after this moment. */
  isPassed: (moment: number) => Promise<boolean>;
}

/**
 * Why a run is nothing to go on with: its workflow is gone or was replaced, so that nothing here has its next step, or
 * it was left long ago and the work continued without it. Nothing for a run that is going on.
 */
async function asideOf(run: Run, data: RunData, around: Around): Promise<RunAside | undefined> {
  if (run.archive !== undefined || hasEnded(run)) return undefined;
  const { state, workspace, isPassed } = around;
  const begun = data.workflow ?? data.workflow_path ?? '';
  const record = servedFor(run, state.root, workspace);
  const instead = async (): Promise<Pick<RunAside, 'instead'>> => {
    const worker = (await state.progress()).workerInstead(workspace.catalogue, begun);
    if (worker !== undefined) return { instead: worker };
    return record === undefined || record.deprecated !== undefined ? {} : { instead: qualifiedName(record) };
  };
  const isLong = isPast(run.latest);
  const since = dayOf(run.latest);
  const replaced = async (kind: RunAside['kind'], why: string): Promise<RunAside> => ({
    kind,
    since,
    why,
    ...(await instead()),
  });
  // Just after an upgrade its values and files still help: the text says that steps may be numbered differently.
  if (data.workflow_missing === true || (isOtherVersion(data) && isLong))
    return replaced('dead', t`its workflow ${begun} is not here`);
  if (record?.deprecated?.successor !== undefined)
    return replaced('dead', t`its workflow ${begun} is deprecated`);
  if (data.lost_step !== undefined)
    return replaced('dead', t`its workflow ${data.served ?? begun} has no ${data.lost_step} any more`);
  if (isLong && record?.deprecated !== undefined)
    return replaced('old', t`its workflow ${begun} is deprecated`);
  if (isLong && (await isPassed(run.latest)))
    return { kind: 'old', since, why: t`the work continued without it` };
  return undefined;
}

/** Of the open runs of a branch the newest that is going on; one that was set aside only where there is no other. */
export async function latestOpen(
  { branches, current }: RunsReading,
  branch = current,
  judge: Judge,
): Promise<RunData> {
  const open = branches
    .filter((each) => each.archive === undefined && each.name === branch)
    .flatMap((each) => each.runs)
    .filter((run) => run.status === 'pending' || isOpen(run))
    .sort(byRecency);
  const { going, aside } = await judge.sorted(open);
  const found = going[0]?.data ?? aside[0];
  if (found !== undefined) return found;
  throw new BmadError('not_found', t`There is no open run in the session branch ${branch}.`, {
    steps: [
      openRun(undefined, t`Open a run`),
      { operation: 'list_sessions', why: t`See the session branches` },
    ],
  });
}

export const isRunOver = ({ archive, status }: RunData): boolean =>
  archive !== undefined || hasEnded({ status });

export function wayOn(run: RunData): { notes: string[]; steps: z.input<typeof stepSchema>[] } {
  const { archive, workflow, run_id } = run;
  if (isRunOver(run))
    return {
      notes: [
        archive === undefined
          ? run.status === 'completed'
            ? t`It is completed.`
            : t`It was given up.`
          : t`It is archived and can only be read.`,
      ],
      steps: [openRun(workflow, t`Open a new run`)],
    };
  if (run.aside?.kind === 'dead') return { notes: [], steps: asideSteps(run) };
  if (allDone(run)) return { notes: [], steps: keepingSteps(run) };
  const name = workflow ?? run.served;
  return {
    notes: [...otherVersionNote(run), ...keepingNotes(run)],
    steps: [
      ...fileSteps(run),
      ...(name === undefined
        ? []
        : [
            {
              operation: 'execute',
              args: { name, kind: 'workflow', run_id },
              why: run.next_files === undefined ? t`Continue` : t`The same with the rules of its workflow`,
            },
          ]),
      ...keepingSteps(run),
      ...(run.aside === undefined ? [] : [closing(run)]),
    ],
  };
}

/** A run with the file of the step that comes next, where its workflow has its steps in files. */
export async function runAtStep(
  run: Run,
  root: string,
  context: CataloguePort & StatePort,
): Promise<RunData> {
  const isOver = run.archive !== undefined || hasEnded(run);
  const steps = isOver ? undefined : await stepFilesOf(run, root, context);
  const data = {
    ...runData(run, root, steps?.total),
    ...(isOver ? {} : await servedNow(run, root, context)),
  };
  const lost = steps?.lost({
    last: data.last_step,
    done: data.steps_completed,
    total: run.state?.totalSteps,
  });
  if (lost !== undefined) return { ...data, lost_step: lost };
  if (steps === undefined || data.resume_step === undefined) return data;
  const files = await steps.next({ step: data.resume_step, last: data.last_step });
  if (files.length === 0) return data;
  return { ...data, next_files: files.map((file) => ({ step: labelOf(file), uri: file.uri })) };
}

/** The same without its step, for which files would have to be read. */
async function runAsServed(run: Run, root: string, context: CataloguePort): Promise<RunData> {
  return { ...runData(run, root), ...(await servedNow(run, root, context)) };
}

/** What stands for the workflow of a run now: kits and other versions name files that need not be here. */
async function servedNow(
  run: Run,
  root: string,
  context: CataloguePort,
): Promise<Pick<RunData, 'served' | 'served_instead' | 'workflow_missing'>> {
  const { workflow, workflowPath } = run.state ?? {};
  if (workflow === undefined && workflowPath === undefined) return {};
  const record = servedFor(run, root, await context.workspace());
  if (record === undefined) return { workflow_missing: true };
  const isOther = workflow === undefined && record.absolutePath !== posix.join(root, workflowPath ?? '');
  return { served: qualifiedName(record), ...(isOther ? { served_instead: true } : {}) };
}

/** A run by its id. */
export async function namedRun(id: string, context: StatePort & CataloguePort): Promise<RunData> {
  const state = await context.state();
  const runs = await state.runs();
  return runAtStep(await runs.one(id), state.root, context);
}

/** A workflow that is not found, for a run: the run itself can still be read and ended. */
export function withoutWorkflow(error: unknown, { run_id, branch }: RunData): unknown {
  if (!(error instanceof BmadError) || error.code !== 'not_found') return error;
  const args = { run_id, ...(branch === 'main' ? {} : { branch }) };
  return error.with({
    hint: [
      error.hint,
      t`The run ${quoted(run_id)} was started with a workflow that this project does not have; see what it recorded, or end it.`,
    ]
      .filter(Boolean)
      .join(' '),
    steps: [
      { operation: 'run_resume', args, why: t`See the run` },
      { operation: 'run_finish', args: { ...args, status: 'abandoned' }, why: t`End it` },
      ...error.steps,
    ],
    cause: error,
  });
}

/** Who is at work, if the caller names somebody. */
export function agentAtWork(named: string | undefined): string | undefined {
  return named
    ?.split('/')
    .map((part) => agentName(part))
    .join('/');
}

/** The call that brings the agent of a run back; none where it is not here. */
export function agentSteps({ agent: name }: RunData, { catalogue }: Workspace): Step[] {
  if (name === undefined) return [];
  const find = () => catalogue.names.resolve({ name, kinds: ['agent'], fuzzy: false }).record;
  const record = attempt(find, orElse(undefined));
  if (record === undefined) return [];
  const args = { name: qualifiedName(record), kind: 'agent' };
  return [
    { operation: 'execute', args, why: t`Take the role of ${record.displayName ?? record.name} again` },
  ];
}

/** Where a run that has begun goes on, in place of the words that start a workflow; nothing where it has not. */
export function underWay(run: RunData, say: StepWriter): string | undefined {
  const { run_id: id, steps_completed: done, last_step: last } = run;
  if (allDone(run))
    return t`All steps of run ${id} are done: finish it, and do not start the file below again.`;
  if (done.length === 0 && last === undefined) return undefined;
  const files = run.next_files ?? [];
  const place = t`Continue run ${id} at step ${nextLabel(run)}`;
  const other = otherVersionNote(run);
  if (files.length === 0)
    return [t`${place} of the file below; the steps before it are done.`, ...other].join(' ');
  return [
    `${place}: ${files.map(({ uri }) => uri).join(' or ')}`,
    '',
    ...stepLines(fileSteps(run), say),
    '',
    'The steps before it are done. Follow the rules of the file below, but continue with this step where it sends you to its first one.',
    ...other,
  ].join('\n');
}

const isOverText = (id: string, status: string): string => t`The run ${quoted(id)} is ${sayText(status)}.`;

/** What a model has to know when it works in a run: how far it is, and how to keep it. */
export function runSection(run: RunData, record: BmadRecord, workspace: Workspace, say: StepWriter): string {
  const { run_id: id } = run;
  const workflow = qualifiedName(record);
  if (run.archive !== undefined || hasEnded(run))
    throw new BmadError(
      'invalid_input',
      isOverText(id, run.archive === undefined ? run.status : 'archived'),
      {
        subject: id,
        steps: [
          openRun(workflow, t`Open a new run`),
          { operation: 'execute', args: { name: workflow, kind: 'workflow' }, why: t`Start without a run` },
        ],
      },
    );
  const isSame = run.workflow === undefined || run.workflow === workflow;
  if (!isSame && !leadsTo(record, run.workflow ?? '', workspace))
    throw new BmadError(
      'invalid_input',
      t`The run ${quoted(id)} is for ${run.workflow ?? ''}, not for ${workflow}.`,
      {
        subject: id,
        steps: [
          {
            operation: 'execute',
            args: { name: run.workflow, kind: 'workflow', run_id: id },
            why: t`Continue ${run.workflow ?? ''}`,
          },
          openRun(workflow, t`Open a run for ${workflow}`),
        ],
      },
    );
  const renamed = isSame
    ? []
    : [t`The run was started as ${run.workflow ?? ''}, which this version calls ${workflow}.`, ''];
  const keep = [...stepLines(keepingSteps(run), say), ...keepingNotes(run)].map((line) => `- ${line}`);
  return ['## Run', '', ...renamed, runText(run), '', ...keep].join('\n');
}

/** Whether a name that a run was begun with, perhaps in another version of BMAD, stands for this record today. */
function leadsTo(record: BmadRecord, name: string, { catalogue }: Workspace): boolean {
  const resolve = (): BmadRecord =>
    catalogue.names.resolve({ name, kinds: KINDS_OF.workflow, fuzzy: false }).record;
  const found = attempt(resolve, orElse(undefined));
  return found !== undefined && (found === record || found.deprecated?.successor === record.name);
}
