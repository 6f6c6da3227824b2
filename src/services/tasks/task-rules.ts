import { say, t } from '../../base/text/message.ts';
import { BmadError, type ErrorDetails, quoted } from '../../base/errors.ts';
import { grouped, present } from '../../base/values.ts';
import type { DecidedBy } from '../../model/memory.ts';
import type { Task, TaskState } from '../../model/task.ts';
import { digestOf } from './task-store.ts';

export interface NewTask {
  agent: string;
  task: string;
  outputKey: string;
  contextFiles: readonly string[];
  contextDigests?: Readonly<Record<string, string>> | undefined;
  dependsOn: readonly string[];
  runId?: string | undefined;
  branch?: string | undefined;
  createdBy: string;
  /** Why a person has to agree first; nothing when nobody has to. */
  approval?: string | undefined;
  /** All that a worker needs to know, as one text. */
  brief: string;
  /** Who asked for it, when it comes from outside the project. */
  outside?: Task['outside'];
}

export function newTask(order: NewTask, id: string, at: string): Task {
  return present<Task>({
    version: 1,
    task_id: id,
    agent: order.agent,
    task: order.task,
    output_key: order.outputKey,
    context_files: [...order.contextFiles],
    context_digests: order.contextDigests && { ...order.contextDigests },
    brief_digest: digestOf(order.brief),
    depends_on: [...order.dependsOn],
    run_id: order.runId,
    branch: order.branch,
    status: order.approval === undefined ? 'queued' : 'needs_approval',
    created_at: at,
    updated_at: at,
    created_by: order.createdBy,
    attempts: 0,
    outside: order.outside,
    approval: order.approval === undefined ? undefined : { reason: order.approval },
  });
}

/** How often a task may be begun: a worker that dies with it every time is not given it for ever. */
export const ATTEMPTS = 3;

/** Results are merged by their keys, so one that is in use is not given out again. */
export function checkKey(
  { outputKey, runId }: Pick<NewTask, 'outputKey' | 'runId'>,
  tasks: readonly Task[],
): void {
  const same = tasks.find(
    ({ output_key, run_id, status }) =>
      output_key === outputKey && run_id === runId && status !== 'cancelled' && status !== 'failed',
  );
  if (same === undefined) return;
  throw new BmadError(
    'conflict',
    t`The output key ${quoted(outputKey)} is already used by ${same.task_id} (${say(same.status)}).`,
    {
      subject: outputKey,
      hint: t`Choose another key.`,
      steps: [
        same.status === 'completed' || same.status === 'needs_verification'
          ? { operation: 'task_show', args: { task_id: same.task_id }, why: t`Read its result` }
          : { operation: 'task_cancel', args: { task_id: same.task_id }, why: t`Or cancel that task` },
      ],
    },
  );
}

export type Lease = NonNullable<Task['lease']>;

/** Tasks by their keys. */
export type TasksByKey = ReadonlyMap<string, readonly Task[]>;

export const byKey = (tasks: readonly Task[]): TasksByKey => grouped(tasks, ({ output_key }) => output_key);

/** The task whose result stands for a key: of the same run if there is one, else of none. */
export function completed(key: string, runId: string | undefined, all: TasksByKey): Task | undefined {
  const tasks = all.get(key) ?? [];
  const done = tasks.filter(({ status }) => status === 'completed');
  const own = done.findLast(({ run_id }) => run_id === runId);
  if (own !== undefined) return own;
  // One of this run that is not done yet is what is meant, whatever else has the key.
  const isMeant = tasks.some(
    ({ run_id, status }) => run_id === runId && !['cancelled', 'failed'].includes(status),
  );
  return isMeant ? undefined : done.findLast(({ run_id }) => run_id === undefined);
}

export function checkDependencies({ dependsOn, runId }: NewTask, all: readonly Task[]): void {
  // Keys are those of a run; a task may also build on what belongs to no run.
  const tasks = all.filter(({ run_id }) => run_id === runId || run_id === undefined);
  const unknown = dependsOn.filter((key) => !tasks.some(({ output_key }) => output_key === key));
  if (unknown.length === 0) return;
  const keys = [...new Set(tasks.map(({ output_key }) => output_key))];
  throw new BmadError(
    'invalid_input',
    t`depends_on: no task has the output key ${unknown.map((key) => quoted(key)).join(', ')}.`,
    {
      subject: unknown[0] ?? '',
      ...(keys.length === 0
        ? {
            hint: t`There are no tasks yet.`,
            steps: [
              {
                operation: 'spawn_subagent_task',
                args: { output_key: unknown[0] },
                open: ['agent', 'task'],
                why: t`Add that one first`,
              },
            ],
          }
        : { hint: t`Known keys: ${keys.slice(-20).join(', ')}.` }),
    },
  );
}

export function holding(task: Task, claim: string): { task: Task; lease: Lease } {
  const { lease } = task;
  if (task.status === 'running' && lease?.claim === claim) return { task, lease };
  if (task.status === 'running')
    throw new BmadError(
      'conflict',
      t`${task.task_id} is held by ${quoted(lease?.worker ?? '')}, not by this claim.`,
      {
        subject: task.task_id,
        hint: t`Pass the "claim" you got when you claimed it. If its lease has expired, another worker may have the task.`,
      },
    );
  throw wrongState(task, t`be finished by this claim`);
}

export function wrongState({ task_id, status, approval }: Task, what: string): BmadError {
  const args = { task_id };
  const advice: Partial<Record<TaskState, Pick<ErrorDetails, 'hint' | 'steps'>>> = {
    needs_approval: {
      hint:
        approval === undefined
          ? t`A person must approve it first.`
          : t`${approval.reason.replace(/[.!?]$/, '')}. A person must approve it first.`,
      steps: [{ operation: 'task_approve', args, why: t`Approve it` }],
    },
    queued: {
      hint: t`A task whose lease expires returns to the queue.`,
      steps: [{ operation: 'task_claim', args, why: t`Claim it first` }],
    },
    running: { hint: t`Another worker has it; its lease will expire.` },
  };
  return new BmadError('conflict', t`${task_id} is ${say(status)} and cannot ${what}.`, {
    subject: task_id,
    ...(advice[status] ?? { steps: [{ operation: 'task_show', args, why: t`See what happened to it` }] }),
  });
}

/** What follows from a decision, for a task that waits for one: when it is agreed to, and when it is not. */
const OUTCOMES: Partial<Record<TaskState, readonly [TaskState, TaskState]>> = {
  needs_approval: ['queued', 'cancelled'],
  needs_verification: ['completed', 'failed'],
};

/** Who agrees says to what; a refusal holds whatever was read. */
export type Answer = { by: string; via: DecidedBy } & (
  | { agrees: true; digest: string }
  | { agrees: false; reason?: string | undefined }
);

export function outcomesOf(task: Task): readonly [TaskState, TaskState] {
  const outcomes = OUTCOMES[task.status];
  if (outcomes !== undefined) return outcomes;
  const { by, at, agreed } = task.approval ?? {};
  if (by === undefined || at === undefined) throw wrongState(task, t`be approved or refused`);
  // Of two who decide, the second learns who was first.
  const when = at.slice(0, 16).replace('T', ' ');
  throw new BmadError(
    'conflict',
    agreed === false
      ? t`${task.task_id} was refused already, by ${by} at ${when} (UTC).`
      : t`${task.task_id} was approved already, by ${by} at ${when} (UTC).`,
    {
      subject: task.task_id,
      steps: [{ operation: 'task_show', args: { task_id: task.task_id }, why: t`See what happened to it` }],
    },
  );
}

/** Claimed twice: by a worker that has forgotten it, or after somebody else. The word that proves it is told once. */
function claimedAlready({ task_id, lease }: Task, worker: string): BmadError {
  const isOwn = lease?.worker === worker;
  return new BmadError(
    'conflict',
    t`${task_id} is claimed already, by ${quoted(lease?.worker ?? '')} until ${lease?.until.slice(0, 16) ?? ''}.`,
    {
      subject: task_id,
      hint: isOwn
        ? t`If that was you, continue with the brief you got and finish it with the claim that came with it; if the claim is lost, the task is free again when its lease ends.`
        : t`It is free again when its lease ends, unless its worker finishes it.`,
      steps: [
        ...(isOwn
          ? [
              {
                operation: 'task_complete',
                args: { task_id },
                open: ['claim', 'result'],
                why: t`When it is done`,
              },
            ]
          : []),
        { operation: 'task_show', args: { task_id }, why: t`Read its brief` },
        { operation: 'task_claim', why: t`Claim another` },
      ],
    },
  );
}

/** A task that is named is begun now or not at all. */
export function claimable(task: Task, tasks: TasksByKey, worker: string): Task {
  if (task.status === 'running') throw claimedAlready(task, worker);
  if (task.status !== 'queued') throw wrongState(task, t`be claimed`);
  const missing = task.depends_on.filter((key) => completed(key, task.run_id, tasks) === undefined);
  if (missing.length === 0) return task;
  throw new BmadError(
    'conflict',
    t`${task.task_id} waits for ${missing.map((key) => quoted(key)).join(', ')}.`,
    {
      subject: task.task_id,
      hint: t`They must be completed first.`,
      steps: [{ operation: 'task_list', why: t`See who has them` }],
    },
  );
}
