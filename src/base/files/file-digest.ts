import { sha256 } from '../sha256.ts';
import { createHash } from 'node:crypto';
import { lstat, readlink, realpath, type FileHandle } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isBelow, openChecked, openedPaths } from './open-file.ts';

export interface FileMark {
  /** A file, an executable, a link (not followed), or a file too large to read. */
  kind: 'file' | 'program' | 'link' | 'large';
  /** SHA-256 of the content or of the link target; the size of a file that is too large. */
  digest: string;
  bytes: number;
}

const CHUNK = 256 * 1024;

/**
 * What identifies the content of a file below a folder, given by its real path, to detect later changes. Undefined if
 * the path does not exist or is not a file.
 */
export async function fileMark(root: string, name: string, maxBytes: number): Promise<FileMark | undefined> {
  const path = join(root, name);
  try {
    const info = await lstat(path);
    if (info.isSymbolicLink()) {
      const target = await readlink(path, { encoding: 'buffer' });
      return { kind: 'link', digest: sha256(target), bytes: 0 };
    }
    if (!info.isFile()) return undefined;
    if (info.size > maxBytes) return { kind: 'large', digest: String(info.size), bytes: 0 };
    const digest = await contentDigest(path, root, maxBytes);
    if (digest === undefined) return undefined;
    return { kind: (info.mode & 0o100) !== 0 ? 'program' : 'file', digest, bytes: info.size };
  } catch {
    return undefined;
  }
}

/**
 * The same for a file of whatever size, and for what a link leads to that stays in the folder: undefined if it leads out of it
 * or cannot be read.
 */
export async function wholeMark(root: string, name: string): Promise<FileMark | undefined> {
  const real = await realpath(join(root, name)).catch(() => undefined);
  if (real === undefined || !isBelow(root, real)) return undefined;
  const mark = await fileMark(root, relative(root, real), Number.MAX_SAFE_INTEGER);
  return mark?.kind === 'link' ? undefined : mark;
}

async function contentDigest(path: string, root: string, maxBytes: number): Promise<string | undefined> {
  const handle = await openChecked(path);
  try {
    const places = await openedPaths(handle, path);
    const { size } = await handle.stat();
    // It was a file of the project a moment ago.
    if (places?.every((place) => isBelow(root, place)) !== true || size > maxBytes) return undefined;
    return await digestOf(handle, maxBytes);
  } finally {
    await handle.close();
  }
}

async function digestOf(handle: FileHandle, maxBytes: number): Promise<string | undefined> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(CHUNK);
  // A file that grows while it is read is not read for ever.
  for (let total = 0; total <= maxBytes;) {
    const { bytesRead } = await handle.read(buffer, 0, CHUNK);
    if (bytesRead === 0) return hash.digest('hex');
    hash.update(buffer.subarray(0, bytesRead));
    total += bytesRead;
  }
  return undefined;
}
