import { randomBytes } from 'node:crypto';
import { BmadError } from '../../base/errors.ts';
import { ours } from '../../base/expected.ts';
import { present } from '../../base/present.ts';
import { checkRead } from '../../base/sha256.ts';
import { placesOf } from '../../kit/home.ts';
import type { Kit } from '../../kit/kit.ts';
import type { Decisions } from '../../model/decision.ts';
import { FINAL_STATES, type Task } from '../../model/task.ts';
import { composeBrief } from './brief.ts';
import { createDone, createQueued, resultFile } from './create-task.ts';
import { DecidedTasks, MINUTE } from './decided-tasks.ts';
import { TaskFollower } from './follow-task.ts';
import { KeptTasks } from './kept-tasks.ts';
import { mergeResults, type MergeOrder, type Merged } from './merge.ts';
import {
  ATTEMPTS,
  byKey,
  checkKey,
  claimable,
  completed,
  holding,
  outcomesOf,
  wrongState,
  type Answer,
  type Lease,
  type NewTask,
  type TasksByKey,
} from './task-rules.ts';
import { digestOf, TaskStore } from './task-store.ts';

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

/** The queue of a project. Every change is made under one lock, so that no two workers ever hold the same task. */
export class Tasks extends DecidedTasks {
  /** A person agrees to all of those at once, as they were shown. */
  async decideAll(answer: Answer & { agrees: true }, signal: AbortSignal): Promise<Task[]> {
    return this.store.change(signal, async () => {
      const { waiting, digest: current } = await this.elsewhere();
      checkRead('The list', answer.digest, current, [
        { operation: 'task_approve_all', why: 'Read it again' },
      ]);
      const approved: Task[] = [];
      for (const { task, brief, digest } of waiting)
        approved.push(await this.#settle({ ...task, brief_digest: digestOf(brief) }, digest, answer));
      return approved;
    });
  }

  async add(order: NewTask, signal: AbortSignal): Promise<Task> {
    return this.store.change(signal, async () => {
      const { tasks } = await this.all();
      const at = this.#at(tasks.at(-1)?.created_at);
      const made = { by: order.createdBy, via: 'maker' } as const;
      return createQueued(this.store, order, tasks, at, async (task) => {
        await this.note(task, 'task', { ...made, yes: order.approval === undefined });
      });
    });
  }

  /** Refuses a key that is taken, before anything is done for it. */
  async checkFree(order: Pick<NewTask, 'outputKey' | 'runId'>): Promise<void> {
    checkKey(order, (await this.all()).tasks);
  }

  /** Keeps work that is done already. */
  async record(order: NewTask, done: { text: string; by: string }, signal: AbortSignal): Promise<Task> {
    return this.store.change(signal, async () => {
      const { tasks } = await this.all();
      return createDone(this.store, order, done, tasks, this.#at(tasks.at(-1)?.created_at));
    });
  }

  /** The oldest task that can be begun now, or the one that is named, for this worker alone. */
  async claim(
    wanted: { id?: string | undefined; agent?: string | undefined; worker: string; minutes: number },
    signal: AbortSignal,
  ): Promise<Claimed | undefined> {
    return this.store.change(signal, async () => {
      const { task, tasks } = await this.#wanted(wanted);
      if (task === undefined) return undefined;
      const brief = await this.brief(task);
      // Read a second time: others can write there without asking for the lock.
      if (digestOf(brief) !== task.brief_digest) throw changing(task);
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
    return this.store.change(signal, async () => {
      const known = await this.get(id);
      // The same answer twice is one answer: a worker that was cut off may try again.
      const { result } = known;
      if (['completed', 'needs_verification'].includes(known.status) && result?.digest === digest)
        return known;
      const { task, lease } = holding(known, claim);
      const kept = await this.store.putText(resultFile(id), text);
      const handed = { ...kept, by: lease.worker, at: this.#at(), ...(overHttp ? { over_http: true } : {}) };
      // Who asked for work from outside must not be the one to say that it is done.
      const waits = verify || (overHttp && task.outside !== undefined);
      const noted = { yes: false, by: lease.worker, via: 'maker' } as const;
      if (waits) await this.note({ ...task, result: handed }, 'result', noted);
      const status = waits ? 'needs_verification' : 'completed';
      return this.#save(task, { status, result: handed, lease: undefined });
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
    return this.store.change(signal, async () => {
      const task = await this.get(id);
      if (task.status === 'cancelled') return task;
      if (FINAL_STATES.includes(task.status)) throw wrongState(task, 'be cancelled');
      // What was agreed to before is so no longer.
      await this.note(task, 'task', { yes: false, by: reason, via: 'maker' });
      return this.#save(task, { status: 'cancelled', error: reason, lease: undefined });
    });
  }

  /** A person agrees, or does not: to a task that waits for it before it begins, or to a result nobody has checked. */
  async decide(id: string, answer: Answer, signal: AbortSignal): Promise<Task> {
    return this.store.change(signal, async () => {
      const task = await this.undecided(id);
      const { digest } = await this.decided(task);
      const again = { operation: 'task_show', args: { task_id: id }, why: 'Read it again' };
      if (answer.agrees) checkRead(id, answer.digest, digest, [again]);
      return this.#settle(task, digest, answer);
    });
  }

  /** The decision first: it is what counts, and the file only tells others of it. */
  async #settle(task: Task, digest: string, answer: Answer): Promise<Task> {
    const { agrees, by, via } = answer;
    const [agreed, refused] = outcomesOf(task);
    const begins = task.status === 'needs_approval';
    const { at } = await this.note(task, begins ? 'task' : 'result', { yes: agrees, by, via, digest });
    return this.#save(task, {
      status: agrees ? agreed : refused,
      approval: { reason: task.approval?.reason ?? task.status, by, at, agreed: agrees },
      ...(begins ? { lease: undefined, result: undefined } : {}),
      ...(answer.agrees ? {} : { error: answer.reason ?? `refused by ${by}` }),
    });
  }

  /** Brings results together in a file of their own. One task that failed does not hold back the others. */
  async merge(order: MergeOrder, signal: AbortSignal): Promise<Merged & { file: string }> {
    return this.store.change(signal, async () => {
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
      const file = await this.store.freeName(stem, merged.ending, 'merged');
      await this.store.putText(file, merged.text);
      return { ...merged, file: `${this.place.path}/${file}` };
    });
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
    const lately = await this.store.lately();
    const found = await this.#next(await this.standing(lately.tasks), agent);
    if (found.task !== undefined || lately.isCurrent) return found;
    return this.#next((await this.all()).tasks, agent);
  }

  /**
   * The oldest that can be begun, and what it builds on. One that nobody on this machine has agreed to as it is now is not
   * among them. The tasks may be as they were a moment ago: what decides is read again.
   */
  async #next(
    all: readonly Task[],
    agent: string | undefined,
  ): Promise<{ task: Task | undefined; tasks: TasksByKey }> {
    const tasks = byKey(all);
    const now = ({ task_id }: Task): Promise<Task | undefined> =>
      this.get(task_id).catch(ours(() => undefined));
    for (const known of all) {
      if (!isStartable(known, tasks) || (agent !== undefined && known.agent !== agent)) continue;
      const task = await now(known);
      if (task === undefined || task.agent !== known.agent) continue;
      const before = await Promise.all(task.depends_on.flatMap((key) => tasks.get(key) ?? []).map(now));
      const builtOn = byKey(before.filter((each) => each !== undefined));
      if (isStartable(task, builtOn)) return { task, tasks: builtOn };
    }
    return { task: undefined, tasks };
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
    return this.store.change(signal, async () => {
      const { task, lease } = holding(await this.get(id), claim);
      return work(task, lease);
    });
  }

  async #save(task: Task, change: { [K in keyof Task]?: Task[K] | undefined }): Promise<Task> {
    const changed = present<Task>({ ...task, ...change, updated_at: this.#at(task.updated_at) });
    await this.store.put(changed);
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

function isStartable({ status, depends_on, run_id }: Task, tasks: TasksByKey): boolean {
  return status === 'queued' && depends_on.every((key) => completed(key, run_id, tasks) !== undefined);
}

function changing({ task_id }: Task): BmadError {
  return new BmadError('conflict', `The files of ${task_id} are changing; no one may begin it.`, {
    subject: task_id,
    steps: [{ operation: 'task_show', args: { task_id }, why: 'See what it says now' }],
  });
}

export { KeptTasks };

export type TaskQueue = ReturnType<typeof openTasks>;

/** The queue of a project. */
export function openTasks(kit: Kit, decisions: Decisions, kept = new KeptTasks()) {
  const queue = new Tasks(new TaskStore(placesOf(kit, 'tasks'), kept), decisions);
  const follower = new TaskFollower(queue);
  return { queue, composeBrief, follow: follower.follow.bind(follower) };
}
