import { t } from '../text/message.ts';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
  type BigIntStats,
} from 'node:fs';
import { open, realpath, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { attempt, systemCode, unlessShort } from '../errors.ts';
import { shared } from '../values.ts';
import { isOfGit, leadsAway, refusalOf, replaced, strange, twice } from './file-refusals.ts';

/**
 * The one place that opens files. Projects are written by others, and what lies where a file of ours belongs may be a
 * link, a pipe or a device: nothing is followed that was not checked, nothing blocks, and only a regular file is handed
 * out, by its handle and as long as somebody works on it. What was checked by its path is compared with what was opened.
 */

const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT, O_EXCL } = constants;
/** NONBLOCK keeps a pipe from hanging the server; NOFOLLOW closes the gap between checking a link and opening it. */
const SAFE = (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
/** Linux: a handle of a folder to start from, which needs no right to list it. Node has no name for it. */
const O_PATH = 0o10000000;
const HOLD = O_PATH | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

export interface OpenRules {
  /** The folder that nothing may lead out of. In folders of the user, links are the user's business. */
  inside?: string | undefined;
  /** Whether the file itself may be a link, if its target is inside; else a link is refused. */
  follow?: boolean | undefined;
  /** Larger files are refused. */
  maxBytes?: number | undefined;
}

export interface OpenedFile {
  handle: FileHandle;
  size: number;
  ino: bigint;
  birthtimeNs: bigint;
}

/** Reads a file; undefined if there is none. */
export async function whileReading<T>(
  path: string,
  rules: OpenRules,
  work: (file: OpenedFile) => Promise<T>,
): Promise<T | undefined> {
  const file = await opened(path, O_RDONLY, rules).catch((error: unknown) => {
    if (!isAbsent(error)) throw error;
    return undefined;
  });
  return file && whileOpen(file, work);
}

/** Reads the end of a file and appends to it; one that is missing is made, which `made` tells. */
export async function whileAppending<T>(
  path: string,
  mode: number,
  rules: OpenRules,
  work: (file: OpenedFile & { made: boolean }) => Promise<T>,
): Promise<T> {
  return whileOpen(await openedToAppend(path, mode, rules), work);
}

/** Makes a new file. Fails with EEXIST if anything has this name, also a link that leads nowhere. */
export async function whileMaking<T>(
  path: string,
  mode: number,
  rules: OpenRules,
  work: (handle: FileHandle) => Promise<T>,
): Promise<T> {
  return whileOpen(await created(path, 0, mode, rules), ({ handle }) => work(handle));
}

async function whileOpen<F extends OpenedFile, T>(file: F, work: (file: F) => Promise<T>): Promise<T> {
  try {
    return await work(file);
  } finally {
    await file.handle.close();
  }
}

async function openedToAppend(
  path: string,
  mode: number,
  rules: OpenRules,
): Promise<OpenedFile & { made: boolean }> {
  for (let tries = 0; ; tries += 1) {
    try {
      return { ...(await opened(path, O_RDWR | O_APPEND, rules)), made: false };
    } catch (error) {
      // Somebody else may make it, or remove it, between the two steps.
      if (systemCode(error) !== 'ENOENT' || tries > 2) throw error;
    }
    try {
      return { ...(await created(path, O_APPEND, mode, rules)), made: true };
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
  }
}

async function created(path: string, more: number, mode: number, { inside }: OpenRules): Promise<OpenedFile> {
  const file = await opened(path, O_RDWR | O_CREAT | O_EXCL | more, { inside }, mode);
  // The umask of the process must not change what the folder asks for.
  await file.handle.chmod(mode).catch(() => undefined);
  return file;
}

/** Removes a file, or a link but not its target. */
export async function removeFile(path: string, inside?: string): Promise<void> {
  await inFolder(path, inside, (place) => rm(place, { force: true })).catch((error: unknown) => {
    if (!isAbsent(error)) throw error;
  });
}

/**
 * Opens exactly this path in this thread, whatever the way to it is: the caller has checked it, has to compare afterwards, and
 * closes it.
 */
export function openCheckedNow(path: string): number {
  return openSync(path, O_RDONLY | SAFE);
}

/** A file that is replaced again and again while it is opened is given up. */
const TRIES = 5;

async function opened(path: string, flags: number, rules: OpenRules, mode?: number): Promise<OpenedFile> {
  for (let tries = 1; ; tries += 1) {
    const found = await openedOnce(path, flags, rules, mode);
    if (found !== undefined) return found;
    if (tries === TRIES) throw replaced(path);
  }
}

async function openedOnce(path: string, flags: number, rules: OpenRules, mode?: number) {
  const { inside, follow = false, maxBytes = Number.MAX_SAFE_INTEGER } = rules;
  const target = follow ? await realpath(path) : path;
  const checked = inside === undefined && SAFE !== 0 ? undefined : await checkedPlace(path, target, inside);
  const opener = (place: string): Promise<FileHandle> => open(place, flags | SAFE, mode);
  // To read changes nothing, and where it was read is found out below; to write is done in the folder itself.
  const held = checked !== undefined && inside !== undefined && flags !== O_RDONLY;
  if (held && isOfGit(checked.root ?? '', checked.place)) throw leadsAway(path);
  const opening = held ? inFolder(checked.place, inside, opener) : opener(checked?.place ?? target);
  const handle = await opening.catch((error: unknown) => {
    throw refusalOf(path, error);
  });
  let kept = false;
  try {
    const info = infoOf(handle);
    if (info.isDirectory()) throw strange(path, t`it is a folder`);
    if (!info.isFile()) throw strange(path, t`it is not a regular file`);
    if (info.size > BigInt(maxBytes)) throw strange(path, t`it is too large`);
    // A file with a second name is another file too, which may be anywhere on the disk.
    if (inside !== undefined && flags !== O_RDONLY && info.nlink > 1n) throw twice(path);
    const places = checked === undefined ? [] : openedPaths(handle.fd, checked.place);
    if (places === undefined) return undefined;
    const root = checked?.root;
    if (root !== undefined && !places.every((place) => isBelow(root, place))) throw leadsAway(path);
    kept = true;
    return { handle, size: Number(info.size), ino: info.ino, birthtimeNs: info.birthtimeNs };
  } finally {
    if (!kept) await handle.close();
  }
}

/** What a handle leads to, as it is now; in this thread, because to wait for another one takes longer. */
export const infoOf = ({ fd }: FileHandle): BigIntStats => fstatSync(fd, { bigint: true });

/** The same of what is at a path, a link itself; undefined if there is nothing, or nothing that we may see. */
export const infoAt = (path: string): BigIntStats | undefined =>
  attempt(
    () => lstatSync(path, { bigint: true, throwIfNoEntry: false }),
    () => undefined,
  );

/** The real path of a file that need not exist, and that of the folder it has to be in. A refusal names what was asked for. */
async function checkedPlace(asked: string, target: string, inside: string | undefined) {
  const folder = await realFolder(dirname(target));
  const root = inside === undefined ? undefined : await realRoot(inside, folder);
  if (root !== undefined && !isBelow(root, folder)) throw leadsAway(asked);
  return { place: join(folder, basename(target)), root };
}

/** Works on a name in a folder that is held, so that it stays the folder that was checked. */
async function inFolder<T>(
  path: string,
  inside: string | undefined,
  work: (place: string) => Promise<T>,
): Promise<T> {
  if (inside === undefined) return work(path);
  const folder = await holdFolder(dirname(path), inside);
  try {
    return await work(folder.at(basename(path)));
  } finally {
    folder.close();
  }
}

export interface HeldFolder {
  /** A path for a name in this very folder, also after the folder's own path has come to lead elsewhere. */
  at(name: string): string;
  close(): void;
}

/** Holds a folder that is inside another. */
export async function holdFolder(path: string, inside: string | undefined): Promise<HeldFolder> {
  const fd = openAsNamed(path, true);
  if (fd !== undefined && (inside === undefined || isBelow(inside, path))) return heldBy(fd);
  if (fd !== undefined) closeSync(fd);
  const real = await realFolder(path);
  return holdReal(real, inside === undefined ? undefined : await realRoot(inside, real), path);
}

/** The real path of a folder around one that is real itself: what a real path begins with is real too. */
const realRoot = async (inside: string, real: string): Promise<string> =>
  isBelow(inside, real) ? inside : realFolder(inside);

/**
 * The real path of a folder. Mostly no link leads to it, which its handle tells in this thread: to wait for another one takes many
 * times as long.
 */
async function realFolder(path: string): Promise<string> {
  return isRealFolder(path) ? path : realpath(path);
}

/** Whether it is a folder to which no link leads; no where the system does not tell. */
export function isRealFolder(path: string): boolean {
  const fd = openAsNamed(path, true);
  if (fd !== undefined) closeSync(fd);
  return fd !== undefined;
}

/**
 * The same for real paths. By its handle where the system lets paths begin at one; waiting for a thread to get it would
 * take many times as long as getting it.
 */
export function holdReal(real: string, root: string | undefined, asked = real): HeldFolder {
  if (root !== undefined && !isBelow(root, real)) throw leadsAway(asked);
  if (!hasHeldFolders()) return { at: (name) => join(real, name), close: () => undefined };
  const fd = openSync(real, HOLD);
  const place = pathOf(fd);
  if (root !== undefined && (place === undefined || !isBelow(root, place))) {
    closeSync(fd);
    throw leadsAway(asked);
  }
  return heldBy(fd);
}

export const heldBy = (fd: number): HeldFolder => ({
  at: (name) => `/proc/self/fd/${fd}/${name}`,
  close: () => closeSync(fd),
});

/**
 * Opens a file, or holds a folder, that no link leads to: then what was opened has the very path that it was asked for by. Undefined
 * for all else, and where the system does not tell. The caller closes it.
 */
export function openAsNamed(path: string, folder: boolean): number | undefined {
  if (!hasHeldFolders()) return undefined;
  let fd: number;
  try {
    fd = openSync(path, folder ? HOLD : O_RDONLY | SAFE);
  } catch {
    return undefined;
  }
  if (pathOf(fd) === path) return fd;
  closeSync(fd);
  return undefined;
}

const system = /* @__PURE__ */ shared<{ holds?: boolean }>('paths can begin at a handle', () => ({}));

/** Whether paths can begin at a handle: only Linux can, and only where `/proc` is what it should be. */
function hasHeldFolders(): boolean {
  return (system.holds ??= process.platform === 'linux' && worksWithHandles());
}

function worksWithHandles(): boolean {
  let fd: number | undefined;
  try {
    fd = openSync('/', HOLD);
    const place = `/proc/self/fd/${fd}`;
    return readlinkSync(place) === '/' && statSync(`${place}/.`).ino === statSync('/').ino;
  } catch (error) {
    // Not to be remembered: it would be true of this moment only.
    return unlessShort(false)(error);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Linux appends this to the path of a file that has been removed or replaced since it was opened. */
const REMOVED = ' (deleted)';

/** The real path of what a handle leads to; undefined where the system does not tell. */
function pathOf(fd: number): string | undefined {
  if (!hasHeldFolders()) return undefined;
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}

/**
 * The real paths that an opened file may have, to be checked once more: those of a removed file are ambiguous. Undefined
 * if it is not the file at the path that was checked.
 */
export function openedPaths(fd: number, checked: string): string[] | undefined {
  const place = pathOf(fd);
  if (place !== undefined)
    return place.endsWith(REMOVED) ? [place, place.slice(0, -REMOVED.length)] : [place];
  try {
    const there = lstatSync(checked, { bigint: true });
    const same = there.isFile() && there.ino === fstatSync(fd, { bigint: true }).ino;
    return same && realpathSync.native(checked) === checked ? [checked] : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a real path is a folder or something in it. */
export function isBelow(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** A folder and all that it lies in, the nearest first. */
export function upwards(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...upwards(above)];
}

export function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '');
}
