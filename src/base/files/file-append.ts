import type { BigIntStats } from 'node:fs';
import { requireLocks } from './file-lock.ts';
import { fileMode } from './file-modes.ts';
import { infoOf, openToAppend, removeFile, type OpenedFile } from './open-file.ts';

/**
 * Appends to a file, which is made if it is missing: all of it or nothing. A disk that is full takes the first half of a
 * text, and a later line would make it look complete. `compose` decides what to write when it has seen the file's end.
 */
export async function appendWhole(
  path: string,
  { inside, sync = false }: { inside?: string | undefined; sync?: boolean },
  compose: (file: OpenedFile) => Promise<string | Buffer>,
): Promise<BigIntStats> {
  const file = await openToAppend(path, await fileMode(path), { inside });
  const { handle, size } = file;
  try {
    let written = 0;
    try {
      const text = await compose(file);
      const bytes = typeof text === 'string' ? Buffer.from(text) : text;
      await requireLocks();
      // One call of the system may write less than it was given.
      while (written < bytes.length) written += (await handle.write(bytes, written)).bytesWritten;
      if (sync) await handle.sync();
    } catch (error) {
      // What others have appended since then stays, and this with it.
      const isLast = (await handle.stat().catch(() => undefined))?.size === size + written;
      if (isLast) await handle.truncate(size).catch(() => undefined);
      if (isLast && file.made) await removeFile(path, inside).catch(() => undefined);
      throw error;
    }
    return infoOf(handle);
  } finally {
    await handle.close();
  }
}
