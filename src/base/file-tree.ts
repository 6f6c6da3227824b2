import { copyFile, constants, lstat, mkdir, readdir, readFile, rename, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { BmadError, systemCode } from './errors.ts';
import { ensureFolder, writeFailure } from './file-state.ts';

/** Whole folders of a project's state: compared, copied aside, moved. Links are never followed. */

export interface TreeFile {
  /** From the top of the folder, with slashes. */
  path: string;
  size: number;
}

/** The plain files below a folder, sorted, and the names of links, pipes and the like, which are left out. */
export async function filesBelow(folder: string): Promise<{ files: TreeFile[]; left: string[] }> {
  const files: TreeFile[] = [];
  const left: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return [];
    throw writeFailure(folder, error);
  });
  for (const entry of entries) {
    const place = join(entry.parentPath, entry.name);
    const path = relative(folder, place).split(sep).join('/');
    if (entry.isFile()) files.push({ path, size: (await stat(place)).size });
    else if (!entry.isDirectory()) left.push(path);
  }
  const byPath = (a: string, b: string): number => (a < b ? -1 : 1);
  return { files: files.sort((a, b) => byPath(a.path, b.path)), left: left.sort(byPath) };
}

export async function sameBytes(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([stat(one), stat(other)]);
  if (a.size !== b.size) return false;
  return (await readFile(one)).equals(await readFile(other));
}

/** Copies the plain files below a folder into a new one; answers what was left out. */
export async function copyFiles(from: string, to: string): Promise<string[]> {
  const { files, left } = await filesBelow(from);
  await ensureFolder(to);
  for (const { path } of files) await copyNew(join(from, path), join(to, path));
  return left;
}

/** Copies one file to where there is none. */
export async function copyNew(from: string, to: string): Promise<void> {
  try {
    await mkdir(dirname(to), { recursive: true });
    await copyFile(from, to, constants.COPYFILE_EXCL);
  } catch (error) {
    throw writeFailure(to, error);
  }
}

/** Moves a folder to a place where nothing is. Whoever looks sees it here or there. */
export async function moveFolder(from: string, to: string): Promise<void> {
  await ensureFolder(dirname(to));
  if ((await lstat(to).catch(() => undefined)) !== undefined)
    throw new BmadError('conflict', `${to} is there already; nothing was moved.`, {
      hint: 'Look at what is there, then try again.',
    });
  try {
    await rename(from, to);
  } catch (error) {
    throw writeFailure(from, error);
  }
}
