import { sha256 } from '../sha256.ts';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, lstat, open, readlink, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

export interface FileMark {
  /** A file, an executable, a link (not followed), or a file too large to read. */
  kind: 'file' | 'program' | 'link' | 'large';
  /** SHA-256 of the content or of the link target; the size of a file that is too large. */
  digest: string;
  bytes: number;
}

const CHUNK = 256 * 1024;
const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** What identifies a file's content, to detect later changes. Undefined if the path does not exist or is not a file. */
export async function fileMark(path: string, maxBytes: number): Promise<FileMark | undefined> {
  try {
    const info = await lstat(path);
    if (info.isSymbolicLink()) {
      const target = await readlink(path, { encoding: 'buffer' });
      return { kind: 'link', digest: sha256(target), bytes: 0 };
    }
    if (!info.isFile()) return undefined;
    if (info.size > maxBytes) return { kind: 'large', digest: String(info.size), bytes: 0 };
    return {
      kind: (info.mode & 0o100) !== 0 ? 'program' : 'file',
      digest: await contentDigest(path),
      bytes: info.size,
    };
  } catch {
    return undefined;
  }
}

async function contentDigest(path: string): Promise<string> {
  const handle = await open(path, READ_FLAGS);
  try {
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(CHUNK);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, CHUNK);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}

/** The first executable of this name on a PATH; undefined if there is none. */
export async function findProgram(name: string, path: string | undefined): Promise<string | undefined> {
  const windows = process.platform === 'win32';
  // Windows scripts (.cmd) need a shell, and no shell may see arguments.
  const file = windows && !/\.exe$/i.test(name) ? `${name}.exe` : name;
  for (const folder of (path ?? '').split(delimiter)) {
    if (folder === '') continue;
    const place = join(folder, file);
    if (await mayRun(place)) return place;
  }
  return undefined;
}

export async function mayRun(place: string): Promise<boolean> {
  try {
    if (!(await stat(place)).isFile()) return false;
    await access(place, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
