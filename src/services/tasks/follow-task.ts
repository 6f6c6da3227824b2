import { join } from 'node:path';
import { changeMark } from '../../base/files/file-stamps.ts';
import { markOf, type Task } from '../../model/task.ts';
import type { Tasks } from './tasks.ts';

const LOOK_MS = 200;

/** Read again even if the file looks the same: clocks of network drives are coarse. */
const READ_MS = 15_000;

interface Waiting {
  path: string;
  stamp: string;
  until: number;
  wake(): void;
}

/**
 * Waits for changes of tasks, by whatever process. All who wait share one clock, which looks at the stamps of their files
 * and costs next to nothing; a file is read when its stamp has changed.
 */
export class TaskFollower {
  readonly #tasks: Tasks;
  readonly #waiting = new Set<Waiting>();
  #clock: NodeJS.Timeout | undefined;

  constructor(tasks: Tasks) {
    this.#tasks = tasks;
  }

  /** The task when it is no longer as it was known, or as it is after this time. */
  async follow(id: string, known: string, ms: number, signal: AbortSignal): Promise<Task> {
    const end = performance.now() + ms;
    // Refuses what is no id before it becomes a path.
    await this.#tasks.get(id);
    for (;;) {
      const { base, path: file } = this.#tasks.fileOf({ task_id: id });
      const path = join(base, file);
      // The stamp first: what changes while the file is read is seen next time.
      const stamp = changeMark(path) ?? '';
      const task = await this.#tasks.get(id);
      const now = performance.now();
      if (markOf(task) !== known || now >= end) return task;
      // A lease ends by itself, without a change of the file.
      const leased =
        task.lease === undefined ? Infinity : Math.max(0, Date.parse(task.lease.until) - Date.now());
      await this.#moved(path, stamp, Math.min(end, now + READ_MS, now + leased), signal);
    }
  }

  #moved(path: string, stamp: string, until: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const over = (done: () => void): void => {
        this.#waiting.delete(one);
        signal.removeEventListener('abort', leave);
        if (this.#waiting.size === 0) this.#stop();
        done();
      };
      const one: Waiting = { path, stamp, until, wake: () => over(resolve) };
      const leave = (): void => over(() => reject(signal.reason as Error));
      this.#waiting.add(one);
      signal.addEventListener('abort', leave);
      this.#clock ??= setInterval(() => this.#look(), LOOK_MS).unref();
      if (signal.aborted) leave();
    });
  }

  #look(): void {
    const now = performance.now();
    for (const one of this.#waiting)
      if (now >= one.until || (changeMark(one.path) ?? '') !== one.stamp) one.wake();
  }

  #stop(): void {
    clearInterval(this.#clock);
    this.#clock = undefined;
  }
}
