import { type Stats, statSync } from 'node:fs';
import { chmod, lstat, mkdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { BmadError, systemCode } from '../errors.ts';
import { t } from '../text/message.ts';
import { leadsAway, writeFailure } from './file-refusals.ts';
import { createNew, holdFolder, isBelow, isRealFolder, realFolder, upwards } from './open-file.ts';

/**
 * Who may read and write what the server creates. In a project, several people and a server account share folders: what
 * is created there is open to those who have access to the parent folder. User folders are the user's alone.
 */

const PRIVATE = 0o700;
const SET_GROUP = 0o2000;
const STICKY = 0o1000;
const OTHERS_WRITE = 0o022;
const OTHERS_READ = 0o055;
const TRIES = 5;

/** The programs consist of several files, each with its own copy of this one: a setting made in one applies to all. */
const KNOWN = Symbol.for('bmad-mcp-server: private folders');
const privateFolders = ((globalThis as { [KNOWN]?: Set<string> })[KNOWN] ??= new Set());

/** What is created in these folders after this call is for the user alone, whatever the parent folders allow. */
export async function keepPrivate(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const { place } = await nearest(folder);
    const real = await realpath(place).catch(() => place);
    privateFolders.add(folder).add(join(real, relative(place, folder)));
  }
}

const isPrivate = (path: string): boolean => [...privateFolders].some((folder) => isBelow(folder, path));

/** Whether something is the server's own though its root is not: a project may lie around the folders of its user. */
export const isKeptBack = (root: string, path: string): boolean =>
  [...privateFolders].some((folder) => isBelow(folder, path) && !isBelow(folder, root));

/** Creates a folder and its parents; where a folder is named that nothing may lead out of, only in there. */
export async function makeFolders(path: string, inside?: string, tries = TRIES): Promise<void> {
  // The user's own state folder may not be there yet; in what does not exist, nothing leads anywhere.
  if (inside !== undefined && (await statsOf(inside)) === undefined) await makeFolders(inside);
  const { around, missing } = await nearest(path);
  const mode = isPrivate(path) ? PRIVATE : modeLike(around);
  if (inside !== undefined)
    return makeInside(missing, mode, inside).catch((error: unknown) => {
      if (systemCode(error) !== 'ENOENT' || tries === 1) throw error;
      return makeFolders(path, inside, tries - 1);
    });
  // The group bit is inherited from the parent folder; a sandbox may refuse a call that names it.
  await makeFolder(path, mode & 0o777);
  if (mode === PRIVATE) return;
  // The process umask does not apply: the parent folder was made for those who work there.
  for (const each of missing) await chmod(each, mode).catch(() => undefined);
}

/** One by one, each in the folder above it, which is held: a folder on the way may become a link at any time. */
async function makeInside(missing: readonly string[], mode: number, inside: string): Promise<void> {
  for (const each of missing) {
    const above = await holdFolder(dirname(each), inside);
    try {
      if (!(await isNew(above.at(basename(each)), mode & 0o777)) || mode === PRIVATE) continue;
    } finally {
      above.close();
    }
    const made = await holdFolder(each, inside);
    try {
      await chmod(made.at('.'), mode).catch(() => undefined);
    } finally {
      made.close();
    }
  }
}

/** Creates one folder; false if another process was faster. */
async function isNew(place: string, mode: number): Promise<boolean> {
  try {
    await mkdir(place, { mode });
    return true;
  } catch (error) {
    if (systemCode(error) !== 'EEXIST' || (await statsOf(place))?.isDirectory() !== true) throw error;
    return false;
  }
}

/** A concurrent cleanup may remove the folder between two of Node's checks, which then reports it missing. */
async function makeFolder(path: string, mode: number, tries = TRIES): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode });
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' || tries === 1) throw error;
    await makeFolder(path, mode, tries - 1);
  }
}

/** The mode of a new file at this place. */
export async function fileMode(path: string): Promise<number> {
  return (isPrivate(path) ? PRIVATE : modeLike(await statsOf(dirname(path)))) & 0o666;
}

/** Creates an empty file if there is none. If that fails, the writer will report it. */
export async function ensureFile(path: string, inside?: string): Promise<void> {
  const handle = await createNew(path, await fileMode(path), { inside }).catch(() => undefined);
  await handle?.close();
}

/** Those of these places that other users of the machine may read. Modes say nothing on Windows. */
export async function openToOthers(paths: readonly string[]): Promise<string[]> {
  if (process.platform === 'win32') return [];
  const modes = await Promise.all(paths.map(async (path) => (await statsOf(path))?.mode ?? 0));
  return paths.filter((_path, at) => ((modes[at] ?? 0) & OTHERS_READ) !== 0);
}

/** Leaves a file to its owner alone. */
export const makePrivate = (path: string): Promise<void> => chmod(path, 0o600);

/** The deepest folder that already exists, and the folders to create below it, from the top. */
async function nearest(path: string): Promise<{ place: string; around?: Stats; missing: string[] }> {
  const missing: string[] = [];
  for (const place of upwards(path)) {
    const around = await statsOf(place);
    if (around !== undefined) return { place, around, missing };
    missing.unshift(place);
  }
  return { place: missing.shift() ?? path, missing };
}

function modeLike(around: Stats | undefined): number {
  if (around === undefined) return PRIVATE;
  const { mode } = around;
  // In a folder shared by all users, such as /tmp, each user has their own.
  const kept = (mode & STICKY) === 0 ? mode : mode & ~OTHERS_WRITE;
  return (kept & (SET_GROUP | 0o777)) | PRIVATE;
}

/** In this thread: to wait for another one takes longer. */
async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/**
 * Creates a folder and its parents: for the user only, or in a project for those who may use the parent folder. None is
 * created outside `inside`, whatever a link on the way says.
 */
export async function ensureFolder(path: string, inside?: string): Promise<void> {
  if ((inside === undefined || isBelow(inside, path)) && isRealFolder(path)) return;
  if (inside !== undefined) await refuseAway(path, inside);
  try {
    await makeFolders(path, inside);
  } catch (error) {
    const isUnclear = inside === undefined && systemCode(error) === 'ENOENT';
    throw (
      (await fileInTheWay(path)) ?? writeFailure(path, isUnclear ? await whyNoFolder(path, error) : error)
    );
  }
}

/** The deepest folder on the way that exists has to be inside; the rest is made below it. A link may lead nowhere yet. */
async function refuseAway(path: string, inside: string): Promise<void> {
  const root = await realFolder(inside).catch(() => inside);
  for (let place = path; place !== inside && dirname(place) !== place; place = dirname(place)) {
    const real = await realFolder(place).catch(() => undefined);
    if (real === undefined && (await lstat(place).catch(() => undefined))?.isSymbolicLink() !== true)
      continue;
    if (real === undefined || !isBelow(root, real)) throw leadsAway(place);
    return;
  }
}

/** A plain file where a folder is needed. */
async function fileInTheWay(path: string): Promise<BmadError | undefined> {
  for (let place = path; dirname(place) !== place; place = dirname(place)) {
    const info = await stat(place).catch(() => undefined);
    if (info === undefined) continue;
    return info.isDirectory() ? undefined : notAFolder(place);
  }
  return undefined;
}

/** On a read-only disk, Node reports a folder with its parents as missing; the first parent has the real reason. */
async function whyNoFolder(path: string, error: unknown): Promise<unknown> {
  let first = path;
  while (!(await isThere(dirname(first))) && dirname(first) !== first) first = dirname(first);
  return mkdir(first, { mode: 0o700 }).then(
    () => error,
    (reason: unknown) => reason,
  );
}

function notAFolder(path: string): BmadError {
  return new BmadError('unavailable', t`${path} is a file, but a folder belongs there.`, {
    reason: 'file',
    subject: path,
    hint: t`Check the folder: move the file away or rename it, then try again.`,
  });
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
