import { ours } from '../../base/errors.ts';
import { present, shortDigest } from '../../base/values.ts';
import type { Decision, Decisions } from '../../model/memory.ts';
import { FINAL_STATES, LONGEST_LEASE_MINUTES, type Task } from '../../model/task.ts';
import { briefFile } from './create-task.ts';
import { ATTEMPTS, outcomesOf } from './task-rules.ts';
import { digestOf, type StoredTasks, type TaskStore } from './task-store.ts';

/** What a person has to read before deciding, and what stands for it. */
interface DecidedTask {
  brief: string;
  result?: string;
  digest: string;
}

type Waiting = DecidedTask & { task: Task };

export const MINUTE = 60_000;
/** What the clocks of machines that share a queue may differ by. */
const CLOCKS_APART_MS = 10 * MINUTE;

/** The tasks of a project as they count on this machine, and what has to be read before somebody decides on one. */
export class DecidedTasks {
  protected readonly store: TaskStore;
  protected readonly decisions: Decisions;

  constructor(store: TaskStore, decisions: Decisions) {
    this.store = store;
    this.decisions = decisions;
  }

  /** The file that says what a task is to do. */
  fileOf({ task_id }: Pick<Task, 'task_id'>): string {
    return this.store.pathOf(briefFile(task_id));
  }

  /** Another number when something has happened to a task. */
  look(): Promise<number> {
    return this.store.look();
  }

  /** The time that leases go by. */
  now(): number {
    return this.store.now();
  }

  get place(): TaskStore['place'] {
    return this.store.place;
  }

  async all(): Promise<StoredTasks> {
    const { tasks, problems } = await this.store.all();
    return { tasks: await this.standing(tasks), problems };
  }

  /** Those that something still follows from. */
  async open(): Promise<Task[]> {
    return (await this.all()).tasks.filter(({ status }) => !FINAL_STATES.includes(status));
  }

  /** As it is now; its texts are read too. */
  async get(id: string, how?: { decides?: boolean }): Promise<Task> {
    const task = await this.store.get(id, how);
    const [brief, result] = await Promise.all([
      this.brief(task).catch(ours(() => undefined)),
      this.result(task).catch(ours(() => undefined)),
    ]);
    const read = present<Task>({
      ...task,
      brief_digest: brief && digestOf(brief),
      result: task.result && { ...task.result, digest: result === undefined ? '' : digestOf(result) },
    });
    return (await this.standing([read]))[0] as Task;
  }

  /** A task that waits for a decision, and nothing else. */
  async undecided(id: string): Promise<Task> {
    const task = await this.get(id, { decides: true });
    outcomesOf(task);
    return task;
  }

  brief(task: Task): Promise<string> {
    return this.store.text(briefFile(task.task_id));
  }

  async result({ result }: Task): Promise<string | undefined> {
    return result === undefined ? undefined : this.store.text(result.file);
  }

  async decided(task: Task): Promise<DecidedTask> {
    const brief = await this.brief(task);
    // What was handed in before anybody had agreed to the task is not part of the decision.
    const result = task.status === 'needs_approval' ? undefined : await this.result(task);
    const digests = { brief: digestOf(brief), result: result === undefined ? undefined : digestOf(result) };
    return present<DecidedTask>({ brief, result, digest: taskDigest(task, present(digests)) });
  }

  /** Those that their files have queued without anybody on this machine, and what stands for all of them together. */
  async elsewhere(): Promise<{ waiting: Waiting[]; digest: string }> {
    const { tasks } = await this.store.all();
    const here = await this.standing(tasks);
    const waiting: Waiting[] = [];
    for (const [index, stored] of tasks.entries()) {
      const task = here[index] as Task;
      if (current(stored, this.store.now()).status !== 'queued' || task.status !== 'needs_approval') continue;
      const decided = await this.decided(task).catch(ours(() => undefined));
      if (decided !== undefined) waiting.push({ task, ...decided });
    }
    const all = waiting.map(({ task, digest }) => `${task.task_id} ${digest}`).join('\n');
    return { waiting, digest: shortDigest(all) };
  }

  protected async standing(tasks: readonly Task[]): Promise<Task[]> {
    const noted: Noted = tasks.length === 0 ? new Map() : await this.decisions.all('task');
    const before = stoodAll.get(tasks);
    const here = before?.noted === noted ? before.here : tasks.map((task) => stood(task, noted));
    stoodAll.set(tasks, { noted, here });
    // A lease ends by itself.
    return here.map((task, at) =>
      tasks[at]?.status === 'running' ? standing(current(tasks[at], this.now()), noted) : task,
    );
  }

  /** Keeps with the user what was decided on a task or, once it has been handed in, on its result. */
  protected async note(
    task: Task,
    about: 'task' | 'result',
    said: Pick<Decision, 'yes' | 'by' | 'via'> & { digest?: string },
  ): Promise<Decision> {
    const isResult = about === 'result';
    const digests = { brief: task.brief_digest, result: isResult ? task.result?.digest : undefined };
    return this.decisions.decide({
      kind: 'task',
      id: isResult ? resultId(task.task_id) : task.task_id,
      digest: taskDigest(task, present(digests)),
      ...said,
    });
  }
}

interface Stood {
  decisions: readonly (Decision | undefined)[];
  here: Task;
}

const known = new WeakMap<Task, Stood>();
const stoodAll = new WeakMap<readonly Task[], { noted: Noted; here: readonly Task[] }>();

/** Of thousands that have ended, each is looked at again only when something was decided about it. */
function stood(task: Task, noted: Noted): Task {
  const decisions = [noted.get(task.task_id), noted.get(resultId(task.task_id))];
  const before = known.get(task);
  if (before !== undefined && decisions.every((each, at) => each === before.decisions[at]))
    return before.here;
  const here = standing(task, noted);
  known.set(task, { decisions, here });
  return here;
}

/** A task whose worker went silent is free again, or has failed for good. */
function current(task: Task, now: number): Task {
  if (task.status !== 'running' || task.lease === undefined) return task;
  const left = Date.parse(task.lease.until) - now;
  // No lease is that long: it was made by a clock that was ahead, and would hold the task until the clock gets there.
  if (left > 0 && left <= LONGEST_LEASE_MINUTES * MINUTE + CLOCKS_APART_MS) return task;
  const { lease, ...rest } = task;
  const gone = `${lease.worker} claimed it and let the lease expire`;
  return task.attempts < ATTEMPTS
    ? { ...rest, status: 'queued' }
    : { ...rest, status: 'failed', error: `${gone}; ${ATTEMPTS} attempts` };
}

/**
 * What a task is worth on this machine. Its file lies where others write too, so the file says what was done, and the user's
 * state says what a person has agreed to.
 */

/** Stands for everything that is decided on; any other text, agent or file has another one. */
function taskDigest(task: Task, texts: { brief: string | undefined; result?: string }): string {
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
const resultId = (id: string): string => `${id}.result`;

/** What was decided about tasks on this machine, by id. */
type Noted = Pick<ReadonlyMap<string, Decision>, 'get'>;

/** The task with the state that it has here, and with the reason for it where its file says something else. */
function standing(task: Task, noted: Noted): Task {
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
