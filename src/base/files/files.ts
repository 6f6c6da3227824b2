import {
  closeSync,
  fstatSync,
  read,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
  type Dirent,
  type Stats,
} from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { attempt, BmadError, unlessShort } from '../errors.ts';
import { heldBy, holdReal, isBelow, openAsNamed, openCheckedNow, openedPaths } from './open-file.ts';
import { isKeptBack } from './file-modes.ts';
import { breath } from '../async.ts';
import { lstatOf, statOf } from './file-stamps.ts';
import { isSecretEntry } from '../secrets/names.ts';
import type { Seen } from './keeper.ts';
import {
  failed,
  leadsAwayFromContent as leadsAway,
  missing,
  readFailure,
  servable,
} from './file-refusals.ts';

/**
 * The one door to content. Every read goes through `readInside`: the real path of the file must be inside the real path
 * of the root, before it is opened and as it was opened, the file must be a regular one, and its size is checked before
 * a byte is read.
 */
export async function readInside(
  root: string,
  path: string,
  maxBytes: number,
  rules?: InsideRules,
): Promise<Buffer> {
  await breath();
  const fd = openInside(root, path, rules);
  try {
    const { size } = servable(fstatSync(fd), path, maxBytes);
    const buffer = Buffer.allocUnsafe(size);
    let filled = 0;
    while (filled < size) {
      const place = [buffer, filled, size - filled, filled] as const;
      const count = size <= SMALL_BYTES ? readSync(fd, ...place) : (await readLater(fd, ...place)).bytesRead;
      if (count === 0) break;
      filled += count;
    }
    return buffer.subarray(0, filled);
  } finally {
    closeSync(fd);
  }
}

const readLater = promisify(read);

/** What takes a thread longer to be told of than to read. */
const SMALL_BYTES = 256 * 1024;

export interface InsideRules {
  /** Hears the names that a list leaves out. */
  leftOut?: ((name: string) => void) | undefined;
  /**
   * Which files that hold keys and passwords may be read, where there is a reason; otherwise none, whatever the root is and
   * whatever a link or a setting calls them. `patterns` for such files, such as `.env.example`, are content. All of them
   * are `mine` to read where no one is shown what is in them, or it is the user who names the file.
   */
  secrets?: 'patterns' | 'mine' | undefined;
  /** Whether the file at a path may be served. The path is the real one, from the root: links have no influence on it. */
  serves?(realPath: string): boolean;
  /** The real path of a folder that the root has to be in: a root may be a link, or become one later. */
  within?: string | undefined;
  /** Hears of what is looked at. */
  seen?: Seen | undefined;
}

/** A file that is replaced each time it is opened is given up. */
const TRIES = 5;

/** Between the check and the opening, a folder on the way may become a link: what counts is what was opened. */
function openInside(root: string, path: string, rules?: InsideRules): number {
  for (let tries = 1; ; tries += 1) {
    const { realRoot, target, held } = located(root, path, 'file', rules);
    const fd = held ?? attempt(() => openCheckedNow(target), failed(path));
    let kept = false;
    try {
      const places = held === undefined ? openedPaths(fd, target) : [target];
      for (const place of places ?? []) checkPlace(realRoot, place, path, 'file', rules);
      kept = places !== undefined;
      if (kept) return fd;
      if (tries === TRIES) throw leadsAway(path);
    } finally {
      if (!kept) closeSync(fd);
    }
  }
}

interface Located {
  realRoot: string;
  target: string;
  /** The file or folder itself, opened, where that is how it was found. */
  held?: number;
}

/**
 * Where something is. If no link is on the way, its real path is the one it was opened by, and that of the root is in it: to ask
 * for them would take as long as to read it. Only what has been looked at is opened, since to open a pipe or a device may do
 * something.
 */
function located(root: string, path: string, kind: Kind, rules?: InsideRules): Located {
  const named = join(root, path);
  const found = rules?.seen?.look(named);
  const isPlain =
    found !== undefined && kindOf(found) === kind && isBelow(root, named) && !root.endsWith(sep);
  const held = isPlain ? openAsNamed(named, kind === 'folder') : undefined;
  if (held === undefined) return realInside(root, path, kind, rules);
  try {
    checkPlace(root, named, path, kind, rules);
  } catch (error) {
    closeSync(held);
    throw error;
  }
  return { realRoot: root, target: named, held };
}

/** Most requested files do not exist. A thread or an error of the system that says so takes several times as long as looking. */
function realInside(
  root: string,
  path: string,
  kind: Kind,
  rules?: InsideRules,
): { realRoot: string; target: string } {
  let realRoot: string;
  let target: string;
  try {
    const named = join(root, path);
    if (statSync(named, { throwIfNoEntry: false }) === undefined) throw missing(path);
    target = realpathSync.native(named);
    realRoot = realpathSync.native(root);
  } catch (error) {
    throw readFailure(path, error);
  }
  checkPlace(realRoot, target, path, kind, rules);
  return { realRoot, target };
}

function checkPlace(
  realRoot: string,
  target: string,
  path: string,
  kind: Kind,
  { serves, secrets, within = realRoot }: InsideRules = {},
): void {
  if (!isBelow(realRoot, target) || !isBelow(within, realRoot)) throw leadsAway(path);
  // Where it really is, so that a root in a folder of secrets opens nothing, and what it is called. A folder has no
  // content, but its name may say what its files are.
  if (secrets !== 'mine') {
    const isSecret = [target, path].some((place) => isSecretEntry(place, kind, secrets));
    if (isSecret || isKeptBack(realRoot, target)) throw missing(path);
  }
  if (serves?.(target.slice(realRoot.length)) === false) throw missing(path);
}

/** Where a file really is, from the real root and with forward slashes: links have no influence on it. */
export function realPathInside(root: string, path: string, rules?: InsideRules): string {
  const { realRoot, target } = realInside(root, path, 'file', rules);
  return relative(realRoot, target).split(sep).join('/');
}

export interface FolderEntry {
  name: string;
  kind: 'file' | 'folder';
  /** Whether it is a link. The contents of a linked folder are listed at its real path, so walks leave the link out. */
  link?: true;
}

/** What is in a folder, sorted. Links count as their targets if those are inside the root; all else is left out. */
export async function listInside(root: string, path: string, rules?: InsideRules): Promise<FolderEntry[]> {
  await breath();
  const found: FolderEntry[] = [];
  for (const entry of entriesOf(root, path, rules)) {
    const link = entry.isSymbolicLink();
    const kind = kindOf(link ? statInside(root, join(path, entry.name), rules) : entry);
    if (kind === undefined) rules?.leftOut?.(entry.name);
    else found.push({ name: entry.name, kind, ...(link ? { link } : {}) });
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function entriesOf(root: string, path: string, rules?: InsideRules): Dirent[] {
  const { realRoot, target, held } = located(root, path, 'folder', rules);
  try {
    const folder = held === undefined ? holdReal(target, realRoot) : heldBy(held);
    try {
      const entries = readdirSync(folder.at('.'), { withFileTypes: true });
      rules?.seen?.listed(join(root, path), entries, 'all');
      return entries;
    } finally {
      folder.close();
    }
  } catch (error) {
    throw error instanceof BmadError ? leadsAway(path) : readFailure(path, error);
  }
}

/** What is at a path inside the root; undefined if it does not exist or points outside. */
function statInside(root: string, path: string, rules?: InsideRules): Stats | undefined {
  rules?.seen?.look(join(root, path));
  try {
    // To look at something is not to read it: what is refused then is refused in true words.
    return statSync(realInside(root, path, 'folder', { ...rules, secrets: 'mine' }).target);
  } catch {
    return undefined;
  }
}

type Kind = FolderEntry['kind'];

function kindOf(entry: Dirent | Stats | undefined): Kind | undefined {
  if (entry?.isFile() === true) return 'file';
  return entry?.isDirectory() === true ? 'folder' : undefined;
}

/** When a file inside the root was last changed; undefined if it does not exist or points outside. */
export async function modifiedInside(
  root: string,
  path: string,
  rules?: InsideRules,
): Promise<number | undefined> {
  return statInside(root, path, rules)?.mtimeMs;
}

/** Whether there is a file at this path inside the root. */
export async function isFileInside(root: string, path: string, rules?: InsideRules): Promise<boolean> {
  return statInside(root, path, rules)?.isFile() === true;
}

/** The names of the folders in a folder, including links to folders, wherever they point. */
export async function folderNames(folder: string, seen?: Seen): Promise<string[]> {
  seen?.look(folder);
  const entries = await readdir(folder, { withFileTypes: true }).catch(unlessShort([]));
  seen?.listed(folder, entries, 'folders');
  const names: string[] = [];
  for (const entry of entries) {
    const link = entry.isSymbolicLink();
    if (link) seen?.find(join(folder, entry.name));
    if (entry.isDirectory() || (link && (await realFolder(join(folder, entry.name))) !== undefined))
      names.push(entry.name);
  }
  return names.sort();
}

/** The real path of a folder; undefined if there is no such folder. */
export async function realFolder(path: string): Promise<string | undefined> {
  try {
    // Most requested folders do not exist; to look takes a fraction of the time that waiting for a thread would.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
    const real = realpathSync.native(path);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

export async function isLink(path: string): Promise<boolean> {
  return lstatOf(path)?.isSymbolicLink() === true;
}

export async function pathExists(path: string): Promise<boolean> {
  return statOf(path) !== undefined;
}
