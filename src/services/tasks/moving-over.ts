import { t } from '../../base/text/message.ts';
import { join } from 'node:path';
import { BmadError, ours } from '../../base/errors.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { removeShared, replaceShared } from '../../base/files/file-shared.ts';
import { changeMark } from '../../base/files/file-stamps.ts';
import { stateNames } from '../../base/files/file-state.ts';
import { readInside } from '../../base/files/files.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { conflictsIn, conflictText } from '../../base/text/diff.ts';
import { folderAt, type StateFolder } from '../../kit/kit.ts';
import { asMuchAsFits, type Happened, type Log } from '../../lines/line.ts';
import { TASK_VERSION, taskSchema, type Task } from '../../model/task.ts';
import type { Entities } from '../../lines/view.ts';
import { entityOf } from './fold.ts';

/**
 * Versions before kept each task in a file. Such files are read with all else; with the first change they are written as
 * lines, and their version is raised, so that those versions refuse them and nobody is given the same task twice.
 */
const FILE = /^(task-[\w-]{1,80})\.json$/;
/** Higher than that of any file that was ever written. */
const RAISED = 1_000;
/** There while files are moved: one that is still there was left in the middle. */
const MARK = '.moving-tasks';
/** The lock of those versions. */
const LOCK = '.lock';
const LOCK_WAIT_MS = 15_000;
const TASK_BYTES = 1_000_000;

interface OldFile {
  place: StateFolder;
  path: string;
  task: Task;
  /** As it was read: other tools may have written into it. */
  content: Readonly<Record<string, unknown>>;
}

export class OldTasks {
  #stamp = '';
  #files: OldFile[] = [];
  #left: StateFolder[] = [];
  #problems = new Map<string, BmadError>();

  /** Looks at the folders again if something in them has changed. */
  async look(places: readonly StateFolder[], lines: Entities<Task>): Promise<void> {
    const stamp = stampOf(places);
    if (stamp === this.#stamp) return;
    this.#problems = new Map();
    this.#left = [];
    const files: OldFile[] = [];
    for (const place of places) {
      const names = await stateNames(folderAt(place), place.base).catch(ours((): string[] => []));
      if (names.includes(MARK)) this.#left.push(place);
      files.push(...(await this.#read(place, names, (id) => !lines.isInLines(id))));
    }
    this.#files = files;
    await lines.takeOld(files.map(({ task }) => movedEvent(task)));
    this.#stamp = stamp;
  }

  /** Runs what writes other files into these folders, so that they need not be looked at for that. */
  async aside<T>(places: readonly StateFolder[], write: () => Promise<T>): Promise<T> {
    const isCurrent = this.#stamp === stampOf(places);
    const done = await write();
    if (isCurrent) this.#stamp = stampOf(places);
    return done;
  }

  problems(): string[] {
    return [...this.#problems.values()].map(({ message }) => message);
  }

  /** Why the file of a task is not in use. */
  problem(id: string): BmadError | undefined {
    return this.#problems.get(id);
  }

  get isDone(): boolean {
    return this.#files.length + this.#left.length === 0;
  }

  /** Interrupted anywhere, it goes on with the next change; done twice, the lines say the same twice. */
  async move(place: StateFolder, log: Log, lines: Entities<Task>, known: () => Promise<void>): Promise<void> {
    const isMeant = [...this.#left, ...this.#files.map((file) => file.place)].includes(place);
    if (!isMeant) return;
    const lock = { waitMs: LOCK_WAIT_MS, inside: place.base, tidy: true };
    await withLock(join(folderAt(place), LOCK), lock, async () => {
      const names = await stateNames(folderAt(place), place.base);
      const files = await this.#read(place, names, () => true);
      await replaceShared(place.base, `${place.path}/${MARK}`, '');
      const events = files
        .filter((file) => !lines.isInLines(file.task.task_id) || isWorkedOn(file, lines))
        .map(({ task }) => ({ of: entityOf(task.task_id), after: [], do: 'moved', data: task }));
      for (const part of asMuchAsFits(events)) await log.append(part);
      await known();
      const written = files.filter(({ task }) => lines.isInLines(task.task_id)).length;
      if (written < files.length) throw notMoved(folderAt(place));
      for (const { path, content } of files)
        if (content['version'] !== RAISED)
          await replaceShared(
            place.base,
            path,
            `${JSON.stringify({ ...content, version: RAISED }, null, 2)}\n`,
          );
      await removeShared(place.base, `${place.path}/${MARK}`);
    });
    this.#files = this.#files.filter((file) => file.place !== place);
    this.#left = this.#left.filter((each) => each !== place);
  }

  async #read(
    place: StateFolder,
    names: readonly string[],
    isWanted: (id: string) => boolean,
  ): Promise<OldFile[]> {
    const found: OldFile[] = [];
    for (const name of names) {
      const id = FILE.exec(name)?.[1];
      if (id === undefined || !isWanted(id)) continue;
      try {
        found.push(await oldFile(id, place));
      } catch (error) {
        if (!(error instanceof BmadError)) throw error;
        // Removed since the folder was looked at, or nothing of ours.
        const isElse = error.code === 'not_found' || error.reason === 'outside' || error.reason === 'folder';
        if (!isElse) this.#problems.set(id, error);
      }
    }
    return found;
  }
}

/** Whether somebody has gone back to a version before and gone on there: the file is as that version left it, and newer. */
function isWorkedOn({ task, content }: OldFile, lines: Entities<Task>): boolean {
  const there = lines.get(task.task_id);
  return content['version'] !== RAISED && there !== undefined && task.updated_at > there.updated_at;
}

/** As the line that it will be. */
function movedEvent(task: Task): Happened {
  const [at, by] = [task.updated_at, { kind: 'local', name: task.created_by } as const];
  const line = { id: `old/${task.task_id}`, at, by, machine: '', newer: false };
  return { ...line, of: entityOf(task.task_id), after: [], do: 'moved', data: task };
}

const stampOf = (places: readonly StateFolder[]): string =>
  places.map((place) => changeMark(folderAt(place)) ?? '-').join(' ');

async function oldFile(id: string, place: StateFolder): Promise<OldFile> {
  const path = `${place.path}/${id}.json`;
  const text = (await readInside(place.base, path, TASK_BYTES)).toString('utf8');
  const conflicts = conflictsIn(text);
  if (conflicts !== undefined) throw unreadable(path, conflictText(path, conflicts));
  const content = jsonObject(text) ?? {};
  const { version } = content;
  if (typeof version === 'number' && version > TASK_VERSION && version !== RAISED) throw newerTask(path);
  const asBefore = { ...content, version: version === RAISED ? TASK_VERSION : version };
  const parsed = taskSchema.safeParse(asBefore);
  if (parsed.success && parsed.data.task_id === id) return { place, path, task: parsed.data, content };
  const [issue] = parsed.error?.issues ?? [];
  const where = issue === undefined ? t`its task_id differs` : `${issue.path.join('.')} ${issue.message}`;
  throw unreadable(path, t`${path} is not a readable task (${where.slice(0, 200)})`);
}

const unreadable = (path: string, why: string): BmadError =>
  new BmadError('unavailable', `${why}.`, {
    subject: path,
    hint: t`It was left unchanged; correct or remove the file.`,
  });

const newerTask = (path: string): BmadError =>
  new BmadError('unavailable', t`${path} was written by a newer version of this server.`, {
    subject: path,
    hint: t`It was left unchanged. Update this server to work on it.`,
  });

const notMoved = (path: string): BmadError =>
  new BmadError('unavailable', t`Not all tasks of ${path} were written as lines; it was left unchanged.`, {
    subject: path,
    hint: t`Check the disk, then try again.`,
  });
