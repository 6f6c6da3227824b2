import { join } from 'node:path';
import { jsonIn } from '../../base/parse/json.ts';
import { isTable } from '../../base/parse/parse.ts';
import { sha256 } from '../../base/sha256.ts';
import { conflictsIn, conflictText } from '../../base/text/conflicts.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { ours, unlessMissing } from '../../base/expected.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { removeShared, replaceShared } from '../../base/files/file-shared.ts';
import { stateNames } from '../../base/files/file-state.ts';
import { isNamed } from '../../base/files/file-stamps.ts';
import { listInside, readInside, realFolder } from '../../base/files/files.ts';
import type { Step } from '../../base/step.ts';
import { nearest } from '../../base/text/suggest.ts';
import { folderAt } from '../../kit/home.ts';
import { strayRefusal, type StateFolder } from '../../kit/kit.ts';
import { KeptTasks, type TaskFile } from './kept-tasks.ts';
import { TASK_VERSION, taskSchema, type Task } from '../../model/task.ts';

const LIST: Step = { operation: 'task_list', why: 'List the tasks' };

export interface StoredTasks {
  tasks: Task[];
  /** Files that are no task, which are left as they are. */
  problems: string[];
}

const ENDING = '.json';
const TASK_BYTES = 1_000_000;
const TEXT_BYTES = 10_000_000;
const LOCK_WAIT_MS = 15_000;
/** For so long a look at all tasks will do to choose one of them. */
const LATELY_MS = 2_000;
const absent = ours(() => [], 'not_found');
const ID = /^task-[\w-]{1,80}$/;

/** The files of the tasks. A task is one file, replaced as a whole; long texts lie beside it. */
export class TaskStore {
  /** Where new tasks go. */
  readonly place: StateFolder;
  /** A task stays where it was made. */
  readonly #places: readonly StateFolder[];
  readonly #kept: KeptTasks;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(places: readonly [StateFolder, ...StateFolder[]], kept = new KeptTasks()) {
    [this.place] = places;
    this.#places = places;
    this.#kept = kept;
  }

  /** One change at a time, also between processes. */
  async change<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(async () => {
      const used: StateFolder[] = [];
      for (const place of this.#places)
        if (place === this.place || (await realFolder(folderAt(place))) !== undefined) used.push(place);
      // In one order for all, whichever place they use first.
      const ordered = used.toSorted((a, b) => (a.owner > b.owner ? 1 : -1));
      return ordered.reduce((inner, place) => () => lockedIn(place, signal, inner), work)();
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** All tasks, the oldest first. */
  async all(): Promise<StoredTasks> {
    const files = new Map<string, StateFolder>();
    for (const place of this.#places)
      for (const name of await stateNames(folderAt(place), place.base).catch(absent))
        if (name.startsWith('task-') && name.endsWith(ENDING) && !files.has(name)) files.set(name, place);
    const paths = new Map([...files].map(([name, place]) => [join(folderAt(place), name), { name, place }]));
    await this.#kept.look(this.#queue, [...paths.keys()], async (path) => {
      const { name, place } = paths.get(path) ?? { name: '', place: this.place };
      return this.#file(name.slice(0, -ENDING.length), place);
    });
    return { tasks: this.#kept.tasks(), problems: this.#kept.problems() };
  }

  /** All tasks as they were a moment ago: a caller who acts on one of them reads it first. */
  async lately(): Promise<{ tasks: Task[]; isCurrent: boolean }> {
    if (this.#kept.isRecent(this.#queue, LATELY_MS)) return { tasks: this.#kept.tasks(), isCurrent: false };
    return { tasks: (await this.all()).tasks, isCurrent: true };
  }

  get #queue(): string {
    return this.#places.map(folderAt).join('\n');
  }

  /** Where a task is, or its texts; new ones go where all that is new goes. */
  #placeOf(name: string): StateFolder {
    const [id = ''] = name.split('.');
    return this.#places.find((place) => isNamed(join(folderAt(place), `${id}${ENDING}`))) ?? this.place;
  }

  async #file(id: string, place: StateFolder): Promise<TaskFile> {
    const isNone = (error: unknown): TaskFile => {
      if (!(error instanceof BmadError)) throw error;
      // Removed since the folder was looked at, or nothing of ours.
      const isElse = error.code === 'not_found' || error.reason === 'outside' || error.reason === 'folder';
      return isElse ? 'no task' : { problem: error.message };
    };
    return this.#read(id, place).then((task) => ({ task }), isNone);
  }

  /**
   * Exactly this task; a name that is only near is told, not taken. A caller who `decides` is not given one either: a decision
   * must not end up with the task of somebody else.
   */
  async get(id: string, { decides = false }: { decides?: boolean } = {}): Promise<Task> {
    if (!ID.test(id))
      throw new BmadError('invalid_input', `${quoted(id)} is not a task id.`, {
        subject: id.slice(0, 100),
        hint: 'Ids look like task-20261115-093000-a1b2c3.',
        steps: [LIST],
      });
    const found = await this.#read(id, this.#placeOf(id)).catch(unlessMissing);
    if (found !== undefined) return found;
    if (decides) throw this.#noneHere(id);
    const known = (await this.all()).tasks.map(({ task_id }) => task_id);
    throw new BmadError('not_found', `There is no task ${quoted(id)}.`, {
      subject: id,
      suggestions: nearest(id, known),
      steps: [LIST],
    });
  }

  #noneHere(id: string): BmadError {
    const { owner } = this.place;
    const elsewhere =
      owner === 'project'
        ? 'For a task in another project, go to its folder or name it with --project.'
        : "The project has no BMAD, so its tasks are kept in the state folder of the server's user: run this as that user, with the server's XDG_STATE_HOME.";
    return new BmadError('not_found', `There is no task ${quoted(id)} in ${folderAt(this.place)}.`, {
      subject: id,
      hint: elsewhere,
      steps: [LIST],
    });
  }

  fileOf(id: string): StateFolder {
    const place = this.#placeOf(id);
    return { ...place, path: `${place.path}/${id}${ENDING}` };
  }

  async put(task: Task): Promise<void> {
    const name = `${task.task_id}${ENDING}`;
    const place = this.#placeOf(name);
    await replaceShared(place.base, `${place.path}/${name}`, `${JSON.stringify(task, null, 2)}\n`);
    this.#kept.set(join(folderAt(place), name), { task });
  }

  /** A long text beside the tasks; the answer is what the task keeps of it. */
  async putText(name: string, text: string): Promise<{ file: string; bytes: number; digest: string }> {
    const { base, path } = this.#placeOf(name);
    await replaceShared(base, `${path}/${name}`, text);
    return { file: name, bytes: Buffer.byteLength(text), digest: digestOf(text) };
  }

  /** Files of one task. */
  async remove(id: string, names: readonly string[]): Promise<void> {
    const { base, path } = this.#placeOf(id);
    for (const name of names) await removeShared(base, `${path}/${name}`);
  }

  async text(name: string): Promise<string> {
    const { base, path } = this.#placeOf(name);
    return (await readInside(base, `${path}/${name}`, TEXT_BYTES)).toString('utf8');
  }

  /** Whether anything here has this id, also what cannot be read: an id is never given twice. */
  async isTaken(id: string): Promise<boolean> {
    const names = await Promise.all(this.#places.map((place) => stateNames(folderAt(place), place.base)));
    return names.flat().some((name) => name.startsWith(`${id}.`));
  }

  /** A name beside the tasks that nothing has yet. */
  async freeName(stem: string, ending: string, folder = ''): Promise<string> {
    const prefix = folder === '' ? '' : `${folder}/`;
    const names = new Set(
      (await listInside(this.place.base, `${this.place.path}/${folder}`).catch(absent)).map(
        ({ name }) => name,
      ),
    );
    for (let count = 1; ; count += 1) {
      const name = `${stem}${count === 1 ? '' : `-${count}`}${ending}`;
      if (!names.has(name)) return `${prefix}${name}`;
    }
  }

  async #read(id: string, place: StateFolder): Promise<Task> {
    const path = `${place.path}/${id}${ENDING}`;
    const text = (await readInside(place.base, path, TASK_BYTES)).toString('utf8');
    const conflicts = conflictsIn(text);
    if (conflicts !== undefined) throw unreadable(path, conflictText(path, conflicts));
    const value = jsonIn(text);
    if (isNewer(value)) throw newerTask(path);
    const parsed = taskSchema.safeParse(value);
    if (parsed.success && parsed.data.task_id === id) {
      this.#kept.set(join(place.base, path), { task: parsed.data });
      return parsed.data;
    }
    const [issue] = parsed.error?.issues ?? [];
    const where = issue === undefined ? 'its task_id differs' : `${issue.path.join('.')} ${issue.message}`;
    throw unreadable(path, `${path} is not a readable task (${where.slice(0, 200)})`);
  }
}

const unreadable = (path: string, why: string): BmadError =>
  new BmadError('unavailable', `${why}.`, {
    subject: path,
    hint: 'It was left unchanged; correct or remove the file.',
  });

/** The folder of the lock is made if need be, and must not be made elsewhere. */
async function lockedIn<T>(
  { base, path }: StateFolder,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const stray = await strayRefusal(base, path, 'no task is kept there');
  if (stray !== undefined) throw stray;
  const options = { waitMs: LOCK_WAIT_MS, signal, tidy: true, inside: base };
  return withLock(join(base, path, '.lock'), options, work);
}

function isNewer(value: unknown): boolean {
  const version = isTable(value) ? value['version'] : undefined;
  return typeof version === 'number' && version > TASK_VERSION;
}

function newerTask(path: string): BmadError {
  return new BmadError('unavailable', `${path} was written by a newer version of this server.`, {
    subject: path,
    hint: 'It was left unchanged. Update this server to work on it.',
  });
}

export function digestOf(text: string): string {
  return `sha256:${sha256(text)}`;
}
