import { t } from '../text/message.ts';
import { lstat, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BmadError, systemCode } from '../errors.ts';
import { writeFailure } from './file-failure.ts';
import { makeFolders } from './file-modes.ts';
import { leadsAway } from './file-refusals.ts';
import { isBelow, isRealFolder, realFolder } from './open-file.ts';

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
