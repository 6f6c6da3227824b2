import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createCatchingUp } from '../async.ts';
import { changeMark, isSettled, lstatOf } from './file-stamps.ts';
import { tellsAtOnce } from './file-systems.ts';
import type { WatchedFolder } from './keeper.ts';
import { WatchHandles } from './watch-folders.ts';

/** Each takes 1.3 kB, and the system has some 8,192 for all programs of a user where it has little memory. */
const MOST_FOLDERS = 12_000;
/** Folders with files that are replaced as they are saved: their names tell that no other has come. */
const MOST_NAMED = 200;
/** A time of the file system may be this much behind the clock. */
const TICK_MS = 50;
/** What decides which files are listed. */
export const IGNORE_FILES = ['.gitignore', '.ignore', '.rgignore'];

interface KnownFolder {
  path: string;
  watched: WatchedFolder;
  told: number;
  mtimeMs: number;
  /** Nothing as long as nobody has saved anything in it. */
  names?: string | undefined;
  /** Which of the listed files are in it. */
  files: number[];
}

interface Known {
  told: number;
  folders: KnownFolder[];
  /** Files that have another name elsewhere, or are on another disk: they may change without a word. */
  apart: readonly number[];
  marks: ReadonlyMap<string, string | undefined>;
}

/**
 * Tells which of a long list of files have to be looked at again, where the system tells of every change before anybody can ask
 * about it: a look at each of 20,000 takes longer than everything else that a search does.
 */
export class ListedFiles {
  readonly #root: string;
  readonly #handles = new WatchHandles();
  readonly #caughtUp = createCatchingUp();
  readonly #saved = new Set<string>();
  #known: Known | undefined;
  #closed = false;

  constructor(root: string) {
    this.#root = root;
  }

  /** The places of the files to look at; nothing where all have to be, and to be listed. */
  async changed(): Promise<number[] | undefined> {
    await this.#caughtUp();
    const known = this.#known;
    const { told: now, most } = this.#handles;
    if (known === undefined || now - known.told >= most) return this.forget();
    for (const [path, mark] of known.marks) if (changeMark(path) !== mark) return this.forget();
    const moved = known.folders.filter(({ watched, told }) => watched.told !== told);
    // One in which nothing has happened may have gone with the folder above the outermost.
    for (const folder of [...known.folders.slice(0, 1), ...moved])
      if (!(await this.#isAsListed(folder))) return this.forget();
    known.told = now;
    return [...known.apart, ...moved.flatMap(({ files }) => files)];
  }

  /** Whether a folder has the files that it had. */
  async #isAsListed(folder: KnownFolder): Promise<boolean> {
    const { path, watched, mtimeMs } = folder;
    const { told } = watched;
    const info = lstatOf(path);
    if (told < 0 || info?.dev !== watched.dev || info.ino !== watched.ino) return false;
    if (info.mtimeMs !== mtimeMs) {
      this.#saved.add(path);
      if (folder.names === undefined || (await namesIn(path)) !== folder.names) return false;
    }
    if (hasUnknown(path, this.#known?.marks)) return false;
    // The time is not the one of the names where something has come since; then the next look reads them again.
    Object.assign(folder, { told, mtimeMs: info.mtimeMs });
    return true;
  }

  /**
   * Watches the folders of files that are about to be looked at, and answers for them from then on. `began` is when their list
   * was begun; `marks` are other files that it was made from. What it gives back is called after the files were looked at, with
   * those that have more than one name. Does nothing where the system does not tell enough.
   */
  async follow(
    paths: readonly string[],
    began: number,
    marks: readonly string[],
  ): Promise<(apart: readonly number[]) => Promise<void>> {
    this.#known = undefined;
    const idle = async (): Promise<void> => undefined;
    const top = lstatOf(this.#root);
    if (top === undefined || !(await tellsAtOnce(this.#root, process.platform))) return idle;
    const inFolder = byFolder(this.#root, paths);
    if (inFolder.size > MOST_FOLDERS || this.#closed) return idle;
    this.#handles.dropLeft();
    this.#handles.keep(new Set(inFolder.keys()));
    const folders: KnownFolder[] = [];
    for (const [path, files] of inFolder) {
      const info = lstatOf(path);
      if (info?.isDirectory() !== true || info.dev !== top.dev) return idle;
      const id = `${info.dev} ${info.ino} ${info.birthtimeMs}`;
      const { dev, ino } = info;
      if (!this.#handles.isOpen(path, { id, dev, ino }) || this.#handles.folder(path) === undefined) {
        if (this.#handles.open(path, { id, dev, ino }, { recursive: false, certain: true }) !== undefined)
          return idle;
      }
      const watched = this.#handles.folder(path);
      if (watched === undefined) return idle;
      folders.push({ path, watched, told: watched.told, mtimeMs: info.mtimeMs, files });
    }
    const stamped = new Map(marks.map((path) => [path, changeMark(path)]));
    const { told } = this.#handles;
    return async (apart) => {
      if (this.#closed) return;
      for (const folder of folders) {
        const info = lstatOf(folder.path);
        // What has come while the list was made may be missing in it.
        if (info?.mtimeMs !== folder.mtimeMs || info.ctimeMs >= began - TICK_MS || !isSettled(info.ctimeMs))
          return;
      }
      for (const folder of folders.filter(({ path }) => this.#saved.has(path)).slice(0, MOST_NAMED)) {
        const names = await namesIn(folder.path);
        if (lstatOf(folder.path)?.mtimeMs === folder.mtimeMs) folder.names = names;
      }
      this.#known = { told, folders, apart, marks: stamped };
    };
  }

  close(): void {
    this.#closed = true;
    this.#known = undefined;
    this.#handles.keep();
  }

  /** Everything is looked at the next time. */
  forget(): undefined {
    this.#known = undefined;
    return undefined;
  }
}

/** The folders that paths lead through, outermost first, each with the places of the files right in it. */
function byFolder(root: string, paths: readonly string[]): Map<string, number[]> {
  const folders = new Map<string, number[]>([[root, []]]);
  const filesOf = (folder: string): number[] => {
    const known = folders.get(folder);
    if (known !== undefined) return known;
    filesOf(dirname(folder));
    const files: number[] = [];
    folders.set(folder, files);
    return files;
  };
  for (const [index, path] of paths.entries()) filesOf(dirname(join(root, path))).push(index);
  return folders;
}

/** Whether a folder has an ignore file that is ignored itself, so that nobody has listed it. */
function hasUnknown(folder: string, marks: Known['marks'] | undefined): boolean {
  return IGNORE_FILES.some((name) => {
    const path = join(folder, name);
    return marks?.has(path) !== true && changeMark(path) !== undefined;
  });
}

async function namesIn(folder: string): Promise<string | undefined> {
  return readdir(folder).then(
    (names) => names.sort().join('/'),
    () => undefined,
  );
}
