import * as z from 'zod';
import { present } from '../../base/values.ts';
import { isSecretName } from '../../base/secrets/names.ts';
import { shownText } from '../../base/secrets/scanner.ts';
import type { Step } from '../../base/step.ts';
import { plural, say, t } from '../../base/text/message.ts';
import {
  type Run,
  RUN_STATUSES,
  type RunBranch,
  type RunPlace,
  type RunsReading,
  type RunState,
  type RunStatus,
} from '../../model/run.ts';
import type { Context } from '../context.ts';
import { textOrLines, textUpTo } from '../fields.ts';

/** Why a run is nothing to go on with: `old` ones can still be, the others not. */
const asideSchema = z.object({
  kind: z.enum(['dead', 'old']),
  why: z.string(),
  /** The day of its last checkpoint. */
  since: z.string(),
  /** The workflow that does now what it did, by its name here. */
  instead: z.string().optional(),
});
export type RunAside = z.output<typeof asideSchema>;

interface SetAside {
  run_id: string;
  branch: string;
  aside?: RunAside | undefined;
}

/** `Run x cannot be resumed: it was last touched on 2026-02-27, and its workflow y is not here; build does its work now.` */
export function asideText({ run_id: id, aside }: Omit<SetAside, 'branch'>): string | undefined {
  if (aside === undefined) return undefined;
  return aside.kind === 'old'
    ? t`Run ${id} is old: ${asideWhy(aside)}.`
    : t`Run ${id} cannot be resumed: ${asideWhy(aside)}.`;
}

/** The same where it is said that the run is to be closed. */
export function asideWhy({ why, since, instead }: RunAside): string {
  const now = instead === undefined ? '' : t`; ${instead} does its work now`;
  return t`it was last touched on ${since}, and ${why}${now}`;
}

/** Whoever did its work, it did not reach its end. */
export function closing({ run_id, branch }: SetAside): Step {
  return {
    operation: 'run_finish',
    args: { run_id, ...(branch === 'main' ? {} : { branch }), status: 'abandoned' },
    why: t`Close it`,
  };
}

/** What can be done about a run that cannot be resumed. */
export function asideSteps(run: SetAside): Step[] {
  const name = run.aside?.instead;
  return [
    closing(run),
    name === undefined
      ? { operation: 'list', args: { what: 'workflows' }, why: t`List the workflows there are` }
      : {
          operation: 'execute',
          args: { name, kind: 'workflow' },
          why: t`Start again, with what is recorded above`,
        },
  ];
}

/** A run as data and in words, as the operations about runs show it. */

export const runSchema = z.object({
  run_id: z.string(),
  branch: z.string(),
  archive: z.string().optional(),
  status: z.enum(RUN_STATUSES),
  workflow: z.string().optional(),
  workflow_path: z.string().optional(),
  /** What is served for it here, by its name; not there where nothing is. */
  served: z.string().optional(),
  /** Whether that is another file than it was begun with. */
  served_instead: z.boolean().optional(),
  /** Whether its workflow is not here any more, under any name. */
  workflow_missing: z.boolean().optional(),
  /** A step on record that the files of its workflow do not have, or not any more. */
  lost_step: z.string().optional(),
  /** Why it is nothing to go on with, and what takes its place. */
  aside: asideSchema.optional(),
  started_at: z.string().optional(),
  last_checkpoint: z.string().optional(),
  progress: z.object({
    completed: z.int(),
    total: z.int().optional(),
    percent: z.int().optional(),
  }),
  steps_completed: z.array(z.int()),
  current_step: z.int().optional(),
  /** The step to go on with; nothing when there is none left. */
  resume_step: z.int().optional(),
  /** The file of that step, or of the part of it that is next; several where one is to be chosen. */
  next_files: z.array(z.object({ step: z.string(), uri: z.string() })).optional(),
  /** The step that was last told by a name, such as a file of the workflow. */
  last_step: z.string().optional(),
  agent: z.string().optional(),
  session_variables: z.record(z.string(), z.unknown()),
  artefacts: z.array(
    z.object({
      step: z.int().optional(),
      name: z.string(),
      path: z.string(),
      exists: z.boolean(),
      file: z.string().optional(),
    }),
  ),
  checkpoint_id: z.string().optional(),
  issues: z.array(z.unknown()),
  agent_notes: z.string().optional(),
  graph: z
    .object({
      status: z.string().optional(),
      total: z.int(),
      completed: z.int(),
      running: z.array(z.string()),
      failed: z.array(z.string()),
    })
    .optional(),
  folder: z.string(),
  problems: z.array(z.string()),
});
export type RunData = z.output<typeof runSchema>;

/** `counted` is how many steps the workflow's files have, which counts for more than what was told. */
export function runData(run: Run, root: string, counted?: number): RunData {
  const { state, graph } = run;
  const { completed, total, percent, next } = progress(state, counted);
  return runSchema.parse(
    present({
      run_id: run.id,
      branch: run.branch,
      archive: run.archive,
      status: run.status,
      workflow: state?.workflow,
      workflow_path: state?.workflowPath,
      started_at: state?.startedAt,
      last_checkpoint: state?.lastCheckpoint,
      progress: present({ completed, total, percent }),
      steps_completed: [...(state?.stepsCompleted ?? [])],
      current_step: state?.currentStep,
      resume_step: next,
      last_step: state?.lastStep,
      agent: state?.agent,
      session_variables: { ...state?.variables },
      artefacts: (state?.artefacts ?? []).map(({ step, name, path, file }) =>
        present({ step, name, path, exists: file !== undefined, file }),
      ),
      checkpoint_id: state?.checkpointId,
      issues: [...(state?.issues ?? [])],
      agent_notes: state?.notes === '' ? undefined : state?.notes,
      graph: graph === undefined ? undefined : present({ ...graph }),
      folder: shownPlace(run.place, root),
      problems: [...run.problems],
    }),
  );
}

/** A folder as people find it: from the top of the project, or whole when it lies elsewhere. */
function shownPlace({ base, path }: RunPlace, root: string): string {
  return base === root ? path : `${base}/${path}`;
}

/** How far a run is, and where it goes on: after the last step that was completed. */
function progress(state: RunState | undefined, counted: number | undefined) {
  if (state === undefined) return { completed: 0 };
  const total = counted ?? state.totalSteps;
  const completed = new Set(state.stepsCompleted).size;
  const last = state.stepsCompleted.reduce((most, step) => Math.max(most, step), -Infinity);
  const after = completed === 0 ? (state.resumeFromStep ?? state.currentStep ?? 1) : last + 1;
  const over = hasEnded(state) || (total !== undefined && after > total);
  const percent =
    total === undefined || total === 0 ? undefined : Math.min(100, Math.round((100 * completed) / total));
  return { completed, total, percent, next: over ? undefined : after };
}

/** `dev-story-20260227-143022: running, 3 of 8 steps, 2026-02-27T14:41:00Z`. */
export function runLine(
  run: Pick<RunData, 'run_id' | 'status' | 'progress' | 'last_checkpoint' | 'resume_step' | 'last_step'>,
): string {
  return [
    t`${run.run_id}: ${say(run.status)}`,
    `${stepsText(run.progress)}${begunText(run)}`,
    run.last_checkpoint,
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

export function stepsText({ completed, total, percent }: RunData['progress']): string {
  return total === undefined
    ? plural(completed, 'step done', 'steps done')
    : t`${completed} of ${plural(total, 'step')}${percent === undefined ? '' : ` (${percent} %)`}`;
}

/** `Next: step 2b, bmad://…/step-02b-vision.md`. */
export function nextLine(run: RunData): string | undefined {
  if (run.resume_step === undefined || run.aside?.kind === 'dead') return undefined;
  const files = (run.next_files ?? []).map(({ uri }) => uri);
  return t`Next: step ${nextLabel(run)}${files.length === 0 ? '' : `, ${files.join(t` or `)}`}`;
}

export function nextLabel({ resume_step: step, next_files: files }: RunData): string {
  const [only, other] = files ?? [];
  return only === undefined || other !== undefined ? String(step ?? 1) : only.step;
}

/** What to know while working in a run, beside the steps that keep it. */
export function keepingNotes(run: RunData): string[] {
  if (allDone(run)) return [];
  const { folder } = run;
  // What lies outside the project is the server's own; nothing of the project's goes there.
  const place = isElsewhere(folder) ? '' : t`, or into ${folder}/artefacts`;
  return [
    t`A checkpoint can also record variables, notes and the paths of files, which go where the workflow says${place}.`,
  ];
}

/** How the worker keeps a run. */
export function keepingSteps(run: RunData): Step[] {
  if (allDone(run)) return [endIt(run)];
  return [
    checkpoint(run, t`After each step`),
    {
      operation: 'run_finish',
      args: { run_id: run.run_id, status: 'completed' },
      why: t`At the end (or with failed or paused)`,
    },
  ];
}

/** The reads of what is next. */
export function fileSteps({ next_files: files = [] }: RunData): Step[] {
  const choice = files.length > 1 ? t`, one of ${files.length} to choose from` : '';
  return files.map(({ step, uri }) => ({
    operation: 'read',
    args: { target: uri, kind: 'resource' },
    why: t`Read step ${step}${choice}`,
  }));
}

/** What comes next in a run that is going on: the step after, or its end. */
export function nextSteps(run: RunData): Step[] {
  if (run.status !== 'running' || run.archive !== undefined) return [];
  return allDone(run) ? [endIt(run)] : [...fileSteps(run), checkpoint(run, t`After the next step`)];
}

function checkpoint(run: RunData, why: string): Step {
  const label = nextLabel(run);
  const step = /^\d+$/.test(label) ? Number(label) : label;
  return { operation: 'run_checkpoint', args: { run_id: run.run_id, step }, why };
}

const endIt = ({ run_id }: RunData): Step => ({
  operation: 'run_finish',
  args: { run_id },
  why: t`All steps are done, so finish it`,
});

export function openRun(workflow: string | undefined, why: string): Step {
  return {
    operation: 'run_open',
    ...(workflow === undefined ? { open: ['workflow'] } : { args: { workflow } }),
    why,
  };
}

/** Whether nobody goes on with it: it came to its end, or was given up. */
export const hasEnded = ({ status }: { status: RunStatus }): boolean =>
  status === 'completed' || status === 'abandoned';

/** Whether nothing is left of a run but to end it. */
export function allDone({ status, resume_step: step, progress: { total } }: RunData): boolean {
  return !hasEnded({ status }) && step === undefined && total !== undefined && total > 0;
}

const isElsewhere = (folder: string): boolean => /^(?:[a-z]:)?[\\/]/i.test(folder);

/** The most recent run of a branch; one that cannot be read says nothing and hides no other. */
export function latestRun({ runs }: Pick<RunBranch, 'runs'>): Run | undefined {
  const known = runs.filter(({ status }) => status !== 'unknown');
  return [...(known.length > 0 ? known : runs)].sort(byRecency)[0];
}

export function byRecency(a: Run, b: Run): number {
  return b.latest - a.latest || (a.id < b.id ? 1 : -1);
}

/** Arguments that the operations about runs share. */

export const runIdField = textUpTo(200).describe('Exact id of the run');
export const branchField = textUpTo(200);
export const stepField = z.int().min(0).max(100_000);
const stepWords = 'Expected a whole number, or the name of a step such as "step-02b-vision".';
/** A step by its number, or by the name that the workflow's texts have for it. */
export const namedStepField = z.union(
  [
    stepField,
    z
      .string()
      .trim()
      .min(1)
      .max(200)
      .regex(/\d|\bstep-/i, { error: stepWords }),
  ],
  { error: stepWords },
);
const notesText = textUpTo(20_000);
export const notesField = textOrLines(notesText);

export const variablesField = z.record(textUpTo(200), z.unknown(), {
  error: 'Expected an object such as {"topic": "caching"}.',
});

/** A value as it may be kept: a run lies in the project, where others read it. */
export function withoutSecrets<T>(value: T, context: Pick<Context, 'secrets'>): T {
  const hide = (text: string): string => shownText(text, (secret) => context.secrets.hide(secret));
  const safe = (inner: unknown): unknown => {
    if (typeof inner === 'string') return hide(inner);
    if (Array.isArray(inner)) return inner.map(safe);
    if (typeof inner !== 'object' || inner === null) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([key, each]) => [
        key,
        typeof each === 'string' && isSecretName(key) ? '***' : safe(each),
      ]),
    );
  };
  return safe(value) as T;
}

interface At {
  resume_step?: number | undefined;
  last_step?: string | undefined;
}

/** A step counts once its last part is done: after 2 and 2b, where 2c follows, step 2 has been begun. */
export function begunText({ resume_step: step, last_step: last }: At): string {
  const name = last?.replaceAll('\\', '/').split('/').at(-1) ?? '';
  const digits = /^(?:step)?[\s_-]?(?:[a-z]-)?(\d{1,6})/i.exec(name)?.[1];
  return step !== undefined && Number(digits) === step ? t`, step ${step} begun` : '';
}

type Begun = Pick<RunData, 'workflow' | 'workflow_path' | 'served' | 'served_instead'>;

/** Whether a run was begun under a name that another version has, or with a file that is not here. */
export function isOtherVersion({ workflow, served, served_instead: isOther }: Begun): boolean {
  return served !== undefined && (isOther === true || (workflow !== undefined && served !== workflow));
}

export function otherVersionNote(run: Begun): string[] {
  if (!isOtherVersion(run)) return [];
  const begun = run.workflow ?? run.workflow_path;
  return [
    t`It was begun as ${begun ?? t`another`}, and ${run.served ?? ''} may number its steps differently: compare what is done before you continue.`,
  ];
}

export const STANDINGS = ['active', 'completed', 'failed'] as const;
type Standing = (typeof STANDINGS)[number];

/** What a branch says about itself when nothing more happens in it. */
const OVER = new Set(['merged', 'archived', 'deleted']);

const isPutAway = ({ archive, status }: Pick<RunBranch, 'archive' | 'status'>): boolean =>
  archive !== undefined || OVER.has(status);

/**
 * What became of a branch, one of three. A branch itself is active, merged or archived; while it is not put away, its
 * runs say whether its work is completed or has failed.
 */
export function standingOf(branch: RunBranch): Standing {
  if (isPutAway(branch)) return 'completed';
  if (latestRun(branch)?.status === 'failed') return 'failed';
  const over = branch.runs.length > 0 && branch.runs.every(hasEnded);
  return over ? 'completed' : 'active';
}

/** In words, with what the branch says about itself where that is something else. */
export function standingText(branch: RunBranch): string {
  return standingWords(standingOf(branch), branch.status);
}

export const standingWords = (standing: Standing, status: string): string =>
  status === standing ? say(standing) : t`${say(standing)} (branch ${say(status)})`;

const OPEN = new Set(['running', 'paused', 'failed']);

/** Runs that somebody should go on with, the newest first. One that failed is over when its workflow was begun anew. */
export function openRuns({ branches }: RunsReading): Run[] {
  return branches
    .filter((branch) => !isPutAway(branch))
    .flatMap(({ runs }) => {
      const open = runs.filter(isOpen);
      if (open.every(({ status }) => status !== 'failed')) return open;
      const newest = newestByWorkflow(runs);
      return open.filter((run) => !isReplaced(run, newest));
    })
    .sort(byRecency);
}

export const isOpen = ({ status }: Run): boolean => OPEN.has(status);

/** The newest run of each workflow. */
function newestByWorkflow(runs: readonly Run[]): ReadonlyMap<string, Run> {
  const newest = new Map<string, Run>();
  for (const run of runs) {
    const workflow = workflowOf(run);
    const known = workflow === undefined ? undefined : newest.get(workflow);
    if (workflow !== undefined && (known === undefined || byRecency(run, known) < 0))
      newest.set(workflow, run);
  }
  return newest;
}

function isReplaced(run: Run, newest: ReadonlyMap<string, Run>): boolean {
  const other = run.status === 'failed' ? newest.get(workflowOf(run) ?? '') : undefined;
  return other !== undefined && other !== run && byRecency(other, run) < 0;
}

export const workflowOf = ({ state }: Run): string | undefined => state?.workflow ?? state?.workflowPath;
