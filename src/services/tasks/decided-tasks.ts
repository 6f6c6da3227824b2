import { ours } from '../../base/expected.ts';
import { present } from '../../base/present.ts';
import { shortDigest } from '../../base/sha256.ts';
import type { Decision, Decisions } from '../../model/decision.ts';
import { FINAL_STATES, LONGEST_LEASE_MINUTES, type Task } from '../../model/task.ts';
import { briefFile } from './create-task.ts';
import { ATTEMPTS, outcomesOf } from './task-rules.ts';
import { resultId, standing, taskDigest, type Noted } from './task-standing.ts';
import { digestOf, type StoredTasks, type TaskStore } from './task-store.ts';

/** What a person has to read before deciding, and what stands for it. */
export interface DecidedTask {
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
  readonly #decisions: Decisions;

  constructor(store: TaskStore, decisions: Decisions) {
    this.store = store;
    this.#decisions = decisions;
  }

  /** The file that says what a task is to do. */
  fileOf({ task_id }: Pick<Task, 'task_id'>): string {
    return this.store.pathOf(briefFile(task_id));
  }

  /** Another number when something has happened to a task. */
  look(): Promise<number> {
    return this.store.look();
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
      if (current(stored).status !== 'queued' || task.status !== 'needs_approval') continue;
      const decided = await this.decided(task).catch(ours(() => undefined));
      if (decided !== undefined) waiting.push({ task, ...decided });
    }
    const all = waiting.map(({ task, digest }) => `${task.task_id} ${digest}`).join('\n');
    return { waiting, digest: shortDigest(all) };
  }

  protected async standing(tasks: readonly Task[]): Promise<Task[]> {
    const noted: Noted = tasks.length === 0 ? new Map() : await this.#decisions.all('task');
    const before = stoodAll.get(tasks);
    const here = before?.noted === noted ? before.here : tasks.map((task) => stood(task, noted));
    stoodAll.set(tasks, { noted, here });
    // A lease ends by itself.
    return here.map((task, at) =>
      tasks[at]?.status === 'running' ? standing(current(tasks[at]), noted) : task,
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
    return this.#decisions.decide({
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
function current(task: Task): Task {
  if (task.status !== 'running' || task.lease === undefined) return task;
  const left = Date.parse(task.lease.until) - Date.now();
  // No lease is that long: it was made by a clock that was ahead, and would hold the task until the clock gets there.
  if (left > 0 && left <= LONGEST_LEASE_MINUTES * MINUTE + CLOCKS_APART_MS) return task;
  const { lease, ...rest } = task;
  const gone = `${lease.worker} claimed it and let the lease expire`;
  return task.attempts < ATTEMPTS
    ? { ...rest, status: 'queued' }
    : { ...rest, status: 'failed', error: `${gone}; ${ATTEMPTS} attempts` };
}
