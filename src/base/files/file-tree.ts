import { t } from '../text/message.ts';
import { randomBytes } from 'node:crypto';
import { lstat, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { BmadError } from '../errors.ts';
import { writeFailure } from './file-refusals.ts';
import { requireLocks } from './file-lock.ts';
import { fileMode, makeFolders } from './file-modes.ts';
import { ensureFolder } from './file-state.ts';
import { createNew, isAbsent, openToRead, type OpenedFile } from './open-file.ts';

/** Compares, copies and moves whole folders of a project's state. Links are never followed. */

interface TreeFile {
  /** From the top of the folder, with slashes. */
  path: string;
  size: number;
}

/** The plain files below a folder, sorted, and the names of links, pipes and the like, which are left out. */
export async function filesBelow(folder: string): Promise<{ files: TreeFile[]; left: string[] }> {
  const files: TreeFile[] = [];
  const left: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch((error: unknown) => {
    if (isAbsent(error)) return [];
    throw writeFailure(folder, error);
  });
  for (const entry of entries) {
    const place = join(entry.parentPath, entry.name);
    const path = relative(folder, place).split(sep).join('/');
    if (entry.isFile()) files.push({ path, size: (await lstat(place)).size });
    else if (!entry.isDirectory()) left.push(path);
  }
  const byPath = (a: string, b: string): number => (a < b ? -1 : 1);
  return { files: files.sort((a, b) => byPath(a.path, b.path)), left: left.sort(byPath) };
}

/** Fails where one of them is missing or not a regular file. */
export async function sameBytes(one: string, other: string): Promise<boolean> {
  const a = await openedFile(one);
  try {
    const b = await openedFile(other);
    try {
      return a.size === b.size && (await sameContent(a.handle, b.handle));
    } finally {
      await b.handle.close();
    }
  } finally {
    await a.handle.close();
  }
}

const CHUNK = 256 * 1024;

async function openedFile(path: string): Promise<OpenedFile> {
  const found = await openToRead(path);
  if (found === undefined) throw new BmadError('not_found', t`There is no file ${path}.`, { subject: path });
  return found;
}

async function sameContent(one: FileHandle, other: FileHandle): Promise<boolean> {
  const [a, b] = [Buffer.allocUnsafe(CHUNK), Buffer.allocUnsafe(CHUNK)];
  for (let at = 0; ;) {
    const [left, right] = [await filled(one, a, at), await filled(other, b, at)];
    if (!left.equals(right)) return false;
    if (left.length < CHUNK) return true;
    at += CHUNK;
  }
}

/** As much as there is from a position on; one call of the system may bring less. */
async function filled(handle: FileHandle, buffer: Buffer, from: number): Promise<Buffer> {
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, from + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

/** Copies the regular files below a folder into a new one; returns what was left out. */
export async function copyFiles(from: string, to: string): Promise<string[]> {
  const { files, left } = await filesBelow(from);
  await ensureFolder(to);
  for (const { path } of files) await copyNew(join(from, path), join(to, path));
  return left;
}

/** Copies one file to a free path; for those who use the target folder, not for those who had the original. */
export async function copyNew(from: string, to: string): Promise<void> {
  try {
    await makeFolders(dirname(to));
    const source = await openedFile(from);
    try {
      const target = await createNew(to, await fileMode(to));
      try {
        const buffer = Buffer.allocUnsafe(CHUNK);
        for (let at = 0; at < source.size;) {
          const part = await filled(source.handle, buffer, at);
          if (part.length === 0) break;
          await target.writeFile(part);
          at += part.length;
        }
      } catch (error) {
        await rm(to, { force: true }).catch(() => undefined);
        throw error;
      } finally {
        await target.close();
      }
    } finally {
      await source.handle.close();
    }
  } catch (error) {
    throw writeFailure(to, error);
  }
}

/** Moves a folder to a free path. Observers see it at either the old or the new path. */
export async function moveFolder(from: string, to: string): Promise<void> {
  await ensureFolder(dirname(to));
  if ((await lstat(to).catch(() => undefined)) !== undefined)
    throw new BmadError('conflict', t`${to} already exists; nothing was moved.`, {
      hint: t`Check what is at this path, then try again.`,
    });
  await requireLocks();
  try {
    await rename(from, to);
  } catch (error) {
    throw writeFailure(from, error);
  }
}

interface Comparing {
  /** How many levels of folders are compared inside; anything deeper is one piece. */
  depth: number;
  /** Names that are no part of it. */
  without: ReadonlySet<string>;
  /** Names of which the other folder keeps its own, where it has one. */
  own: ReadonlySet<string>;
}

/**
 * What one folder has that another does not, in pieces that can be brought there whole, and what is different there. Links
 * count as different: they are never brought.
 */
export async function piecesFor(
  from: string,
  to: string,
  { depth, without, own }: Comparing,
): Promise<{ missing: string[]; different: string[] }> {
  const missing: string[] = [];
  const different: string[] = [];
  const compare = async (path: string, levels: number): Promise<void> => {
    const entries = await readdir(join(from, path), { withFileTypes: true });
    // Pages come before the data that refer to them.
    const rank = (name: string): string => `${name.endsWith('.json') ? 1 : 0}${name}`;
    for (const entry of entries.toSorted((a, b) => (rank(a.name) < rank(b.name) ? -1 : 1))) {
      // The holder of a lock says nothing about the other folder.
      if (entry.name.endsWith('.lock') || without.has(entry.name)) continue;
      const inner = path === '' ? entry.name : `${path}/${entry.name}`;
      const [here, there] = [join(from, inner), join(to, inner)];
      const kind = entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : 'link';
      const target = await lstat(there).catch(() => undefined);
      if (kind === 'link' || (kind === 'folder' && (await filesBelow(here)).left.length > 0))
        different.push(inner);
      else if (target === undefined) missing.push(inner);
      else if (own.has(entry.name)) continue;
      else if (kind === 'folder' && target.isDirectory() && levels > 0) await compare(inner, levels - 1);
      else if (!(await sameTree(here, there))) different.push(inner);
    }
  };
  await compare('', depth);
  return { missing, different };
}

/** Brings pieces of a folder into another, each whole; `work` is a folder on the same disk for incomplete ones. */
export async function bringPieces(
  from: string,
  to: string,
  pieces: readonly string[],
  work: string,
): Promise<void> {
  await rm(work, { recursive: true, force: true });
  try {
    for (const piece of pieces) {
      const draft = join(work, randomBytes(6).toString('hex'));
      const isFile = (await lstat(join(from, piece))).isFile();
      await (isFile ? copyNew(join(from, piece), draft) : copyFiles(join(from, piece), draft));
      await moveFolder(draft, join(to, piece));
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Whether everything in the first is also in the second, byte for byte. */
export async function sameTree(here: string, there: string): Promise<boolean> {
  const [one, other] = await Promise.all([here, there].map((path) => lstat(path).catch(() => undefined)));
  if (one?.isFile() === true) return other?.isFile() === true && (await sameBytes(here, there));
  if (one?.isDirectory() !== true || other?.isDirectory() !== true) return false;
  const known = new Set((await filesBelow(there)).files.map(({ path }) => path));
  for (const { path } of (await filesBelow(here)).files)
    if (!known.has(path) || !(await sameBytes(join(here, path), join(there, path)))) return false;
  return true;
}
