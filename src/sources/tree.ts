import { join } from 'node:path';
import { mapLimited, onceEach } from '../base/async.ts';
import { expected, unlessMissing, BmadError } from '../base/errors.ts';
import {
  type FolderEntry,
  type InsideRules,
  listInside,
  modifiedInside,
  readInside,
  folderNames,
  isFileInside,
  isLink,
  pathExists,
  realFolder,
} from '../base/files/files.ts';
import type { Seen } from '../base/files/keeper.ts';
import { canBeNamed, isOwnState } from '../base/files/paths.ts';
import { missing } from '../base/files/file-refusals.ts';
import { isSecretEntry } from '../base/secrets/names.ts';
import { decodeText } from '../base/text/text.ts';
import type { DeclaredModule } from '../model/module.ts';
import type { Origin } from '../model/record.ts';

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

/** A read-only view of a folder. Paths are relative, with forward slashes; nothing outside the folder can be named. */
export interface Tree {
  readonly root: string;
  /** What decides which files it has, beside the disk; undefined where that cannot be said. */
  readonly signature?: string | undefined;
  read(path: string): Promise<Buffer>;
  text(path: string): Promise<string>;
  list(path: string): Promise<FolderEntry[]>;
  /** Where a path is on disk, for people and for the master manifest. */
  place(path: string): string;
  /** When a file was last changed, in milliseconds; undefined if it does not exist. */
  modified(path: string): Promise<number | undefined>;
  /** Every file below `path`, sorted. Folders that cannot be read are left out. */
  files(path?: string): Promise<string[]>;
}

const DEPTH_LIMIT = 256;
const FILE_LIMIT = 100_000;
const READS_AT_ONCE = 16;

/** What version control and package managers keep beside the content; it may hold credentials and is never content. */
const HIDDEN = /(?:^|\/)(?:\.git|node_modules)(?:\/|$)/i;

/** What a project remembers is beside BMAD's content, and none of it: what is written there leaves the content as it is. */
const STATE = '_memory';

const isHidden = (path: string): boolean => isOwnState(path) || HIDDEN.test(path);

/** A link, or another spelling that the disk takes for the same name, leads to our state no more than its name does. */
const serves = (realPath: string): boolean => !isOwnState(realPath);

interface TreeRules {
  /** Which of its paths belong to the tree, where not all of them do. */
  shows?: ((path: string) => boolean) | undefined;
  /** The real path of the folder that the root has to be in, whatever it leads to. */
  within?: string | undefined;
  /** Hears of what is looked at. */
  seen?: Seen | undefined;
}

/** A folder as a tree. */
export function folderTree(
  root: string,
  maxFileBytes: number,
  { shows, within, seen }: TreeRules = {},
): Tree {
  const shown = (path: string): boolean =>
    path === '' || (!isHidden(path) && (shows === undefined || shows(path)));
  function checked(path: string): string {
    if (shown(path)) return path;
    throw missing(path);
  }
  // Any folder of a project can be declared to be content, also one with an `.env` in it. Patterns for such files are content.
  const rules: InsideRules = { serves, within, seen, secrets: 'patterns' };
  const tree: Tree = {
    root,
    signature: shows === undefined ? `${root} ${within ?? ''}` : undefined,
    read: async (path) => readInside(root, checked(path), maxFileBytes, rules),
    text: async (path) => decoded(await tree.read(path)),
    list: async (path) => {
      const entries = await listInside(root, checked(path), rules);
      return entries.filter(({ name, kind }) => {
        const full = path === '' ? name : `${path}/${name}`;
        return full !== STATE && shown(full) && !isSecretEntry(full, kind, 'patterns');
      });
    },
    place: (path) => join(root, path),
    modified: async (path) => (shown(path) ? modifiedInside(root, path, rules) : undefined),
    async files(path = '') {
      const found: string[] = [];
      await collect(tree, path, 0, found);
      return found.sort();
    },
  };
  return tree;
}

/** The same tree with every file kept after its first reading; only for content that cannot change while we run. */
export function rememberingTree(tree: Tree): Tree {
  // A refusal is not kept: the reason may be gone the next time.
  const read = onceEach((path: string) => tree.read(path));
  return { ...tree, read, text: async (path) => decoded(await read(path)) };
}

/** The same tree with every folder listed once: for the readers of one source, each of which looks at the same ones. */
export function listedOnce(tree: Tree): Tree {
  return { ...tree, list: onceEach((path: string) => tree.list(path)) };
}

/** The same tree, of which somebody hears whose content is read. */
export function readsNoted(tree: Tree, note: (path: string) => void): Tree {
  return {
    ...tree,
    // What is not there has no place: it fails as the tree itself does.
    async read(path) {
      const bytes = await tree.read(path);
      note(path);
      return bytes;
    },
    async text(path) {
      const text = await tree.text(path);
      note(path);
      return text;
    },
  };
}

/** The mark of UTF-8 stays in the text, so that what is delivered is what is on disk. */
function decoded(bytes: Buffer): string {
  return decodeText(bytes, true);
}

async function collect(tree: Tree, path: string, depth: number, found: string[]): Promise<void> {
  if (depth > DEPTH_LIMIT || found.length > FILE_LIMIT) return;
  const entries = await tree.list(path).catch(expected(() => []));
  const prefix = path === '' ? '' : `${path}/`;
  const folders: string[] = [];
  for (const entry of entries) {
    if (!canBeNamed(entry.name)) continue;
    if (entry.kind === 'file') found.push(prefix + entry.name);
    else if (entry.link !== true) folders.push(prefix + entry.name);
  }
  await mapLimited(folders, READS_AT_ONCE, (folder) => collect(tree, folder, depth + 1, found));
}

/** The text of a file that may be absent; any other trouble is the caller's to report. */
export async function optionalText(tree: Tree, path: string): Promise<string | undefined> {
  return tree.text(path).catch(unlessMissing);
}

/** An origin together with its bytes. */
export interface Source {
  origin: Origin;
  tree: Tree;
  /** What its content is called where it does not say so itself; otherwise the folder's name. */
  name?: string;
  /** What a marketplace says about the modules in the tree, each of which is a separate folder at the top. */
  declared?: readonly DeclaredModule[];
  /** What was made of it when it was built, if it cannot have changed since. */
  prepared?: () => Promise<string | undefined>;
}

/** A folder of the disk, and the path under which it appears. The empty path is the top. */
export interface Mount {
  at: string;
  tree: Tree;
}

/**
 * Several folders as one tree. BMAD spreads an install over its own folder and those of the assistants; to everything
 * right of here it is one place. Each folder keeps its own jail: no path crosses from one into another.
 */
export function mountedTree(root: string, mounts: readonly Mount[]): Tree {
  const [only] = mounts;
  if (only !== undefined && mounts.length === 1 && only.at === '') return only.tree;
  const trees = new Map<string, Tree>();
  /** What is below each folder because something is mounted there. */
  const below = new Map<string, Set<string>>();
  for (const { at, tree } of mounts) {
    if (!trees.has(at)) trees.set(at, tree);
    for (let path = at; path !== '';) {
      const cut = Math.max(0, path.lastIndexOf('/'));
      const above = path.slice(0, cut);
      const names = below.get(above) ?? new Set();
      below.set(above, names.add(path.slice(cut === 0 ? 0 : cut + 1)));
      path = above;
    }
  }

  /** The deepest folder that is mounted on the way to a path. */
  function locate(path: string): { tree: Tree; inner: string } | undefined {
    for (let at = path; ;) {
      const tree = trees.get(at);
      if (tree !== undefined) return { tree, inner: path.slice(at === '' ? 0 : at.length + 1) };
      if (at === '') return undefined;
      at = at.slice(0, Math.max(0, at.lastIndexOf('/')));
    }
  }

  function found(path: string): { tree: Tree; inner: string } {
    const place = locate(path);
    if (place === undefined) throw missing(path);
    return place;
  }

  const mountedNames = (path: string): string[] => [...(below.get(path) ?? [])];

  const parts = mounts.map(({ at, tree: inner }) => inner.signature && [at, inner.signature]);
  const tree: Tree = {
    root,
    signature: parts.includes(undefined) ? undefined : JSON.stringify([root, parts]),
    read: async (path) => {
      const { tree: inner, inner: rest } = found(path);
      return inner.read(rest);
    },
    text: async (path) => {
      const { tree: inner, inner: rest } = found(path);
      return inner.text(rest);
    },
    async list(path) {
      const names = mountedNames(path);
      const entries = new Map<string, FolderEntry>();
      try {
        const { tree: inner, inner: rest } = found(path);
        for (const entry of await inner.list(rest)) entries.set(entry.name, entry);
      } catch (error) {
        // The folder may be there only for what is mounted below it.
        if (!(error instanceof BmadError) || error.code !== 'not_found' || names.length === 0) throw error;
      }
      for (const name of names) entries.set(name, { name, kind: 'folder' });
      return [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    async files(path = '') {
      const all: string[] = [];
      for (const { at, tree: inner } of mounts) {
        const inside =
          at === '' ? path : at === path || at.startsWith(path === '' ? '' : `${path}/`) ? '' : undefined;
        const above = path.startsWith(`${at}/`) && at !== '' ? path.slice(at.length + 1) : undefined;
        const start = above ?? inside;
        if (start === undefined) continue;
        for (const file of await inner.files(start)) {
          const full = at === '' ? file : `${at}/${file}`;
          // A folder mounted inside another hides the one below it.
          if (locate(full)?.tree === inner) all.push(full);
        }
      }
      return all.sort();
    },
    modified: async (path) => {
      const place = locate(path);
      return place?.tree.modified(place.inner);
    },
    place: (path) => {
      const { tree: inner, inner: rest } = found(path);
      return inner.place(rest);
    },
  };
  return tree;
}
