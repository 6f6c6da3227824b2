import { randomBytes } from 'node:crypto';
import { once } from '../../base/async.ts';
import { BmadError, checkRead, ours } from '../../base/errors.ts';
import { t } from '../../base/text/message.ts';
import { folderAt, placesOf, refuseLinks } from '../../kit/kit.ts';
import { linePlaces, type LogSetup, ProjectLogs } from '../../kit/project-log.ts';
import type { Decisions } from '../../model/memory.ts';
import { FINAL_STATES, markOf, type Task } from '../../model/task.ts';
import { composeBrief } from './brief.ts';
import { filesOf, planDone, planQueued, resultFile } from './create-task.ts';
import { DecidedTasks, MINUTE } from './decided-tasks.ts';
import type { Said } from './fold.ts';
import { type Merged, type MergeOrder, mergeResults } from './merge.ts';
import {
  type Answer,
  ATTEMPTS,
  byKey,
  checkKey,
  claimable,
  completed,
  holding,
  type NewTask,
  outcomesOf,
  type TasksByKey,
  wrongState,
} from './task-rules.ts';
import { digestOf, said, TaskStore } from './task-store.ts';

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

/** The queue of a project. A change is a line after all that is known of the task; of two who say the same, one is first. */
export class Tasks extends DecidedTasks {
  /** A person agrees to all of those at once, as they were shown. */
  async decideAll(answer: Answer & { agrees: true }, signal: AbortSignal): Promise<Task[]> {
    const { waiting, digest: current } = await this.elsewhere();
    checkRead(t`The list`, answer.digest, current, [
      { operation: 'task_approve_all', why: t`Read it again` },
    ]);
    const approved: Task[] = [];
    for (const { task, digest } of waiting)
      approved.push(await this.decide(task.task_id, { ...answer, digest }, signal));
    return approved;
  }

  async add(order: NewTask, signal: AbortSignal): Promise<Task> {
    const made = { by: order.createdBy, via: 'maker' } as const;
    const note = (task: Task) => this.note(task, 'task', { ...made, yes: order.approval === undefined });
    const { answer, removed } = await this.#made(signal, (tasks, at) =>
      planQueued(this.store, order, tasks, at, note),
    );
    await this.store.removeTexts(removed.flatMap(filesOf));
    return answer;
  }

  /** Refuses a key that is taken, before anything is done for it. */
  async checkFree(order: Pick<NewTask, 'outputKey' | 'runId'>): Promise<void> {
    checkKey(order, (await this.all()).tasks);
  }

  /** Keeps work that is done already. */
  async record(order: NewTask, done: { text: string; by: string }, signal: AbortSignal): Promise<Task> {
    return (await this.#made(signal, (tasks, at) => planDone(this.store, order, done, tasks, at))).answer;
  }

  async #made<P extends { said: readonly Said[]; answer: Task }>(
    signal: AbortSignal,
    plan: (tasks: readonly Task[], at: string) => Promise<P>,
  ): Promise<P> {
    let last: P | undefined;
    return this.store.change(signal, async () => {
      // Somebody else was faster: what was written for this one has no task.
      if (last !== undefined) await this.store.removeTexts(filesOf(last.answer));
      const { tasks } = await this.all();
      last = await plan(tasks, timeOf(this.now(), tasks.at(-1)?.created_at));
      return { said: last.said, answer: last };
    });
  }

  /** The oldest task that can be begun now, or the one that is named, for this worker alone. */
  async claim(
    wanted: { id?: string | undefined; agent?: string | undefined; worker: string; minutes: number },
    signal: AbortSignal,
  ): Promise<Claimed | undefined> {
    const claim = randomBytes(8).toString('hex');
    const { worker, minutes } = wanted;
    const claimed = await this.store.change(signal, async () => {
      const { task, tasks } = await this.#wanted(wanted);
      if (task === undefined) return { said: [], answer: undefined };
      await this.store.refuseNewer(task);
      const brief = await this.brief(task);
      // Read a second time: others can write there without asking.
      if (digestOf(brief) !== task.brief_digest) throw changing(task);
      const answer = { id: task.task_id, brief, inputs: await this.#inputs(task, tasks) };
      return {
        said: [said(task.task_id, 'claim', { worker, claim, until: this.#leaseEnd(minutes) })],
        answer,
      };
    });
    if (claimed === undefined) return undefined;
    const { id, ...rest } = claimed;
    return { task: await this.get(id), ...rest };
  }

  /** A worker that needs longer says so before its time is up. */
  async renew(id: string, claim: string, minutes: number, signal: AbortSignal): Promise<Task> {
    return this.#held(id, claim, signal, () => said(id, 'renew', { claim, until: this.#leaseEnd(minutes) }));
  }

  async complete(
    id: string,
    { claim, text, verify, overHttp = false }: Handed,
    signal: AbortSignal,
  ): Promise<Task> {
    const digest = digestOf(text);
    return this.#change(id, signal, async (known) => {
      // The same answer twice is one answer: a worker that was cut off may try again.
      if (['completed', 'needs_verification'].includes(known.status) && known.result?.digest === digest)
        return undefined;
      const { task, lease } = holding(known, claim);
      const kept = await this.store.putText(resultFile(id, text), text);
      const result = { ...kept, by: lease.worker, ...(overHttp ? { over_http: true } : {}) };
      // Who asked for work from outside must not be the one to say that it is done.
      const waits = verify || (overHttp && task.outside !== undefined);
      const noted = { yes: false, by: lease.worker, via: 'maker' } as const;
      if (waits) await this.note({ ...task, result: { ...result, at: timeOf(this.now()) } }, 'result', noted);
      return said(id, 'complete', { claim, result, status: waits ? 'needs_verification' : 'completed' });
    });
  }

  async fail(id: string, claim: string, error: string, retry: boolean, signal: AbortSignal): Promise<Task> {
    return this.#held(id, claim, signal, ({ attempts }) =>
      said(id, 'fail', { claim, error, status: retry && attempts < ATTEMPTS ? 'queued' : 'failed' }),
    );
  }

  async cancel(id: string, reason: string, signal: AbortSignal): Promise<Task> {
    let ended: Task | undefined;
    const task = await this.#change(id, signal, async (known) => {
      ended = known.status === 'cancelled' ? undefined : known;
      if (ended === undefined) return undefined;
      if (FINAL_STATES.includes(known.status)) throw wrongState(known, t`be cancelled`);
      return said(id, 'cancel', { error: reason });
    });
    // What was agreed to before is so no longer.
    if (ended !== undefined) await this.note(ended, 'task', { yes: false, by: reason, via: 'maker' });
    return task;
  }

  /**
   * A person agrees, or does not: to a task that waits for it before it begins, or to a result nobody has checked. One at a
   * time on this machine, whatever process asks. The note is the decision, and comes first; the line tells other machines.
   * Of a process that is killed between them, what was agreed to stands, and what was refused still waits.
   */
  decide(id: string, answer: Answer, signal: AbortSignal): Promise<Task> {
    return this.decisions.alone(signal, () => this.#decide(id, answer, signal));
  }

  async #decide(id: string, answer: Answer, signal: AbortSignal): Promise<Task> {
    const { agrees, by, via } = answer;
    const waiting = await this.undecided(id);
    await this.store.refuseNewer(waiting);
    const { digest } = await this.decided(waiting);
    const again = { operation: 'task_show', args: { task_id: id }, why: t`Read it again` };
    if (agrees) checkRead(id, answer.digest, digest, [again]);
    const [agreed, refused] = outcomesOf(waiting);
    const { status } = await this.store.get(id);
    const about = waiting.status === 'needs_approval' ? 'task' : 'result';
    await this.note(waiting, about, { yes: agrees, by, via, digest });
    await this.store.change(signal, async () => {
      const event = said(id, 'decide', {
        status: agrees ? agreed : refused,
        approval: {
          reason: waiting.approval?.reason ?? waiting.status,
          by,
          at: timeOf(this.now()),
          agreed: agrees,
        },
        ...(agrees ? {} : { error: answer.reason ?? `refused by ${by}` }),
      });
      // Who has seen the note may have begun it already.
      const isBegun = (await this.store.get(id)).status !== status;
      return { said: isBegun ? [] : [event], answer: undefined };
    });
    return this.get(id);
  }

  /**
   * A person takes an agreement back, as long as nobody has begun the task: it waits again. The note comes first, since nobody
   * begins it from then on; of whoever has begun it meanwhile the agreement stands.
   */
  withdraw(id: string, { by }: Pick<Answer, 'by'>, signal: AbortSignal): Promise<Task> {
    return this.decisions.alone(signal, async () => {
      const task = await this.get(id, { decides: true });
      await this.store.refuseNewer(task);
      const agreed = await this.decisions.last('task', id);
      if (task.status !== 'queued' || agreed?.via === 'maker') throw wrongState(task, t`be taken back`);
      await this.note(task, 'task', { yes: false, by, via: 'maker' });
      try {
        await this.store.change(signal, async () => {
          const now = await this.store.get(id);
          if (now.status !== 'queued') throw wrongState(now, t`be taken back`);
          const approval = { reason: now.approval?.reason ?? now.status };
          return { said: [said(id, 'decide', { status: 'needs_approval', approval })], answer: undefined };
        });
      } catch (error) {
        if (agreed !== undefined) await this.decisions.decide(agreed);
        throw error;
      }
      return this.get(id);
    });
  }

  /** Brings results together in a file of their own. One task that failed does not hold back the others. */
  async merge(order: MergeOrder, signal: AbortSignal): Promise<Merged & { file: string }> {
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
    signal.throwIfAborted();
    const merged = mergeResults(parts, order);
    const stem = `${order.mergedOutputKey}-${timeOf(this.now()).slice(0, 10)}`;
    return { ...merged, file: await this.store.putNew('merged', stem, merged.ending, merged.text) };
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
    const fresh = ({ task_id }: Task): Promise<Task | undefined> =>
      this.get(task_id).catch(ours(() => undefined));
    for (const known of all) {
      if (!isStartable(known, tasks) || (agent !== undefined && known.agent !== agent)) continue;
      const task = await fresh(known);
      if (task === undefined || task.agent !== known.agent) continue;
      const before = await Promise.all(task.depends_on.flatMap((key) => tasks.get(key) ?? []).map(fresh));
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

  /** What follows from a task as it is now; nothing where it is so already. */
  async #change(
    id: string,
    signal: AbortSignal,
    plan: (task: Task) => Promise<Said | undefined> | Said,
  ): Promise<Task> {
    await this.store.change(signal, async () => {
      const task = await this.get(id);
      await this.store.refuseNewer(task);
      const event = await plan(task);
      return { said: event === undefined ? [] : [event], answer: undefined };
    });
    return this.get(id);
  }

  /** By the clock that all who share the tasks go by. */
  #leaseEnd(minutes: number): string {
    return new Date(this.now() + minutes * MINUTE).toISOString();
  }

  async #held(id: string, claim: string, signal: AbortSignal, plan: (task: Task) => Said): Promise<Task> {
    return this.#change(id, signal, (task) => plan(holding(task, claim).task));
  }
}

/** The moment now, or the one before when a clock has gone back: the order of things stays. */
function timeOf(now: number, notBefore = ''): string {
  const at = new Date(now).toISOString();
  return at > notBefore ? at : notBefore;
}

function isStartable({ status, depends_on, run_id }: Task, tasks: TasksByKey): boolean {
  return status === 'queued' && depends_on.every((key) => completed(key, run_id, tasks) !== undefined);
}

function changing({ task_id }: Task): BmadError {
  return new BmadError('conflict', t`The files of ${task_id} are changing; no one may begin it.`, {
    subject: task_id,
    steps: [{ operation: 'task_show', args: { task_id }, why: t`See what it says now` }],
  });
}

export type TaskQueue = ReturnType<typeof openTasks>;

/** The queue of a project, whose lines are where all of its lines are. */
export function openTasks(setup: LogSetup & { logs?: ProjectLogs | undefined }, decisions: Decisions) {
  const { kit, logs = new ProjectLogs() } = setup;
  const opened = once(async () => {
    const { all, each } = await linePlaces(setup);
    for (const { folder } of each) await refuseLinks(folder);
    const users = folderAt(kit.places.memories.user);
    return {
      view: logs.view(all, setup),
      texts: logs.texts(all, setup),
      of: (owner: 'project' | 'user') =>
        logs.at(each.find(({ folder }) => (folder === users) === (owner === 'user')) ?? all, setup),
      mirror: all.mirror,
    };
  });
  const queue = new Tasks(new TaskStore(placesOf(kit, 'tasks'), opened), decisions);
  const follower = new TaskFollower(queue);
  return { queue, composeBrief, follow: follower.follow.bind(follower) };
}

const LOOK_MS = 200;

/** Read again even if nothing seems to have happened: clocks of network drives are coarse. */
const READ_MS = 15_000;

interface Waiting {
  rev: number;
  until: number;
  wake(): void;
}

/**
 * Waits for changes of tasks, by whatever process. All who wait share one clock, which asks whether something was added to
 * the lines and costs next to nothing.
 */
class TaskFollower {
  readonly #tasks: Tasks;
  readonly #waiting = new Set<Waiting>();
  #clock: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(tasks: Tasks) {
    this.#tasks = tasks;
  }

  /** The task when it is no longer as it was known, or as it is after this time. */
  async follow(id: string, known: string, ms: number, signal: AbortSignal): Promise<Task> {
    const end = performance.now() + ms;
    for (;;) {
      // The number first: what happens while the task is read is seen next time.
      const rev = await this.#tasks.look();
      const task = await this.#tasks.get(id);
      const now = performance.now();
      if (markOf(task) !== known || now >= end) return task;
      // A lease ends by itself, and no line says so.
      const leased =
        task.lease === undefined ? Infinity : Math.max(0, Date.parse(task.lease.until) - this.#tasks.now());
      await this.#moved(rev, Math.min(end, now + READ_MS, now + leased), signal);
    }
  }

  #moved(rev: number, until: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const over = (done: () => void): void => {
        this.#waiting.delete(one);
        signal.removeEventListener('abort', leave);
        if (this.#waiting.size === 0) this.#stop();
        done();
      };
      const one: Waiting = { rev, until, wake: () => over(resolve) };
      const leave = (): void => over(() => reject(signal.reason as Error));
      this.#waiting.add(one);
      signal.addEventListener('abort', leave);
      this.#clock ??= setInterval(() => void this.#look(), LOOK_MS).unref();
      if (signal.aborted) leave();
    });
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    // Who waits is told what is wrong when it asks for the task itself.
    const rev = await this.#tasks.look().catch(() => -1);
    this.#isLooking = false;
    const now = performance.now();
    for (const one of this.#waiting) if (now >= one.until || rev !== one.rev) one.wake();
  }

  #stop(): void {
    clearInterval(this.#clock);
    this.#clock = undefined;
  }
}
