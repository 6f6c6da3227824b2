import { markOf, type Task } from '../../model/task.ts';
import type { Tasks } from './tasks.ts';

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
export class TaskFollower {
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
        task.lease === undefined ? Infinity : Math.max(0, Date.parse(task.lease.until) - Date.now());
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
