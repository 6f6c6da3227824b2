import { setImmediate } from 'node:timers/promises';
import { changeMark } from '../../base/files/file-stamps.ts';
import type { Task } from '../../model/task.ts';

/** What a file of a task was found to be. */
export type TaskFile = { task: Task } | { problem: string } | 'no task';

interface Known {
  mark: string | undefined;
  file: TaskFile;
}

/** How many files are looked at before others get their turn. */
const AT_ONCE = 200;

/**
 * Tasks that were read before, each kept for as long as its file has the same mark. Other processes write them too: all
 * are looked at before anything is said about all of them, and of thousands only those that have changed are read.
 */
export class KeptTasks {
  #of = '';
  #looked = -Infinity;
  #known = new Map<string, Known>();

  /** Looks at these files of a queue again; all others are forgotten. */
  async look(
    queue: string,
    files: readonly string[],
    read: (file: string) => Promise<TaskFile>,
  ): Promise<void> {
    const before = queue === this.#of ? this.#known : new Map<string, Known>();
    const started = performance.now();
    const now = new Map<string, Known>();
    for (const [index, file] of files.entries()) {
      if (index % AT_ONCE === AT_ONCE - 1) await setImmediate();
      // The mark first: what changes while the file is read is seen the next time.
      const mark = changeMark(file);
      const known = before.get(file);
      now.set(file, known !== undefined && known.mark === mark ? known : { mark, file: await read(file) });
    }
    this.#of = queue;
    this.#known = now;
    this.#looked = started;
  }

  /** What this process has read or written itself. */
  set(path: string, file: TaskFile): void {
    // Without a mark it is read again at the next look.
    this.#known.set(path, { mark: undefined, file });
  }

  /** Whether all files of a queue were looked at within so many milliseconds. */
  isRecent(queue: string, ms: number): boolean {
    return queue === this.#of && performance.now() - this.#looked < ms;
  }

  /** The tasks as they were last seen, the oldest first. */
  tasks(): Task[] {
    const found: { key: string; task: Task }[] = [];
    for (const { file } of this.#known.values())
      if (file !== 'no task' && 'task' in file) found.push({ key: ageOf(file.task), task: file.task });
    return found.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ task }) => task);
  }

  problems(): string[] {
    return [...this.#known.values()].flatMap(({ file }) =>
      file !== 'no task' && 'problem' in file ? [file.problem] : [],
    );
  }
}

/** Ids begin with the time they were made at; a clock may have gone back, so the moment in the file comes first. */
const ageOf = ({ created_at, task_id }: Task): string => `${created_at} ${task_id}`;
