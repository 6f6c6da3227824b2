import { randomBytes } from 'node:crypto';
import { present } from '../../base/present.ts';
import { FINAL_STATES, LONGEST_LEASE_MINUTES, type Task } from '../../model/task.ts';
import { briefFile, createDone, createQueued, resultFile } from './create-task.ts';
import { mergeResults, type MergeOrder, type Merged } from './merge.ts';
import {
  byKey,
  checkKey,
  claimable,
  completed,
  holding,
  outcomesOf,
  wrongState,
  type Decision,
  type Lease,
  type NewTask,
  type TasksByKey,
} from './task-rules.ts';
import { nextTask } from './next-task.ts';
import { changedSince, checkRead, isAsAgreed, taskDigest, type TaskTexts } from './task-digest.ts';
import { digestOf, type StoredTasks, type TaskStore } from './task-store.ts';

interface Claimed {
  task: Task;
  brief: string;
  /** What the tasks it builds on have given, by output key. */
  inputs: { output_key: string; text: string }[];
}

interface Handed {
  claim: string;
  text: string;
  /** The worker asks for somebody to check it. */
  verify: boolean;
  /** Handed in over HTTP, so nobody knows by whom. */
  overHttp?: boolean;
}

/** How often a task may be begun: a worker that dies with it every time is not given it for ever. */
const ATTEMPTS = 3;
const MINUTE = 60_000;
/** What the clocks of machines that share a queue may differ by. */
const CLOCKS_APART_MS = 10 * MINUTE;

/** The queue of a project. Every change is made under one lock, so that no two workers ever hold the same task. */
export class Tasks {
  readonly #store: TaskStore;

  constructor(store: TaskStore) {
    this.#store = store;
  }

  get place(): TaskStore['place'] {
    return this.#store.place;
  }

  async all(): Promise<StoredTasks> {
    const { tasks, problems } = await this.#store.all();
    return { tasks: tasks.map((task) => this.#current(task)), problems };
  }

  async get(id: string, how?: { decides?: boolean }): Promise<Task> {
    return this.#current(await this.#store.get(id, how));
  }

  brief(task: Task): Promise<string> {
    return this.#store.text(briefFile(task.task_id));
  }

  /** What a person has to read before deciding, and what stands for it. */
  async decided(task: Task): Promise<TaskTexts & { digest: string }> {
    const result = await this.result(task);
    const texts = { brief: await this.brief(task), ...(result === undefined ? {} : { result }) };
    return { ...texts, digest: taskDigest(task, texts) };
  }

  async result({ result }: Task): Promise<string | undefined> {
    return result === undefined ? undefined : this.#store.text(result.file);
  }

  async add(order: NewTask, signal: AbortSignal): Promise<Task> {
    return this.#store.change(signal, async () => {
      const { tasks } = await this.all();
      return createQueued(this.#store, order, tasks, this.#at(tasks.at(-1)?.created_at));
    });
  }

  /** Refuses a key that is taken, before anything is done for it. */
  async checkFree(order: Pick<NewTask, 'outputKey' | 'runId'>): Promise<void> {
    checkKey(order, (await this.all()).tasks);
  }

  /** Keeps work that is done already. */
  async record(order: NewTask, done: { text: string; by: string }, signal: AbortSignal): Promise<Task> {
    return this.#store.change(signal, async () => {
      const { tasks } = await this.all();
      return createDone(this.#store, order, done, tasks, this.#at(tasks.at(-1)?.created_at));
    });
  }

  /** The oldest task that can be begun now, or the one that is named, for this worker alone. */
  async claim(
    wanted: { id?: string | undefined; agent?: string | undefined; worker: string; minutes: number },
    signal: AbortSignal,
  ): Promise<Claimed | undefined> {
    return this.#store.change(signal, async () => {
      const { task, tasks } = await this.#wanted(wanted);
      if (task === undefined) return undefined;
      const brief = await this.brief(task);
      if (!isAsAgreed(task, { brief })) throw changedSince(task);
      const claimed = await this.#save(task, {
        status: 'running',
        attempts: task.attempts + 1,
        lease: {
          worker: wanted.worker,
          claim: randomBytes(8).toString('hex'),
          until: this.#until(wanted.minutes),
        },
      });
      return { task: claimed, brief, inputs: await this.#inputs(claimed, tasks) };
    });
  }

  /** A worker that needs longer says so before its time is up. */
  async renew(id: string, claim: string, minutes: number, signal: AbortSignal): Promise<Task> {
    return this.#held(id, claim, signal, (task, lease) =>
      this.#save(task, { lease: { ...lease, until: this.#until(minutes) } }),
    );
  }

  async complete(
    id: string,
    { claim, text, verify, overHttp = false }: Handed,
    signal: AbortSignal,
  ): Promise<Task> {
    const digest = digestOf(text);
    return this.#store.change(signal, async () => {
      const known = await this.get(id);
      // The same answer twice is one answer: a worker that was cut off may try again.
      const { result } = known;
      if (['completed', 'needs_verification'].includes(known.status) && result?.digest === digest)
        return known;
      const { task, lease } = holding(known, claim);
      const kept = await this.#store.putText(resultFile(id), text);
      return this.#save(task, {
        // Who asked for work from outside must not be the one to say that it is done.
        status: verify || (overHttp && task.outside !== undefined) ? 'needs_verification' : 'completed',
        result: { ...kept, by: lease.worker, at: this.#at(), ...(overHttp ? { over_http: true } : {}) },
        lease: undefined,
      });
    });
  }

  async fail(id: string, claim: string, error: string, retry: boolean, signal: AbortSignal): Promise<Task> {
    return this.#held(id, claim, signal, (task) =>
      this.#save(task, {
        status: retry && task.attempts < ATTEMPTS ? 'queued' : 'failed',
        error,
        lease: undefined,
      }),
    );
  }

  async cancel(id: string, reason: string, signal: AbortSignal): Promise<Task> {
    return this.#store.change(signal, async () => {
      const task = await this.get(id);
      if (task.status === 'cancelled') return task;
      if (FINAL_STATES.includes(task.status)) throw wrongState(task, 'be cancelled');
      return this.#save(task, { status: 'cancelled', error: reason, lease: undefined });
    });
  }

  /** A person agrees, or does not: to a task that waits for it before it begins, or to a result nobody has checked. */
  async decide(id: string, { by, ...decision }: Decision, signal: AbortSignal): Promise<Task> {
    return this.#store.change(signal, async () => {
      const task = await this.get(id, { decides: true });
      const outcomes = outcomesOf(task);
      const { digest } = await this.decided(task);
      const { agrees } = decision;
      if (agrees) checkRead(task, decision.digest, digest);
      return this.#save(task, {
        status: agrees ? outcomes[0] : outcomes[1],
        approval: {
          ...task.approval,
          reason: task.approval?.reason ?? task.status,
          by,
          at: this.#at(),
          agreed: agrees,
          digest,
        },
        ...(agrees ? {} : { error: decision.reason ?? `refused by ${by}` }),
      });
    });
  }

  /** A task that waits for a decision, and nothing else. */
  async undecided(id: string): Promise<Task> {
    const task = await this.get(id, { decides: true });
    outcomesOf(task);
    return task;
  }

  /** Brings results together in a file of their own. One task that failed does not hold back the others. */
  async merge(order: MergeOrder, signal: AbortSignal): Promise<Merged & { file: string }> {
    return this.#store.change(signal, async () => {
      const { tasks } = await this.all();
      const chosen = tasks.filter(
        ({ output_key, run_id, status }) =>
          status !== 'cancelled' &&
          (order.runId === undefined || run_id === order.runId) &&
          (order.outputKeys.length === 0 || order.outputKeys.includes(output_key)),
      );
      const parts = await Promise.all(
        chosen.map(async (task) => ({
          task,
          text: task.status === 'completed' ? await this.result(task) : undefined,
        })),
      );
      const merged = mergeResults(parts, order);
      const stem = `${order.mergedOutputKey}-${this.#at().slice(0, 10)}`;
      const file = await this.#store.freeName(stem, merged.ending, 'merged');
      await this.#store.putText(file, merged.text);
      return { ...merged, file: `${this.place.folder}/${file}` };
    });
  }

  /** A task whose worker went silent is free again, or has failed for good. */
  #current(task: Task): Task {
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

  /** What is claimed, and the tasks that it may build on. Of many that are queued, one is read. */
  async #wanted({
    id,
    agent,
    worker,
  }: {
    id?: string | undefined;
    agent?: string | undefined;
    worker: string;
  }) {
    if (id !== undefined) {
      const named = await this.get(id);
      const tasks = byKey(named.depends_on.length === 0 ? [] : (await this.all()).tasks);
      return { task: claimable(named, tasks, worker), tasks };
    }
    const lately = await this.#store.lately();
    const tasks = lately.tasks.map((each) => this.#current(each));
    const found = await nextTask(this, tasks, agent);
    if (found.task !== undefined || lately.isCurrent) return found;
    return nextTask(this, (await this.all()).tasks, agent);
  }

  async #inputs({ depends_on, run_id }: Task, tasks: TasksByKey): Promise<Claimed['inputs']> {
    const inputs: Claimed['inputs'] = [];
    for (const key of depends_on) {
      const task = completed(key, run_id, tasks);
      if (task !== undefined) inputs.push({ output_key: key, text: (await this.result(task)) ?? '' });
    }
    return inputs;
  }

  async #held(
    id: string,
    claim: string,
    signal: AbortSignal,
    work: (task: Task, lease: Lease) => Promise<Task>,
  ): Promise<Task> {
    return this.#store.change(signal, async () => {
      const { task, lease } = holding(await this.get(id), claim);
      return work(task, lease);
    });
  }

  async #save(task: Task, change: { [K in keyof Task]?: Task[K] | undefined }): Promise<Task> {
    const changed = present<Task>({ ...task, ...change, updated_at: this.#at(task.updated_at) });
    await this.#store.put(changed);
    return changed;
  }

  /** The moment now, or the one before when a clock has gone back: the order of things stays. */
  #at(notBefore = ''): string {
    const now = new Date().toISOString();
    return now > notBefore ? now : notBefore;
  }

  #until(minutes: number): string {
    return new Date(Date.now() + minutes * MINUTE).toISOString();
  }
}
