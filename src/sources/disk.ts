import {
  folderNames,
  isFileInside,
  isLink,
  listInside,
  pathExists,
  realFolder,
  type FolderEntry,
} from '../base/files/files.ts';
import type { Seen } from '../base/files/keeper.ts';
import type { Tree } from './tree.ts';

/** The ways to find out what is where, before it is known what may be read. The caller hears of every place. */
export interface Disk {
  readonly seen: Seen | undefined;
  exists(path: string): Promise<boolean>;
  isLink(path: string): Promise<boolean>;
  /** The real path of a folder; undefined if there is no such folder. */
  realFolder(path: string): Promise<string | undefined>;
  /** The names of the folders in a folder, including links to folders. */
  folderNames(folder: string): Promise<string[]>;
  entries(folder: string): Promise<FolderEntry[]>;
  isFile(folder: string, path: string): Promise<boolean>;
}

/** The disk, and a way to open what was found on it: a folder as a tree, or only the given paths of it. */
export interface Opener {
  disk: Disk;
  open(folder: string, shows?: (path: string) => boolean): Tree;
}

export function diskSeenBy(seen: Seen | undefined): Disk {
  return {
    seen,
    exists: async (path) => (seen === undefined ? pathExists(path) : seen.find(path) !== undefined),
    async isLink(path) {
      seen?.find(path);
      return isLink(path);
    },
    async realFolder(path) {
      return seen !== undefined && seen.find(path)?.isDirectory() !== true ? undefined : realFolder(path);
    },
    folderNames: (folder) => folderNames(folder, seen),
    entries: (folder) => listInside(folder, '', { seen }),
    isFile: (folder, path) => isFileInside(folder, path, { seen }),
  };
}

/** The disk as it is at this moment: nobody asks later whether it still is. */
export const DISK: Disk = diskSeenBy(undefined);
