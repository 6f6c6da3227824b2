import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import {
  access,
  chmod,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { mapLimited } from '../async.ts';
import { BmadError, systemCode } from '../errors.ts';
import { fileMode, makeFolders } from './file-modes.ts';

/** The door to everything the server itself keeps on disk: caches, locks and settings, in its own folders. */

/** Creates a folder and its parents: for the user only, or in a project for those who may use the parent folder. */
export async function ensureFolder(path: string): Promise<void> {
  try {
    await makeFolders(path);
  } catch (error) {
    throw writeFailure(path, systemCode(error) === 'ENOENT' ? await whyNoFolder(path, error) : error);
  }
}

/** On a read-only disk, Node reports a folder with its parents as missing; the first parent has the real reason. */
async function whyNoFolder(path: string, error: unknown): Promise<unknown> {
  let first = path;
  while ((await modifiedAt(dirname(first))) === undefined && dirname(first) !== first) first = dirname(first);
  return mkdir(first, { mode: 0o700 }).then(
    () => error,
    (reason: unknown) => reason,
  );
}

/**
 * Replaces a whole file: readers see either the old or the new version, even after a crash. A link stays a link and its
 * target is written; an existing file keeps its permissions, a new one gets those of its folder.
 */
export async function writeAtomic(
  file: string,
  content: string | Uint8Array | Iterable<string>,
  mode?: number,
): Promise<void> {
  await ensureFolder(dirname(file));
  const path = await realpath(file).catch(() => file);
  const rights = await stat(path).then(
    (info) => info.mode & 0o777,
    () => mode ?? fileMode(path),
  );
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    const handle = await withWriteFailure(path, open(draft, 'wx', rights));
    try {
      // The process umask must not change permissions that have to be preserved.
      await handle.chmod(rights);
      await writeFile(handle, content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error instanceof BmadError ? error : writeFailure(path, error);
  }
}

/** Far more than anything the server writes needs. */
const STATE_BYTES = 16 * 1024 * 1024;

/**
 * The text of one of the server's own files; undefined if it does not exist. Some are in projects, which other people
 * write: anything that is huge or not a regular file is refused before it is read.
 */
export async function readState(path: string): Promise<string | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const info = await handle.stat();
    if (info.isDirectory()) throw strange(path, 'it is a folder');
    if (!info.isFile()) throw strange(path, 'it is not a regular file');
    if (info.size > STATE_BYTES) throw strange(path, 'it is too large');
    return await handle.readFile('utf8');
  } catch (error) {
    if (error instanceof BmadError) throw error;
    if (isAbsent(error)) return undefined;
    throw failure(path, 'read', error);
  } finally {
    await handle?.close();
  }
}

function strange(path: string, reason: string): BmadError {
  return new BmadError('unavailable', `${path} cannot be read: ${reason}.`, {
    subject: path,
    hint: 'Check what is at this path, and remove it or replace it with a regular file.',
  });
}

/** The bytes of one of the server's own files; undefined if there is none. */
export async function readStateBytes(path: string): Promise<Buffer | undefined> {
  return readFile(path).catch(unlessAbsent(path, undefined));
}

/** Writes a new file into a folder under construction. False if one of this name already exists. */
export async function writeNew(path: string, content: Buffer): Promise<boolean> {
  try {
    const mode = await fileMode(path);
    await writeFile(path, content, { flag: 'wx', mode });
    // The process umask can only have removed permissions of others.
    if ((mode & 0o077) !== 0) await chmod(path, mode).catch(() => undefined);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw writeFailure(path, error);
  }
}

export async function writeLink(path: string, target: string): Promise<void> {
  // If links need a right the user does not have, the content is served without them.
  await symlink(target, path).catch(() => undefined);
}

/** A new private folder, named after this process so that the next one can tell whether it is still in use. */
export async function newWorkFolder(parent: string): Promise<string> {
  const folder = join(parent, `${process.pid}-${randomBytes(6).toString('hex')}`);
  await ensureFolder(folder);
  return folder;
}

/** Moves a finished folder into place. False if another process's folder already exists; this one is then removed. */
export async function publishFolder(draft: string, place: string): Promise<boolean> {
  await ensureFolder(dirname(place));
  try {
    await rename(draft, place);
    return true;
  } catch (error) {
    if (!['EEXIST', 'ENOTEMPTY', 'EPERM', 'EACCES'].includes(systemCode(error) ?? ''))
      throw writeFailure(place, error);
    if ((await stat(place).catch(() => undefined)) === undefined) throw writeFailure(place, error);
    await removeTree(draft);
    return false;
  }
}

/** Renames a folder first, then removes it, so that no one sees half of it. */
export async function discardFolder(place: string, trash: string): Promise<void> {
  const aside = join(trash, `${process.pid}-${randomBytes(6).toString('hex')}`);
  await ensureFolder(trash);
  try {
    await rename(place, aside);
  } catch (error) {
    if (isAbsent(error)) return;
    throw writeFailure(place, error);
  }
  await removeTree(aside);
}

/** Renames a folder so that it is no longer used, without removing it; returns its new path. */
export async function setAside(place: string): Promise<string> {
  const aside = `${place}.moved-${new Date().toISOString().replace(/[:.]/g, '-')}`;
  await withWriteFailure(place, rename(place, aside));
  return aside;
}

export async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
}

/** The names in one of the server's folders, sorted; empty if it does not exist. */
export async function stateNames(path: string): Promise<string[]> {
  return (await readdir(path).catch(unlessAbsent<string[]>(path, []))).sort();
}

/** When a file or folder was last changed, in milliseconds; undefined if it does not exist. */
export async function modifiedAt(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
}

/** Creates an empty file if there is none, and updates its time. Only a signal for others, so failures are ignored. */
export async function touch(path: string): Promise<void> {
  try {
    // The author of the project may have put a link there.
    const flags = constants.O_WRONLY | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
    const handle = await open(path, flags, await fileMode(path));
    try {
      await handle.utimes(new Date(), new Date());
    } finally {
      await handle.close();
    }
  } catch {
    // Callers do without it.
  }
}

/** Size of all files below a folder. */
export async function folderBytes(path: string): Promise<number> {
  const entries = await readdir(path, { withFileTypes: true, recursive: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await mapLimited(files, 32, ({ parentPath, name }) =>
    stat(join(parentPath, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Whether one of the server's own files can be written or created: it and its folder have to allow it. */
export async function isWritable(path: string): Promise<boolean> {
  const allows = async (place: string): Promise<boolean> => {
    try {
      await access(place, constants.W_OK);
      return true;
    } catch (error) {
      return isAbsent(error);
    }
  };
  return (await allows(dirname(path))) && (await allows(path));
}

export async function sizeAndTime(path: string): Promise<{ size: number; mtimeMs: number } | undefined> {
  return stat(path).then(
    ({ size, mtimeMs }) => ({ size, mtimeMs }),
    () => undefined,
  );
}

export function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '');
}

function unlessAbsent<T>(path: string, nothing: T): (error: unknown) => T {
  return (error) => {
    if (isAbsent(error)) return nothing;
    throw failure(path, 'read', error);
  };
}

async function withWriteFailure<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw writeFailure(path, error);
  }
}

const REASONS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
};

/** Why one of the server's own files could not be written, and what to do. */
export const writeFailure = (path: string, error: unknown): BmadError => failure(path, 'written', error);

function failure(path: string, what: 'read' | 'written', error: unknown): BmadError {
  const code = systemCode(error) ?? '';
  return new BmadError(
    'unavailable',
    `${path} cannot be ${what}: ${REASONS[code] ?? `I/O error (${code})`}.`,
    {
      subject: path,
      hint:
        code === 'ENOSPC'
          ? 'Free some space, then try again.'
          : 'Check the folder and its permissions, then try again.',
      cause: error,
    },
  );
}
