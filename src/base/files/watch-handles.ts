import { watch, type FSWatcher } from 'node:fs';
import { basename } from 'node:path';
import { systemCode } from '../errors.ts';
import type { WatchedFolder, Witness } from './vouch.ts';
import { isPassedOver, type FolderId } from './watch-walk.ts';

interface Handle extends WatchedFolder {
  told: number;
  watcher: FSWatcher;
  id: string;
  /** Whether everything that happens is told, and before anybody who comes later can ask. */
  certain: boolean;
}

export interface OpenOptions {
  recursive: boolean;
  certain: boolean;
}

/** The folders that the system is asked to tell of. `moved` hears of what may matter, `witness` of everything. */
export class WatchHandles {
  readonly #moved: () => void;
  readonly #handles = new Map<string, Handle>();
  /** Folders whose handle hears nothing any more: they were removed, or moved elsewhere. */
  #left = new Set<string>();
  /** Folders in which something has come or gone. */
  #renamed = new Set<string>();
  #told = 0;
  #added = 0;
  readonly witness: Witness;

  constructor(moved: () => void, most: number) {
    this.#moved = moved;
    this.witness = {
      count: () => (this.#added === 0 ? undefined : { told: this.#told, added: this.#added }),
      folder: (path) => {
        const handle = this.#handles.get(path);
        return handle?.certain === true && !this.#left.has(path) ? handle : undefined;
      },
      most,
    };
  }

  get size(): number {
    return this.#handles.size;
  }

  get paths(): Iterable<string> {
    return this.#handles.keys();
  }

  idOf(path: string): string | undefined {
    return this.#handles.get(path)?.id;
  }

  has(path: string): boolean {
    return this.#handles.has(path);
  }

  /** Folders that have to be opened again, and those to be listed again; what happens from now on is for the next time. */
  takeMoved(): { left: ReadonlySet<string>; renamed: ReadonlySet<string> } {
    const [left, renamed] = [this.#left, this.#renamed];
    [this.#left, this.#renamed] = [new Set(), new Set()];
    // Until they are opened again, nobody answers for them.
    for (const path of left) this.#doubt(path);
    return { left, renamed };
  }

  /** Answers with the reason if the system has no room for more. */
  open(path: string, { id, dev, ino }: FolderId, { recursive, certain }: OpenOptions): string | undefined {
    try {
      const watcher = watch(path, { persistent: false, recursive }, (kind, name) => {
        this.#told += 1;
        handle.told += 1;
        if (name !== null && isPassedOver(name)) return;
        // Its own name stands for itself: it was removed or moved, or it is a file in it of the same name.
        if (kind === 'rename') this.#renamed.add(path);
        if (kind === 'rename' && name === basename(path)) this.#left.add(path);
        this.#moved();
      });
      const handle: Handle = { watcher, id, dev, ino, certain, told: 0 };
      watcher.on('error', () => {
        this.#doubt(path);
        this.#left.add(path);
        this.#moved();
      });
      this.#handles.set(path, handle);
      if (certain) this.#added += 1;
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
    this.#told += 1;
    handle.told = GONE;
    handle.certain = false;
  }
}

const GONE = -1;
