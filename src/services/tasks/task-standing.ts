import { present } from '../../base/present.ts';
import { shortDigest } from '../../base/sha256.ts';
import type { Decision } from '../../model/decision.ts';
import type { Task } from '../../model/task.ts';

/**
 * What a task is worth on this machine. Its file lies where others write too, so the file says what was done, and the user's
 * state says what a person has agreed to.
 */

/** Stands for everything that is decided on; any other text, agent or file has another one. */
export function taskDigest(task: Task, texts: { brief: string | undefined; result?: string }): string {
  const { agent, task: text, output_key, context_files, depends_on, run_id, branch, outside } = task;
  const decided = [agent, text, output_key, context_files, depends_on, run_id, branch, outside];
  const whole = [...decided, texts.brief, texts.result].map((part) => part ?? null);
  return shortDigest(JSON.stringify(whole));
}

/** Of what a worker reads. */
const begunDigest = (task: Task): string => taskDigest(task, { brief: task.brief_digest });

/** The same with what came of it. */
const resultDigest = (task: Task): string =>
  taskDigest(task, present({ brief: task.brief_digest, result: task.result?.digest }));

/** A result is decided on for itself. */
export const resultId = (id: string): string => `${id}.result`;

/** What was decided about tasks on this machine, by id. */
export type Noted = Pick<ReadonlyMap<string, Decision>, 'get'>;

/** The task with the state that it has here, and with the reason for it where its file says something else. */
export function standing(task: Task, noted: Noted): Task {
  const begun = noted.get(task.task_id);
  if (mayBegin(task, begun)) return resultStanding(withApproval(task, begun), noted);
  return { ...task, status: 'needs_approval', approval: { reason: whyItWaits(task, begun) } };
}

const agrees = (decision: Decision | undefined, digest: string): boolean =>
  decision?.yes === true && decision.digest === digest;

/**
 * What waits in the queue is begun only by a decision from here. What was begun or has ended elsewhere stands as it is, unless
 * it was noted here that it waits for a person of this machine, whatever its file has become since.
 */
function mayBegin(task: Task, begun: Decision | undefined): boolean {
  if (task.status === 'queued') return agrees(begun, begunDigest(task));
  return begun?.yes !== false || ['needs_approval', 'cancelled', 'failed'].includes(task.status);
}

function resultStanding(task: Task, noted: Noted): Task {
  // The process that was to change the file after a decision may have been ended.
  if (task.status === 'needs_approval')
    return agrees(noted.get(task.task_id), begunDigest(task)) ? { ...task, status: 'queued' } : task;
  const taken = noted.get(resultId(task.task_id));
  if (taken === undefined || !['completed', 'needs_verification'].includes(task.status)) return task;
  const decided = withApproval(task, taken);
  if (agrees(taken, resultDigest(task))) return { ...decided, status: 'completed' };
  if (task.status === 'needs_verification') return task;
  return { ...decided, status: 'needs_verification', approval: { reason: whyItWaits(task, taken) } };
}

/** Who has decided is what was noted here; where nothing was, it is only what the file says. */
function withApproval(task: Task, decision: Decision | undefined): Task {
  const { approval, ...rest } = task;
  const reason = approval?.reason ?? task.status;
  if (decision !== undefined && decision.via !== 'maker') {
    const { by, at, yes: agreed } = decision;
    return { ...rest, approval: { reason, by, at, agreed } };
  }
  if (approval === undefined || decision?.yes === true) return rest;
  const { by, agreed } = approval;
  const elsewhere = { by: by && `${by}, elsewhere`, agreed: agreed === true ? undefined : agreed };
  return { ...rest, approval: present({ reason, ...(decision === undefined ? elsewhere : {}) }) };
}

function whyItWaits({ status, approval }: Task, decision: Decision | undefined): string {
  if (decision === undefined) {
    if (approval?.agreed !== true) return 'Not queued on this machine';
    const { by = '?', at = '?' } = approval;
    return `Approved elsewhere by ${by} on ${at.slice(0, 10)}, not on this machine`;
  }
  if (decision.yes)
    return decision.via === 'maker'
      ? 'Changed since it was queued on this machine'
      : 'Changed since it was approved on this machine';
  return decision.via === 'maker'
    ? `Its file says ${status}, but no one has approved it on this machine`
    : `Its file says ${status}, but ${decision.by} has refused it on this machine`;
}
