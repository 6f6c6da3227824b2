import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { lstat, readlink, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { sha256 } from '../values.ts';
import { twice } from './file-refusals.ts';
import { isAbsent, isBelow, type OpenedFile, openToRead } from './open-file.ts';

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
  const opened = await openToRead(path).catch(() => undefined);
  if (opened === undefined) return Buffer.alloc(0);
  const { handle, size } = opened;
  try {
    if (size < count) return Buffer.alloc(0);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(count), 0, count, from(size));
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
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

const CHUNK = 256 * 1024;

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
    const opened = await openToRead(path, { inside: root });
    if (opened === undefined) return undefined;
    const digest = await digestOf(opened, reading);
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

async function digestOf({ handle, size }: OpenedFile, { signal, onBytes }: Reading): Promise<string> {
  try {
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(Math.min(size, CHUNK));
    // A file that grows while it is read is not read for ever.
    for (let left = size; left > 0;) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(buffer, 0, Math.min(left, CHUNK));
      if (bytesRead === 0) break;
      hash.update(buffer.subarray(0, bytesRead));
      onBytes?.(bytesRead);
      left -= bytesRead;
    }
    return hash.digest('hex');
  } finally {
    await handle.close();
  }
}
