import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { t } from '../text/message.ts';
import { linked, strange, writeFailure } from './file-refusals.ts';
import { requireLocks } from './file-lock.ts';
import { ensureFolder, fileMode } from './file-modes.ts';
import { lstatOf } from './file-stamps.ts';
import { writeAtomic } from './file-state.ts';
import { infoOf, type OpenedFile, openToAppend, removeFile } from './open-file.ts';

/**
 * The door to project files that other tools write too. Nothing is written outside the named folder, and a link in place of
 * a file is refused: others would find the file changed that it leads to.
 */

/**
 * Appends a line in one piece, always as a separate line whatever the file ends with, and with the file's own line
 * endings.
 */
export async function appendLine(root: string, path: string, line: string, header = ''): Promise<void> {
  const place = join(root, path);
  await ensureFolder(dirname(place), root);
  try {
    await appendWhole(place, { inside: root }, async ({ handle, size }) => {
      const tail = await tailOf(handle, size);
      const end = /\r\n[^\n]*$/.test(tail) ? '\r\n' : '\n';
      const before = size === 0 ? header : tail.endsWith('\n') ? '' : end;
      return `${before}${line}${end}`;
    });
  } catch (error) {
    throw writeFailure(place, error);
  }
}

/** Enough to see how the last lines end. */
const TAIL_BYTES = 8_192;

async function tailOf(handle: FileHandle, size: number): Promise<string> {
  const length = Math.min(size, TAIL_BYTES);
  if (length === 0) return '';
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
  return buffer.toString('latin1', 0, bytesRead);
}

/** Replaces a whole file and keeps its permissions; `ready` as `writeAtomic` has it. */
export async function replaceShared(
  root: string,
  path: string,
  content: string,
  ready?: () => Promise<void>,
): Promise<void> {
  const place = join(root, path);
  const there = lstatOf(place);
  if (there?.isSymbolicLink() === true) throw linked(place);
  if (there?.isFile() === false) throw strange(place, t`it is not a regular file`);
  await writeAtomic(place, content, { inside: root, ready });
}

/** Removes a file, or a link but not its target; it is fine if nothing exists at the path. */
export async function removeShared(root: string, path: string): Promise<void> {
  await requireLocks();
  const place = join(root, path);
  await removeFile(place, root).catch((error: unknown) => {
    throw writeFailure(place, error);
  });
}

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
