import * as z from 'zod';
import type { Step } from '../../base/step.ts';
import { plural } from '../../base/text/text.ts';
import type { Run } from '../../model/run.ts';
import type { ProgressAction } from '../context.ts';
import { stepSchema } from '../fields.ts';
import { begunText } from '../runs/begun-step.ts';
import { asideText, closing } from '../runs/run-aside.ts';
import { allDone, fileSteps, nextLabel, runData, type RunData } from '../runs/run-view.ts';

export const evidenceSchema = z.object({ file: z.string(), line: z.int().optional(), says: z.string() });
export type Evidence = z.output<typeof evidenceSchema>;

export const actionSchema = z.object({
  what: z.string(),
  why: z.string(),
  /** The agent or workflow to use, by the name it has in this project. */
  use: z.string().optional(),
  agent: z.string().optional(),
  /** When it is used at all, where the action itself is only an edit. */
  use_for: z.string().optional(),
  /** The arguments of the next call of `bmad`. */
  call: z.record(z.string(), z.string()).optional(),
  /** What to do where it is no call of `bmad`: an operation and its arguments. */
  action: z.object({ name: z.string(), args: z.record(z.string(), z.string()) }).optional(),
  /** Of a run that goes on: the file of its next step. */
  steps: z.array(stepSchema).optional(),
  optional: z.boolean(),
  /** A run that nobody should go on with: closing it is all there is to do. */
  aside: z.enum(['dead', 'old']).optional(),
  evidence: z.array(evidenceSchema),
});
export type Action = z.output<typeof actionSchema>;

/** What receipts say about work that is called done: a ledger says that of anything. */
export const verificationSchema = z.object({
  /** The newest verdict that was given here; `outdated`: a PASS of what has changed since; `none`: there was never one. */
  verdict: z.enum(['PASS', 'FAIL', 'outdated', 'none']),
  receipt: z.string().optional(),
  /** What has changed since the PASS, in words. */
  outdated: z.string().optional(),
  /** Of a PASS: the project is too large to be compared with it on each call. */
  compared: z.literal(false).optional(),
  /** Whether the completion contract could say more now. */
  contract: z.enum(['may run', 'waits for a person', 'forbidden', 'nothing to run', 'unknown']),
  says: z.string(),
  /** What the contract runs, or would run once a person has allowed it. */
  would: z.array(z.string()).optional(),
  steps: z.array(stepSchema),
});
export type Verification = z.output<typeof verificationSchema>;

const OPERATIONS = { reconcile: 'reconcile_ledgers', contract: 'run_completion_contract' };

export function actionData({
  what,
  why,
  worker,
  workerFor,
  about,
  operation,
  optional,
  evidence,
}: ProgressAction): Action {
  const message = [worker?.command, about].filter((part) => part !== undefined).join(' ');
  return {
    what,
    why,
    ...(worker === undefined ? {} : { use: [worker.name, worker.command].filter(Boolean).join(' ') }),
    ...(worker?.by === undefined ? {} : { agent: worker.by }),
    ...(worker === undefined || workerFor === undefined ? {} : { use_for: workerFor }),
    ...(worker === undefined
      ? {}
      : {
          call: { operation: 'execute', [worker.kind]: worker.name, ...(message === '' ? {} : { message }) },
        }),
    ...(operation === undefined ? {} : { action: { name: OPERATIONS[operation], args: {} } }),
    optional: optional ?? false,
    evidence,
  };
}

/** The contract is called only where it may run; who has to do what before that stands above the actions. */
export function askedOf(action: Action, verification: Verification | undefined): Action {
  if (action.action?.name !== OPERATIONS.contract || verification === undefined) return action;
  const { steps, contract } = verification;
  if (contract === 'may run') return action;
  const { action: _, ...rest } = action;
  const [step] = steps;
  return {
    ...rest,
    why: `${action.why}, and ${contract === 'waits for a person' ? 'waits for a person to allow it' : 'cannot run here'}`,
    ...(step === undefined ? {} : { steps: [step] }),
  };
}

export function stepsOf({ what, action, steps = [] }: Action): Step[] {
  return [
    ...(action === undefined ? [] : [{ operation: action.name, args: action.args, why: what }]),
    ...steps,
  ];
}

export function isSame(a: Step, b: Step): boolean {
  return a.operation === b.operation && JSON.stringify(a.args) === JSON.stringify(b.args);
}

/** What can wait comes after what cannot, each in its order. */
function neededFirst(actions: readonly Action[]): Action[] {
  return [...actions.filter(({ optional }) => !optional), ...actions.filter(({ optional }) => optional)];
}

/** What the user wants beyond the plan comes first once all that is planned is built, and after what is under way. */
export function withWish(actions: readonly Action[], wished: Action | undefined): Action[] {
  const sorted = neededFirst(actions);
  if (wished === undefined) return sorted;
  const isOver = actions.every((action) => isLeftLast(action) || isProving(action));
  if (isOver && !wished.optional) return [wished, ...sorted];
  const after = sorted.filter(({ optional }) => !optional).length;
  return sorted.toSpliced(after, 0, { ...wished, optional: true });
}

/** Whether it is the step that proves all of it, which says what there is to say of verification. */
export const isProving = ({ optional, steps = [] }: Action): boolean =>
  !optional && steps.some(({ operation }) => operation === OPERATIONS.contract);

/** Whether it is of those that are left once everything is built. */
export function isLeftLast({ optional, action }: Action): boolean {
  return optional || action?.name === OPERATIONS.reconcile;
}

export function runEvidence(run: Run, root: string): Evidence {
  return evidenceOf(runData(run, root));
}

function evidenceOf({ folder, status }: Pick<RunData, 'folder' | 'status'>): Evidence {
  return { file: `${folder}/state.json`, says: status };
}

/** A run that is set aside is offered last, and only to be closed. */
export function asideAction(run: RunData): Action {
  const { operation: name, args = {} } = closing(run);
  return {
    what: `Close run ${run.run_id}`,
    why: asideText(run) ?? '',
    action: {
      name,
      args: Object.fromEntries(Object.entries(args).map(([key, value]) => [key, String(value)])),
    },
    optional: true,
    ...(run.aside === undefined ? {} : { aside: run.aside.kind }),
    evidence: [evidenceOf(run)],
  };
}

const NAMED = 3;

/** What is begun comes before anything new: the newest open run, and which others there are. */
export function runAction(run: RunData, others: readonly Run[]): Omit<Action, 'optional'> {
  const over = allDone(run);
  const { completed, total } = run.progress;
  const at = run.next_files === undefined ? '' : `, next step ${nextLabel(run)}`;
  const steps = total === undefined ? '' : `, ${completed} of ${plural(total, 'step')}${begunText(run)}${at}`;
  const more = others.length > NAMED ? ` and ${others.length - NAMED} more` : '';
  const also =
    others.length === 0
      ? ''
      : `; also open: ${others
          .slice(0, NAMED)
          .map(({ id }) => id)
          .join(', ')}${more}`;
  const branch: Record<string, string> = run.branch === 'main' ? {} : { branch: run.branch };
  return {
    what: `${over ? 'End' : 'Resume'} run ${run.run_id}`,
    why: `it is ${run.status}${over ? ' and all its steps are done' : steps}${also}`,
    action: { name: over ? 'run_finish' : 'run_resume', args: { run_id: run.run_id, ...branch } },
    ...(run.next_files === undefined ? {} : { steps: fileSteps(run) }),
    evidence: [evidenceOf(run)],
  };
}
