import { t } from '../text/message.ts';
import { createHash, randomBytes } from 'node:crypto';
import { lstat, readdir, readlink, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { BmadError } from '../errors.ts';
import { missing, twice, writeFailure } from './file-refusals.ts';
import { requireLocks } from './file-lock.ts';
import { ensureFolder, fileMode, makeFolders } from './file-modes.ts';
import { isAbsent, isBelow, type OpenedFile, whileMaking, whileReading } from './open-file.ts';
import { statSync } from 'node:fs';
import { sha256 } from '../values.ts';

/** Tells files apart, and compares, copies and moves whole folders of a project's state. Links are never followed. */

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
  const [a, b] = await Promise.all([one, other].map((path) => whileThere(path, (file) => digestOf(file))));
  return a === b;
}

async function whileThere<T>(path: string, work: (file: OpenedFile) => Promise<T>): Promise<T> {
  const done = await whileReading(path, {}, async (file) => ({ result: await work(file) }));
  if (done === undefined) throw missing(path);
  return done.result;
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
    await whileThere(from, async (source) =>
      whileMaking(to, await fileMode(to), {}, async (target) => {
        try {
          for await (const piece of piecesOf(source)) await target.writeFile(piece);
        } catch (error) {
          await rm(to, { force: true }).catch(() => undefined);
          throw error;
        }
      }),
    );
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
  const lacking: string[] = [];
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
      else if (target === undefined) lacking.push(inner);
      else if (own.has(entry.name)) continue;
      else if (kind === 'folder' && target.isDirectory() && levels > 0) await compare(inner, levels - 1);
      else if (!(await sameTree(here, there))) different.push(inner);
    }
  };
  await compare('', depth);
  return { missing: lacking, different };
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

/** Whether everything in the first is also in the second, byte for byte, but for what has one of these paths. */
export async function sameTree(
  here: string,
  there: string,
  without: readonly string[] = [],
): Promise<boolean> {
  const [one, other] = await Promise.all([here, there].map((path) => lstat(path).catch(() => undefined)));
  if (one?.isFile() === true) return other?.isFile() === true && (await sameBytes(here, there));
  if (one?.isDirectory() !== true || other?.isDirectory() !== true) return false;
  const known = new Set((await filesBelow(there)).files.map(({ path }) => path));
  for (const { path } of (await filesBelow(here)).files) {
    if (without.includes(path)) continue;
    if (!known.has(path) || !(await sameBytes(join(here, path), join(there, path)))) return false;
  }
  return true;
}

/**
 * Which file is at a path: its device and inode. A file that was removed or replaced still works for a process that has
 * it open, but nobody else ever sees what is written to it. Undefined if there is none.
 */
export async function fileIdentity(path: string): Promise<string | undefined> {
  try {
    // Asked before each use of a store, which itself does not wait for others: in a thread it takes ten times as long.
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}

/** Throws for a file with a second name: what others open to write to it, such as SQLite, would change that file too. */
export async function refuseTwice(path: string): Promise<void> {
  const info = await lstat(path).catch(() => undefined);
  if (info?.isFile() === true && info.nlink > 1) throw twice(path);
}

/** The last bytes of a regular file; none if there is no such file, or it is shorter. */
export async function lastBytes(path: string, count: number): Promise<Buffer> {
  return bytesAt(path, count, (size) => size - count);
}

/** The first ones. */
export async function firstBytes(path: string, count: number): Promise<Buffer> {
  return bytesAt(path, count, () => 0);
}

async function bytesAt(path: string, count: number, from: (size: number) => number): Promise<Buffer> {
  const read = async ({ handle, size }: OpenedFile): Promise<Buffer> => {
    if (size < count) return Buffer.alloc(0);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(count), 0, count, from(size));
    return buffer.subarray(0, bytesRead);
  };
  return (await whileReading(path, {}, read).catch(() => undefined)) ?? Buffer.alloc(0);
}

export interface FileMark {
  /** A file, an executable, a link (not followed), a folder, or a file that could not be read. */
  kind: 'file' | 'program' | 'link' | 'folder' | 'unread';
  /** SHA-256 of the content or of the link target. */
  digest: string;
}

interface Reading {
  signal: AbortSignal;
  /** How many bytes may still be read, of all files together; a file that is larger is not read. */
  room: number;
  /** Hears how many bytes were read, again and again. */
  onBytes?: ((count: number) => void) | undefined;
}

/**
 * What identifies the content of a file below a folder, given by its real path, to detect later changes. It is
 * read whole. Undefined if there is nothing, or what has no content.
 */
export async function fileMark(root: string, name: string, reading: Reading): Promise<FileMark | undefined> {
  const path = join(root, name);
  try {
    const info = await lstat(path);
    if (info.isSymbolicLink()) {
      const target = await readlink(path, { encoding: 'buffer' });
      return { kind: 'link', digest: sha256(target) };
    }
    if (info.isDirectory()) return { kind: 'folder', digest: '' };
    if (!info.isFile()) return undefined;
    if (info.size > reading.room) return { kind: 'unread', digest: '' };
    reading.room -= info.size;
    const digest = await whileReading(path, { inside: root }, (file) => digestOf(file, reading));
    if (digest === undefined) return undefined;
    return { kind: (info.mode & 0o100) !== 0 ? 'program' : 'file', digest };
  } catch (error) {
    reading.signal.throwIfAborted();
    return isAbsent(error) ? undefined : { kind: 'unread', digest: '' };
  }
}

/** The same for what a link leads to that stays in the folder, with its size: undefined if it cannot be read there. */
export async function wholeMark(
  root: string,
  name: string,
): Promise<{ digest: string; bytes: number } | undefined> {
  const real = await realpath(join(root, name)).catch(() => undefined);
  if (real === undefined || !isBelow(root, real)) return undefined;
  let bytes = 0;
  const mark = await fileMark(root, relative(root, real), {
    signal: new AbortController().signal,
    room: Infinity,
    onBytes: (count) => (bytes += count),
  });
  return mark?.kind === 'file' || mark?.kind === 'program' ? { digest: mark.digest, bytes } : undefined;
}

async function digestOf(
  file: OpenedFile,
  { signal, onBytes }: Partial<Omit<Reading, 'room'>> = {},
): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of piecesOf(file)) {
    signal?.throwIfAborted();
    hash.update(piece);
    onBytes?.(piece.length);
  }
  return hash.digest('hex');
}

const CHUNK = 256 * 1024;

/** What is in an opened file; one that grows while it is read is not read for ever. Each piece takes the place of the last. */
async function* piecesOf({ handle, size }: OpenedFile): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.min(size, CHUNK));
  for (let left = size; left > 0;) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(left, CHUNK));
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    left -= bytesRead;
  }
}
