import type { BigIntStats } from 'node:fs';
import { type FileHandle, lstat, realpath, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { BmadError, quoted, systemCode } from '../errors.ts';
import { t } from '../text/message.ts';
import { requireLocks } from './file-lock.ts';
import { fileMode } from './file-modes.ts';
import { ensureFolder, writeAtomic } from './file-state.ts';
import { infoOf, type OpenedFile, openToAppend, realFolder, removeFile } from './open-file.ts';

/**
 * The door to project files that other tools write too. Nothing is written outside the named folder: a link in place of
 * a file is refused, and so is one in place of a folder on the way to it that points elsewhere.
 */
async function placeInside(root: string, path: string, takesLink = false): Promise<string> {
  const realRoot = await realFolder(root).catch((error: unknown) => {
    throw failure(root, error);
  });
  const place = join(realRoot, path);
  const inside = (real: string): boolean => real === realRoot || real.startsWith(realRoot + sep);
  if (!inside(place)) throw leadsAway(path);
  const parent = dirname(place);
  for (let folder = parent; inside(folder); folder = dirname(folder)) {
    const real = await realFolder(folder).catch(() => undefined);
    if (real === undefined) continue;
    if (!inside(real)) throw leadsAway(path);
    break;
  }
  await ensureFolder(parent, realRoot);
  const link = await lstat(place).catch(() => undefined);
  if (link === undefined) return place;
  if (link.isSymbolicLink() && !takesLink) throw isLink(path);
  const real = await realpath(place).catch(() => undefined);
  if (real === undefined || !inside(real)) throw leadsAway(path);
  const info = await stat(real).catch((error: unknown) => {
    throw failure(path, error);
  });
  if (!info.isFile())
    throw new BmadError('forbidden', t`${quoted(path)} is not a regular file.`, { subject: path });
  return real;
}

/**
 * Appends a line in one piece, always as a separate line whatever the file ends with, and with the file's own line
 * endings.
 */
export async function appendLine(root: string, path: string, line: string, header = ''): Promise<void> {
  const place = await placeInside(root, path);
  try {
    await appendWhole(place, { inside: root }, async ({ handle, size }) => {
      const tail = await tailOf(handle, size);
      const end = /\r\n[^\n]*$/.test(tail) ? '\r\n' : '\n';
      const before = size === 0 ? header : tail.endsWith('\n') ? '' : end;
      return `${before}${line}${end}`;
    });
  } catch (error) {
    throw failure(place, error);
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
  const place = await placeInside(root, path);
  await writeAtomic(place, content, { inside: root, ready });
}

/** Removes a file, or a link but not its target; it is fine if nothing exists at the path. */
export async function removeShared(root: string, path: string): Promise<void> {
  await placeInside(root, path, true);
  await requireLocks();
  await removeFile(join(root, path), root).catch((error: unknown) => {
    throw failure(path, error);
  });
}

function isLink(path: string): BmadError {
  return new BmadError('forbidden', t`${quoted(path)} is a link; nothing was written.`, {
    subject: path,
    hint: t`Replace the link with the file itself.`,
  });
}

function leadsAway(path: string): BmadError {
  return new BmadError('forbidden', t`${quoted(path)} points outside its folder; nothing was written.`, {
    subject: path,
    hint: t`Replace the link with the file itself.`,
  });
}

function failure(path: string, error: unknown): BmadError {
  if (error instanceof BmadError) return error;
  const code = systemCode(error) ?? 'I/O error';
  return new BmadError('unavailable', t`${path} cannot be written: ${code}.`, {
    subject: path,
    hint: t`Check the folder, its permissions and the free disk space, then try again.`,
    cause: error,
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
