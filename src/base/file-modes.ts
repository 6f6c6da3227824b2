import type { Stats } from 'node:fs';
import { chmod, mkdir, open, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { STATE_FOLDER } from './product.ts';

/**
 * Who may read and write what the server makes. In a project, several people and the account of a server work in the same
 * folders: what is made there is open to whom the folder around it is open. What is kept with the user is theirs alone.
 */

const PRIVATE = 0o700;
const SET_GROUP = 0o2000;
const STICKY = 0o1000;
const OTHERS_WRITE = 0o022;

/** Makes a folder with all above it. */
export async function makeFolders(path: string): Promise<void> {
  const missing: string[] = [];
  let place = path;
  let around = await found(place);
  while (around === undefined && dirname(place) !== place) {
    missing.unshift(place);
    place = dirname(place);
    around = await found(place);
  }
  const mine = around === undefined || missing.some((each) => basename(each) === STATE_FOLDER);
  const mode = mine ? PRIVATE : modeLike(around);
  // The bit for the group comes from the folder around by itself; a sandbox may refuse those who name it.
  await mkdir(path, { recursive: true, mode: mode & 0o777 });
  if (mode === PRIVATE) return;
  // The mask of the process has no say: the folder around was made for those who work there.
  for (const each of missing) await chmod(each, mode).catch(() => undefined);
}

/** The mode of a new file at this place. */
export async function fileMode(path: string): Promise<number> {
  return modeLike(await found(dirname(path))) & 0o666;
}

/** Makes an empty file if there is none. Where that cannot be done, whoever writes it will say so. */
export async function ensureFile(path: string): Promise<void> {
  const mode = await fileMode(path);
  const handle = await open(path, 'wx', mode).catch(() => undefined);
  await handle?.chmod(mode).catch(() => undefined);
  await handle?.close();
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
