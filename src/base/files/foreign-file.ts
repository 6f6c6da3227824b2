import { t } from '../text/message.ts';
import { lstat, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BmadError, systemCode } from '../errors.ts';
import { encodingOf, utf8Text } from '../text/text.ts';
import { readStateBytes } from './file-state.ts';
import { removeFile } from './open-file.ts';

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

/** The folders above a file that do not exist yet, the outermost first. */
export async function missingFolders(path: string): Promise<string[]> {
  const missing: string[] = [];
  for (let folder = dirname(path); dirname(folder) !== folder; folder = dirname(folder)) {
    const info = await lstat(folder).catch(() => undefined);
    if (info !== undefined) break;
    missing.unshift(folder);
  }
  return missing;
}

/** Removes a file that was made here, and the folders that were made for it and hold nothing else. */
export async function removeMade(path: string, folders: readonly string[], inside?: string): Promise<void> {
  await removeFile(path, inside);
  for (const folder of folders.toReversed()) await rmdir(folder).catch(() => undefined);
}
