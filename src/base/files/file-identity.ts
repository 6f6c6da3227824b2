import { lstatSync, statSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { twice } from './file-refusals.ts';
import { openToRead } from './open-file.ts';

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

/** Whether something is at a path at this very moment, without a turn for anyone else. */
export function isThereNow(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
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
