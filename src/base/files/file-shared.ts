import type { BigIntStats } from 'node:fs';
import { type FileHandle, lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { t } from '../text/message.ts';
import { linked, strange, writeFailure } from './file-refusals.ts';
import { requireLocks } from './file-lock.ts';
import { ensureFolder, fileMode, removeEmpty } from './file-modes.ts';
import { lstatOf } from './file-stamps.ts';
import { readStateBytes, writeAtomic } from './file-state.ts';
import { infoOf, type OpenedFile, removeFile, whileAppending } from './open-file.ts';
import { BmadError, systemCode } from '../errors.ts';
import { encodingOf, utf8Text } from '../text/text.ts';

/**
 * The door to files that other tools write too: those of a project, and configurations of hosts. Nothing is written outside the
 * named folder, and a link in place of a file is refused: others would find the file changed that it leads to.
 */

/**
 * Appends a line in one piece, always as a separate line whatever the file ends with, and with the file's own line
 * endings.
 */
export async function appendLine(root: string, path: string, line: string, header = ''): Promise<void> {
  const place = join(root, path);
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
 * Appends to a file, which is made if it is missing, with its folder: all of it or nothing. A disk that is full takes the first half of a
 * text, and a later line would make it look complete. `compose` decides what to write when it has seen the file's end.
 */
export async function appendWhole(
  path: string,
  { inside, sync = false }: { inside?: string | undefined; sync?: boolean },
  compose: (file: OpenedFile) => Promise<string | Buffer>,
): Promise<BigIntStats> {
  await ensureFolder(dirname(path), inside);
  return whileAppending(path, await fileMode(path), { inside }, async (file) => {
    const { handle, size } = file;
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
  });
}

/** Larger than any configuration that a program writes for itself. */
const MAX_BYTES = 16 * 1024 * 1024;
const ANYONE_WRITES = 0o222;

/**
 * The text of a configuration file that belongs to another program, byte order mark included; undefined if there is none.
 * Whatever could not be written back as it is, is refused: links, files that are read-only, huge, or not UTF-8.
 */
export async function readForeign(path: string, inside?: string): Promise<string | undefined> {
  const info = await lstat(path).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined;
    throw refused(path, t`cannot be read (${systemCode(error) ?? t`I/O error`})`, t`Check its permissions.`);
  });
  if (info === undefined) return undefined;
  if (info.isSymbolicLink())
    throw refused(path, t`is a link`, t`Replace the link with the file, or add the entry where it leads to.`);
  if (!info.isFile()) throw refused(path, t`is not a regular file`, t`Check what is at this path.`);
  if ((info.mode & ANYONE_WRITES) === 0)
    throw refused(path, t`is read-only`, t`Make it writable, or add the entry by hand.`);
  if (info.size > MAX_BYTES) throw refused(path, t`is larger than 16 MB`, t`Add the entry by hand.`);
  const bytes = await readStateBytes(path, { inside, maxBytes: MAX_BYTES });
  if (bytes === undefined) return undefined;
  if (encodingOf(bytes) !== 'utf-8') throw refused(path, t`is UTF-16`, t`Save it as UTF-8.`);
  const text = utf8Text(bytes);
  if (text === undefined) throw refused(path, t`is not UTF-8`, t`Save it as UTF-8.`);
  return text;
}

function refused(path: string, reason: string, hint: string): BmadError {
  return new BmadError('conflict', t`${path} ${reason}; it is unchanged.`, { subject: path, hint });
}

/** Removes a file that was made here, and the folders that were made for it and hold nothing else. */
export async function removeMade(path: string, folders: readonly string[], inside?: string): Promise<void> {
  await removeFile(path, inside);
  await removeEmpty(folders);
}
