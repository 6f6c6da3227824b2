import { chmod, mkdir, realpath, rmdir } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { BmadError, systemCode } from '../errors.ts';
import { t } from '../text/message.ts';
import { shared } from '../values.ts';
import { leadsAway, writeFailure } from './file-refusals.ts';
import { lstatOf, statOf, type Stats } from './file-stamps.ts';
import { holdFolder, isBelow, isRealFolder, upwards, whileMaking } from './open-file.ts';

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

const privateFolders = /* @__PURE__ */ shared('private folders', () => new Set<string>());

/** What is created in these folders after this call is for the user alone, whatever the parent folders allow. */
export async function keepPrivate(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const { place } = nearest(folder);
    const real = await realpath(place).catch(() => place);
    privateFolders.add(resolve(folder)).add(join(real, relative(place, folder)));
  }
}

// By the folders of the path, since files are read all the time, and those who open many projects know many folders.
const isPrivate = (path: string): boolean => upwards(path).some((each) => privateFolders.has(each));

/** Whether something is the server's own though its root is not: a project may lie around the folders of its user. */
export const isKeptBack = (root: string, path: string): boolean =>
  upwards(path).some((each) => privateFolders.has(each) && !isBelow(each, root));

/**
 * Creates a folder and its parents; where a folder is named that nothing may lead out of, only in there. One by one, each in the
 * folder above it, which is held: a folder on the way may become a link at any time.
 */
export async function makeFolders(path: string, inside?: string, tries = TRIES): Promise<void> {
  // The user's own state folder may not be there yet; in what does not exist, nothing leads anywhere.
  if (inside !== undefined && statOf(inside) === undefined) await makeFolders(inside);
  const { place, missing } = nearest(path);
  const mode = isPrivate(path) ? PRIVATE : modeLike(statOf(place));
  try {
    for (const each of missing) await makeFolder(each, mode, inside);
  } catch (error) {
    // A concurrent cleanup may have removed one of them.
    if (systemCode(error) !== 'ENOENT' || tries === 1) throw error;
    await makeFolders(path, inside, tries - 1);
  }
}

async function makeFolder(path: string, mode: number, inside: string | undefined): Promise<void> {
  const above = await holdFolder(dirname(path), inside);
  try {
    // The group bit is inherited from the parent folder; a sandbox may refuse a call that names it.
    if (!(await isNew(above.at(basename(path)), path, mode & 0o777)) || mode === PRIVATE) return;
  } finally {
    above.close();
  }
  const made = await holdFolder(path, inside);
  try {
    // The process umask does not apply: the parent folder was made for those who work there.
    await chmod(made.at('.'), mode).catch(() => undefined);
  } finally {
    made.close();
  }
}

/** Creates one folder; false if another process was faster. A link in its place may lead nowhere yet. */
async function isNew(place: string, path: string, mode: number): Promise<boolean> {
  try {
    await mkdir(place, { mode });
    return true;
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    if (statOf(place)?.isDirectory() === true) return false;
    throw lstatOf(place)?.isSymbolicLink() === true ? leadsAway(path) : error;
  }
}

/** The mode of a new file at this place. */
export async function fileMode(path: string): Promise<number> {
  return (isPrivate(path) ? PRIVATE : modeLike(statOf(dirname(path)))) & 0o666;
}

/** Creates an empty file if there is none. If that fails, the writer will report it. */
export async function ensureFile(path: string): Promise<void> {
  await whileMaking(path, await fileMode(path), {}, () => Promise.resolve()).catch(() => undefined);
}

/** Those of these places that other users of the machine may read. Modes say nothing on Windows. */
export async function openToOthers(paths: readonly string[]): Promise<string[]> {
  if (process.platform === 'win32') return [];
  return paths.filter((path) => ((statOf(path)?.mode ?? 0) & OTHERS_READ) !== 0);
}

/** Leaves a file to its owner alone. */
export const makePrivate = (path: string): Promise<void> => chmod(path, 0o600);

/** The deepest folder that already exists, and the folders to create below it, from the top. */
function nearest(path: string): { place: string; missing: string[] } {
  const all = missingFolders(path);
  const place = all[0] === undefined ? path : dirname(all[0]);
  return { place, missing: all.filter((each) => each !== place) };
}

/** The folders up to this one that do not exist yet, the outermost first. */
export function missingFolders(path: string): string[] {
  const above = upwards(path);
  const there = above.findIndex((place) => statOf(place) !== undefined);
  return above.slice(0, there === -1 ? above.length : there).toReversed();
}

/** Removes folders that were made here, unless something else has been put into them. */
export async function removeEmpty(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toReversed()) await rmdir(folder).catch(() => undefined);
}

function modeLike(around: Stats | undefined): number {
  if (around === undefined) return PRIVATE;
  const { mode } = around;
  // In a folder shared by all users, such as /tmp, each user has their own.
  const kept = (mode & STICKY) === 0 ? mode : mode & ~OTHERS_WRITE;
  return (kept & (SET_GROUP | 0o777)) | PRIVATE;
}

/**
 * Creates a folder and its parents: for the user only, or in a project for those who may use the parent folder. None is
 * created outside `inside`, whatever a link on the way says.
 */
export async function ensureFolder(path: string, inside?: string): Promise<void> {
  if ((inside === undefined || isBelow(inside, path)) && isRealFolder(path)) return;
  try {
    await makeFolders(path, inside);
    // What was there already may be behind a link, or a file.
    if (inside !== undefined) (await holdFolder(path, inside)).close();
    if (statOf(path)?.isDirectory() === false) throw notAFolder(path);
  } catch (error) {
    if (error instanceof BmadError) throw error;
    throw fileInTheWay(path) ?? writeFailure(path, error);
  }
}

/** A plain file where a folder is needed. */
function fileInTheWay(path: string): BmadError | undefined {
  const place = upwards(path).find((each) => statOf(each) !== undefined);
  return place === undefined || statOf(place)?.isDirectory() === true ? undefined : notAFolder(place);
}

function notAFolder(path: string): BmadError {
  return new BmadError('unavailable', t`${path} is a file, but a folder belongs there.`, {
    reason: 'file',
    subject: path,
    hint: t`Check the folder: move the file away or rename it, then try again.`,
  });
}
