import { t } from '../../base/text/message.ts';
import { join } from 'node:path';
import { BmadError, ours, quoted, unlessMissing } from '../../base/errors.ts';
import { removeShared, replaceShared } from '../../base/files/file-shared.ts';
import { isNamed } from '../../base/files/file-stamps.ts';
import { readState, writeAtomic, writeNew } from '../../base/files/file-state.ts';
import { ensureFolder } from '../../base/files/file-modes.ts';
import { readInside } from '../../base/files/files.ts';
import { removeFile } from '../../base/files/open-file.ts';
import { sha256 } from '../../base/values.ts';
import type { Step } from '../../base/step.ts';
import { nearest } from '../../base/text/suggest.ts';
import { folderAt, strayRefusal, type StateFolder } from '../../kit/kit.ts';
import type { Log, SharedLog } from '../../lines/line.ts';
import type { Task } from '../../model/task.ts';
import type { Entities, View } from '../../lines/view.ts';
import { entityOf, TASK_ID, TASKS, type Said } from './fold.ts';
import { OldTasks } from './moving-over.ts';

const LIST: Step = { operation: 'task_list', why: 'List the tasks' };

export interface StoredTasks {
  tasks: readonly Task[];
  /** What is in the lines or among them and is no task; it is left as it is. */
  problems: string[];
}

/** What is known of the tasks in a view of lines from one call to the next. */
interface Known {
  lines: Entities<Task>;
  old: OldTasks;
  /** All tasks, the oldest first, and when that was. */
  sorted: { rev: number; tasks: readonly Task[] };
}

const knownOf = new WeakMap<View, Known>();

function known(view: View): Known {
  const made = knownOf.get(view) ?? {
    lines: view.of(TASKS),
    old: new OldTasks(),
    sorted: { rev: -1, tasks: [] },
  };
  knownOf.set(view, made);
  return made;
}

/** Where the lines of a project are. */
export interface TaskLog {
  view: View;
  /** The log of one owner alone, for tasks that an earlier version has kept there. */
  of(owner: StateFolder['owner']): Log;
  /** This user's own once more, out of the reach of git. */
  mirror: string | undefined;
  /** Where other machines read the long texts as well. */
  texts?: Pick<SharedLog, 'text' | 'putText' | 'removeText'> | undefined;
}

const TEXT_BYTES = 10_000_000;
const TEXTS = 'texts';
const TEXT_NAME = /^[\w-]+(?:\.[\w-]+)*$/;

/** The tasks as lines, and their long texts in files beside each other: a text is written once, under a name of its own. */
export class TaskStore {
  /** Where new texts go. */
  readonly place: StateFolder;
  /** A text stays where it was written. */
  readonly #places: readonly StateFolder[];
  readonly #opened: () => Promise<TaskLog>;
  #log: Log | undefined;

  constructor(places: readonly [StateFolder, ...StateFolder[]], opened: () => Promise<TaskLog>) {
    [this.place] = places;
    this.#places = places;
    this.#opened = opened;
  }

  /** The time that leases go by. */
  now(): number {
    return this.#log?.now() ?? Date.now();
  }

  /** Takes in what is new, of whatever process; tells when something was, by another number. */
  async look(): Promise<number> {
    return (await this.#looked()).lines.rev;
  }

  async #looked(): Promise<Known> {
    const { view } = await this.#opened();
    const here = known(view);
    this.#log = view.log;
    await view.look();
    await here.old.look(this.#places, here.lines);
    return here;
  }

  /** One change at a time; where another process has said something about the same meanwhile, it is planned once more. */
  async change<T>(
    signal: AbortSignal,
    plan: () => Promise<{ said: readonly Said[]; answer: T }>,
  ): Promise<T> {
    const { view, of } = await this.#opened();
    const stray = await strayRefusal(this.place.base, this.place.path, t`no task is kept there`);
    if (stray !== undefined) throw stray;
    const { old, lines } = await this.#looked();
    if (!old.isDone)
      for (const place of this.#places) await old.move(place, of(place.owner), lines, () => view.look());
    return view.change(signal, plan);
  }

  /** All tasks, the oldest first. */
  async all(): Promise<StoredTasks> {
    const { view } = await this.#opened();
    const here = await this.#looked();
    return { tasks: sorted(here), problems: [...here.old.problems(), ...view.problems()] };
  }

  /**
   * Exactly this task; a name that is only near is told, not taken. A caller who `decides` is not given one either: a decision
   * must not end up with the task of somebody else.
   */
  async get(id: string, { decides = false }: { decides?: boolean } = {}): Promise<Task> {
    if (!TASK_ID.test(id))
      throw new BmadError('invalid_input', t`${quoted(id)} is not a task id.`, {
        subject: id.slice(0, 100),
        hint: t`Ids look like task-20261115-093000-a1b2c3.`,
        steps: [LIST],
      });
    const { lines, old } = await this.#looked();
    const found = lines.get(id);
    if (found !== undefined) return found;
    const problem = old.problem(id);
    if (problem !== undefined) throw problem;
    if (decides) throw this.#noneHere(id);
    throw new BmadError('not_found', t`There is no task ${quoted(id)}.`, {
      subject: id,
      suggestions: nearest(
        id,
        lines.all().map(({ task_id }) => task_id),
      ),
      steps: [LIST],
    });
  }

  /** One that a newer program has changed can be read, and no more. */
  async refuseNewer({ task_id }: Task): Promise<void> {
    const { view } = await this.#opened();
    if (!known(view).lines.isNewer(task_id)) return;
    throw new BmadError(
      'unavailable',
      t`The task ${task_id} was changed by a newer version of this server.`,
      {
        subject: task_id,
        hint: t`It can be read here. To change it, update this server.`,
      },
    );
  }

  #noneHere(id: string): BmadError {
    const { owner } = this.place;
    const elsewhere =
      owner === 'project'
        ? t`For a task in another project, go to its folder or name it with --project.`
        : t`The project has no BMAD, so its tasks are kept in the state folder of the server's user: run this as that user, with the server's XDG_STATE_HOME.`;
    return new BmadError('not_found', t`There is no task ${quoted(id)} in ${folderAt(this.place)}.`, {
      subject: id,
      hint: elsewhere,
      steps: [LIST],
    });
  }

  /** Where a text is; new ones go where all that is new goes. */
  #placeOf(name: string): StateFolder {
    return this.#places.find((place) => isNamed(join(folderAt(place), name))) ?? this.place;
  }

  /** Where a file of the tasks is, from the top of the project or of the user. */
  pathOf(name: string): string {
    return `${this.#placeOf(name).path}/${name}`;
  }

  /** A long text beside the lines, and once more in the mirror as they are; the answer is what the task keeps of it. */
  async putText(name: string, text: string): Promise<{ file: string; bytes: number; digest: string }> {
    const { mirror, view, texts } = await this.#opened();
    await texts?.putText(name, text);
    const { base, path } = this.#placeOf(name);
    await known(view).old.aside(this.#places, () => replaceShared(base, `${path}/${name}`, text));
    if (mirror !== undefined) await writeAtomic(join(mirror, TEXTS, name), text);
    return { file: name, bytes: Buffer.byteLength(text), digest: digestOf(text) };
  }

  /** Texts of a task that is no more. One that cannot be removed is in nobody's way. */
  async removeTexts(names: readonly string[]): Promise<void> {
    const { mirror, view, texts } = await this.#opened();
    for (const name of names) {
      await texts?.removeText(name).catch(ours(() => undefined));
      const { base, path } = this.#placeOf(name);
      const remove = (): Promise<unknown> => removeShared(base, `${path}/${name}`);
      await known(view)
        .old.aside(this.#places, remove)
        .catch(ours(() => undefined));
      if (mirror !== undefined && TEXT_NAME.test(name))
        await removeFile(join(mirror, TEXTS, name)).catch(() => undefined);
    }
  }

  async text(name: string): Promise<string> {
    const { texts } = await this.#opened();
    // Where it cannot be asked for now, the copy of this machine has the same; its digest is compared.
    let unheard: BmadError | undefined;
    const shared = await texts?.text(name).catch(
      ours((error) => {
        unheard = error;
        return undefined;
      }),
    );
    if (shared !== undefined) return shared;
    const { base, path } = this.#placeOf(name);
    try {
      return (await readInside(base, `${path}/${name}`, TEXT_BYTES)).toString('utf8');
    } catch (error) {
      unlessMissing(error);
      if (unheard !== undefined) throw unheard;
      const { mirror } = await this.#opened();
      if (mirror === undefined || !TEXT_NAME.test(name)) throw error;
      const again = await readState(join(mirror, TEXTS, name), { maxBytes: TEXT_BYTES });
      if (again === undefined) throw error;
      return again;
    }
  }

  /** A new file in a folder beside the tasks, under a name that nothing has yet. */
  async putNew(folder: string, stem: string, ending: string, text: string): Promise<string> {
    const { base, path } = this.place;
    await ensureFolder(join(base, path, folder), this.place.owner === 'project' ? base : undefined);
    for (let count = 1; ; count += 1) {
      const file = `${path}/${folder}/${stem}${count === 1 ? '' : `-${count}`}${ending}`;
      if (await writeNew(join(base, file), Buffer.from(text), base)) return file;
    }
  }

  async isTaken(id: string): Promise<boolean> {
    const { view } = await this.#opened();
    return known(view).lines.get(id) !== undefined || isNamed(join(folderAt(this.place), `${id}.brief.md`));
  }
}

const byAge = (a: Task, b: Task): number =>
  a.created_at === b.created_at ? (a.task_id < b.task_id ? -1 : 1) : a.created_at < b.created_at ? -1 : 1;

/** A clock may have gone back, so the moment that the task itself names decides. */
function sorted(here: Known): readonly Task[] {
  const { rev } = here.lines;
  if (here.sorted.rev !== rev) here.sorted = { rev, tasks: here.lines.all().toSorted(byAge) };
  return here.sorted.tasks;
}

export const said = (id: string, verb: Said['do'], data: Said['data']): Said => ({
  of: entityOf(id),
  do: verb,
  data,
});

export function digestOf(text: string): string {
  return `sha256:${sha256(text)}`;
}
