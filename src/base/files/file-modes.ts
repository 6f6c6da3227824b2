import type { Stats } from 'node:fs';
import { chmod, mkdir, open, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { systemCode } from '../errors.ts';

/**
 * Who may read and write what the server makes. In a project, several people and the account of a server work in the same
 * folders: what is made there is open to whom the folder around it is open. What is kept with the user is theirs alone.
 */

const PRIVATE = 0o700;
const SET_GROUP = 0o2000;
const STICKY = 0o1000;
const OTHERS_WRITE = 0o022;
const TRIES = 5;

/** The programs are several files, and each has this one in it: what one of them is told holds for all. */
const KNOWN = Symbol.for('bmad-mcp-server: private folders');
const privateFolders = ((globalThis as { [KNOWN]?: Set<string> })[KNOWN] ??= new Set());

/** From now on, what is made in these folders is for the user alone, whatever the folders around allow. */
export async function keepPrivate(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const { place } = await nearest(folder);
    const real = await realpath(place).catch(() => place);
    privateFolders.add(folder).add(join(real, relative(place, folder)));
  }
}

function isPrivate(path: string): boolean {
  return [...privateFolders].some((folder) => path === folder || path.startsWith(folder + sep));
}

/** Makes a folder with all above it. */
export async function makeFolders(path: string): Promise<void> {
  const { around, missing } = await nearest(path);
  const mode = isPrivate(path) ? PRIVATE : modeLike(around);
  // The bit for the group comes from the folder around by itself; a sandbox may refuse those who name it.
  await made(path, mode & 0o777);
  if (mode === PRIVATE) return;
  // The mask of the process has no say: the folder around was made for those who work there.
  for (const each of missing) await chmod(each, mode).catch(() => undefined);
}

/** Somebody who tidies up may remove it between two looks of Node's at it, which then says that it is not there. */
async function made(path: string, mode: number, tries = TRIES): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode });
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' || tries === 1) throw error;
    await made(path, mode, tries - 1);
  }
}

/** The mode of a new file at this place. */
export async function fileMode(path: string): Promise<number> {
  return (isPrivate(path) ? PRIVATE : modeLike(await found(dirname(path)))) & 0o666;
}

/** Makes an empty file if there is none. Where that cannot be done, whoever writes it will say so. */
export async function ensureFile(path: string): Promise<void> {
  const mode = await fileMode(path);
  const handle = await open(path, 'wx', mode).catch(() => undefined);
  await handle?.chmod(mode).catch(() => undefined);
  await handle?.close();
}

/** Where it will be that is there already, and what is to be made below, from the top. */
async function nearest(path: string): Promise<{ place: string; around?: Stats; missing: string[] }> {
  const missing: string[] = [];
  for (let place = path; ; place = dirname(place)) {
    const around = await found(place);
    if (around !== undefined) return { place, around, missing };
    if (dirname(place) === place) return { place, missing };
    missing.unshift(place);
  }
}

function modeLike(around: Stats | undefined): number {
  if (around === undefined) return PRIVATE;
  const { mode } = around;
  // In a folder for everybody, such as /tmp, each has their own.
  const kept = (mode & STICKY) === 0 ? mode : mode & ~OTHERS_WRITE;
  return (kept & (SET_GROUP | 0o777)) | PRIVATE;
}

async function found(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined);
}
