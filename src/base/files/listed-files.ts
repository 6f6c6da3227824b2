import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { tellsAtOnce } from './file-systems.ts';
import { createCatchingUp, Keeper } from './keeper.ts';
import { isSettled } from './place-stats.ts';
import { folderId, WatchHandles } from './watch-handles.ts';

/** Each takes 1.3 kB, and the system has some 8,192 for all programs of a user where it has little memory. */
const MOST_FOLDERS = 12_000;
/** A time of the file system may be this much behind the clock. */
const TICK_MS = 50;
const AT_ONCE = 200;
/** What decides which files are listed. */
export const IGNORE_FILES = ['.gitignore', '.ignore', '.rgignore'];

/**
 * Tells which of a long list of files have to be looked at again, where the system tells of every change before anybody can ask
 * about it: a look at each of 20,000 takes longer than everything else that a search does.
 */
export class ListedFiles {
  readonly #root: string;
  readonly #handles = new WatchHandles();
  readonly #caughtUp = createCatchingUp();
  /** Folders with files that are replaced as they are saved: their names tell that no other has come. */
  readonly #saved = new Set<string>();
  #known: { keeper: Keeper; at: ReadonlyMap<string, number> } | undefined;
  #closed = false;

  constructor(root: string) {
    this.#root = root;
  }

  /** The places of the files to look at; nothing where all have to be, and to be listed. */
  async changed(): Promise<number[] | undefined> {
    await this.#caughtUp();
    if (this.#known === undefined) return undefined;
    const { keeper, at } = this.#known;
    const changed = await keeper.changed();
    const files = changed.flatMap((path) => at.get(path) ?? []);
    if (files.length < changed.length) {
      for (const path of changed) if (this.#handles.has(path)) this.#saved.add(path);
      return this.forget();
    }
    keeper.drop(changed);
    for (const path of changed) keeper.look(path);
    return files;
  }

  /**
   * Watches the folders of files that are about to be looked at, and answers for them from then on. `began` is when their list
   * was begun; `marks` are other files that it was made from. Does nothing where the system does not tell enough.
   */
  async follow(paths: readonly string[], began: number, marks: readonly string[]): Promise<void> {
    this.#known = undefined;
    const at = new Map(paths.map((path, index) => [join(this.#root, path), index]));
    const folders = foldersOf(this.#root, at.keys());
    if (folders.size > MOST_FOLDERS || !(await tellsAtOnce(this.#root, process.platform))) return;
    this.#handles.dropLeft();
    this.#handles.keep(folders);
    const disk = (await folderId(this.#root))?.dev;
    const keeper = new Keeper({ watch: () => this.#handles });
    for (const folder of folders) {
      const id = await folderId(folder);
      if (this.#closed || id === undefined || id.dev !== disk) return;
      const how = { recursive: false, certain: true };
      if (!this.#handles.isOpen(folder, id) && this.#handles.open(folder, id, how) !== undefined) return;
      const info = keeper.look(folder);
      // What has come while the list was made may be missing in it.
      if (info === undefined || info.ctimeMs >= began - TICK_MS || !isSettled(info.ctimeMs)) return;
      if (this.#saved.has(folder))
        keeper.listed(folder, await readdir(folder, { withFileTypes: true }).catch(() => []), 'all');
    }
    // An ignore file that is ignored itself is in no list.
    const deciding = [...folders].flatMap((folder) => IGNORE_FILES.map((name) => join(folder, name)));
    for (const path of [...marks, ...deciding]) {
      keeper.look(path);
      at.delete(path);
    }
    for (const [path, index] of at) {
      if (index % AT_ONCE === 0) await turn();
      keeper.look(path);
    }
    this.#known = { keeper, at };
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

/** The folders that files are in, and all above them up to the root, which is first. */
function foldersOf(root: string, paths: Iterable<string>): Set<string> {
  const folders = new Set([root]);
  const enter = (folder: string): void => {
    if (folders.has(folder)) return;
    enter(dirname(folder));
    folders.add(folder);
  };
  for (const path of paths) enter(dirname(path));
  return folders;
}
