import { watch, type FSWatcher } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { basename } from 'node:path';
import { systemCode } from '../errors.ts';

/** A folder that is watched: everything that happens directly in it, and to itself, is told. */
export interface WatchedFolder {
  readonly dev: number;
  readonly ino: number;
  /** How often something was told of it; below zero once it is not watched any more. */
  readonly told: number;
}

/** What a watch of folders knows, for those who would otherwise look at every file. */
export interface Watch {
  /** How often anything was told of any folder. */
  readonly told: number;
  /** From so many at once on, the system may have left some out. */
  readonly most: number;
  /** The folder with this real path, if the system queues an event together with every change in it. */
  folder(path: string): WatchedFolder | undefined;
}

/** A queue that overflows has given out many more than this, and what it has left out may be about any folder. */
const MANY_AT_ONCE = 64;
const GONE = -1;

interface Handle extends WatchedFolder {
  told: number;
  watcher: FSWatcher;
  id: string;
  /** Whether everything that happens is told, and before anybody who comes later can ask. */
  certain: boolean;
  /** The folders in it, as long as none has come or gone since they were listed. */
  inner?: readonly string[] | undefined;
}

export interface FolderId {
  /** Tells a folder from another one that has come into its place since: systems give the number of a file again. */
  id: string;
  dev: number;
  ino: number;
}

/** Nothing where there is no folder. */
export async function folderId(path: string): Promise<FolderId | undefined> {
  const info = await lstat(path).catch(() => undefined);
  if (info?.isDirectory() !== true) return undefined;
  const { dev, ino, birthtimeMs } = info;
  return { id: `${dev} ${ino} ${birthtimeMs}`, dev, ino };
}

/** Nothing that is served comes from these, and they hold more folders than all the rest. */
export const PASSED_OVER: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** The folders that the system is asked to tell of. `moved` hears of what may matter. */
export class WatchHandles implements Watch {
  readonly #moved: () => void;
  readonly #handles = new Map<string, Handle>();
  /** Folders whose handle hears nothing any more: they were removed, or moved elsewhere. */
  #left = new Set<string>();
  told = 0;
  readonly most = MANY_AT_ONCE;

  constructor(moved: () => void = () => undefined) {
    this.#moved = moved;
  }

  get size(): number {
    return this.#handles.size;
  }

  folder(path: string): WatchedFolder | undefined {
    const handle = this.#handles.get(path);
    return handle?.certain === true && !this.#left.has(path) ? handle : undefined;
  }

  has(path: string): boolean {
    return this.#handles.has(path);
  }

  isOpen(path: string, { id }: FolderId): boolean {
    return this.#handles.get(path)?.id === id;
  }

  /** The folders in one; they are listed only if that has to be. */
  async inner(path: string, list: () => Promise<readonly string[]>): Promise<readonly string[]> {
    const handle = this.#handles.get(path);
    if (handle?.inner !== undefined) return handle.inner;
    const before = handle?.told;
    const found = await list();
    if (handle !== undefined && handle.told === before) handle.inner = found;
    return found;
  }

  /** Closes the handles that hear nothing any more: a folder that was moved takes those below it along. */
  dropLeft(): void {
    const left = this.#left;
    this.#left = new Set();
    if (left.size > 0) for (const path of this.#handles.keys()) if (isBelow(path, left)) this.drop(path);
  }

  /** Closes all but these. */
  keep(wanted: ReadonlySet<string> = new Set()): void {
    for (const path of this.#handles.keys()) if (!wanted.has(path)) this.drop(path);
  }

  /** Answers with the reason if the system has no room for more. */
  open(path: string, { id, dev, ino }: FolderId, how: { recursive: boolean; certain: boolean }) {
    this.drop(path);
    try {
      const watcher = watch(path, { persistent: false, recursive: how.recursive }, (kind, name) => {
        this.told += 1;
        handle.told += 1;
        // Its own name stands for itself: it was removed or moved, or it is a file in it of the same name.
        if (kind === 'rename') handle.inner = undefined;
        if (kind === 'rename' && name === basename(path)) this.#left.add(path);
        if (name === null || !name.split(/[\\/]/).some((part) => PASSED_OVER.has(part))) this.#moved();
      });
      const handle: Handle = { watcher, id, dev, ino, certain: how.certain, told: 0 };
      watcher.on('error', () => {
        this.#doubt(path);
        this.#left.add(path);
        this.#moved();
      });
      this.#handles.set(path, handle);
      return undefined;
    } catch (error) {
      const code = systemCode(error) ?? 'unknown';
      // What cannot be entered, or is gone again, cannot be served either.
      return ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(code) ? undefined : code;
    }
  }

  drop(path: string): void {
    this.#doubt(path);
    this.#handles.get(path)?.watcher.close();
    this.#handles.delete(path);
  }

  #doubt(path: string): void {
    const handle = this.#handles.get(path);
    if (handle === undefined) return;
    this.told += 1;
    handle.told = GONE;
    handle.certain = false;
  }
}

function isBelow(folder: string, left: ReadonlySet<string>): boolean {
  for (let path = folder, cut = path.length; cut > 0; path = path.slice(0, cut)) {
    if (left.has(path)) return true;
    cut = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'));
  }
  return false;
}
