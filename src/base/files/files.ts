import { realpathSync, statSync, type Dirent } from 'node:fs';
import { lstat, readdir, realpath, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { BmadError, quoted, shortageIn, systemCode } from '../errors.ts';
import { unlessShort } from '../expected.ts';
import { holdReal, isBelow, openChecked, openedPaths } from './open-file.ts';
import type { Seen } from './places.ts';

/**
 * The one door to content. Every read goes through `readInside`: the real path of the file must be inside the real path
 * of the root, before it is opened and as it was opened, the file must be a regular one, and its size is checked before
 * a byte is read.
 */
export async function readInside(
  root: string,
  path: string,
  maxBytes: number,
  rules?: InsideRules,
): Promise<Buffer> {
  const handle = await openInside(root, path, rules);
  try {
    const { size } = await regularFile(handle, path);
    if (size > maxBytes) throw tooLarge(path, size, maxBytes);
    return await readAtMost(handle, size);
  } finally {
    await handle.close();
  }
}

export interface InsideRules {
  /** Whether the file at a path may be served. The path is the real one, from the root: links have no influence on it. */
  serves?(realPath: string): boolean;
  /** The real path of a folder that the root has to be in: a root may be a link, or become one later. */
  within?: string | undefined;
  /** Hears of what is looked at. */
  seen?: Seen | undefined;
}

/** A file that is replaced each time it is opened is given up. */
const TRIES = 5;

/** Between the check and the opening, a folder on the way may become a link: what counts is what was opened. */
async function openInside(root: string, path: string, rules?: InsideRules): Promise<FileHandle> {
  for (let tries = 1; ; tries += 1) {
    const { realRoot, target } = realInside(root, path, rules);
    const handle = await openChecked(target).catch((error: unknown) => {
      throw readFailure(path, error);
    });
    let kept = false;
    try {
      const places = await openedPaths(handle, target);
      places?.forEach((place) => checkPlace(realRoot, place, path, rules));
      kept = places !== undefined;
      if (kept) return handle;
      if (tries === TRIES) throw leadsAway(path);
    } finally {
      if (!kept) await handle.close();
    }
  }
}

/** Most requested files do not exist, and waiting for a thread to say so would take several times as long as looking. */
function realInside(root: string, path: string, rules?: InsideRules): { realRoot: string; target: string } {
  rules?.seen?.look(join(root, path));
  let realRoot: string;
  let target: string;
  try {
    target = realpathSync.native(join(root, path));
    realRoot = realpathSync.native(root);
  } catch (error) {
    throw readFailure(path, error);
  }
  checkPlace(realRoot, target, path, rules);
  return { realRoot, target };
}

function checkPlace(
  realRoot: string,
  target: string,
  path: string,
  { serves, within = realRoot }: InsideRules = {},
): void {
  if (!isBelow(realRoot, target) || !isBelow(within, realRoot)) throw leadsAway(path);
  if (serves?.(target.slice(realRoot.length)) === false)
    throw new BmadError('not_found', `There is no file ${quoted(path)}.`, { subject: path });
}

function leadsAway(path: string): BmadError {
  return new BmadError('forbidden', `${quoted(path)} is a link that points outside the BMAD content.`, {
    reason: 'outside',
    subject: path,
    hint: 'Links are followed only within their own folder. Replace the link with the file itself.',
  });
}

async function regularFile(handle: FileHandle, path: string): Promise<{ size: number }> {
  const info = await handle.stat();
  if (info.isDirectory()) throw isFolder(path);
  if (!info.isFile()) {
    throw new BmadError('forbidden', `${quoted(path)} is not a regular file.`, {
      subject: path,
      hint: 'Pipes, sockets and devices are not served.',
    });
  }
  return info;
}

async function readAtMost(handle: FileHandle, size: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await handle.read(buffer, filled, size - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

export interface FolderEntry {
  name: string;
  kind: 'file' | 'folder';
  /** Whether it is a link. The contents of a linked folder are listed at its real path, so walks leave the link out. */
  link?: true;
}

/** What is in a folder, sorted. Links count as their targets if those are inside the root; all else is left out. */
export async function listInside(root: string, path: string, rules?: InsideRules): Promise<FolderEntry[]> {
  const { realRoot, target } = realInside(root, path, rules);
  const entries = await entriesOf(target, realRoot).catch((error: unknown) => {
    throw error instanceof BmadError ? leadsAway(path) : readFailure(path, error);
  });
  const found: FolderEntry[] = [];
  for (const entry of entries) {
    const link = entry.isSymbolicLink();
    const kind = link ? await linkKind(root, join(path, entry.name), rules) : kindOf(entry);
    if (kind !== undefined) found.push({ name: entry.name, kind, ...(link ? { link } : {}) });
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function entriesOf(folder: string, realRoot: string): Promise<Dirent[]> {
  const held = holdReal(folder, realRoot);
  try {
    return await readdir(held.at('.'), { withFileTypes: true });
  } finally {
    held.close();
  }
}

async function linkKind(
  root: string,
  path: string,
  rules: InsideRules | undefined,
): Promise<FolderEntry['kind'] | undefined> {
  try {
    return kindOf(await stat(realInside(root, path, rules).target));
  } catch {
    return undefined;
  }
}

function kindOf(entry: { isFile(): boolean; isDirectory(): boolean }): FolderEntry['kind'] | undefined {
  if (entry.isFile()) return 'file';
  return entry.isDirectory() ? 'folder' : undefined;
}

/** When a file inside the root was last changed; undefined if it does not exist or points outside. */
export async function modifiedInside(
  root: string,
  path: string,
  rules?: InsideRules,
): Promise<number | undefined> {
  try {
    return (await stat(realInside(root, path, rules).target)).mtimeMs;
  } catch {
    return undefined;
  }
}

/** Whether there is a file at this path inside the root. */
export async function isFileInside(root: string, path: string, rules?: InsideRules): Promise<boolean> {
  return (await linkKind(root, path, rules)) === 'file';
}

/** The names of the folders in a folder, including links to folders, wherever they point. */
export async function folderNames(folder: string, seen?: Seen): Promise<string[]> {
  seen?.look(folder);
  const entries = await readdir(folder, { withFileTypes: true }).catch(unlessShort([]));
  const names: string[] = [];
  for (const entry of entries) {
    const link = entry.isSymbolicLink();
    if (link) seen?.find(join(folder, entry.name));
    if (entry.isDirectory() || (link && (await realFolder(join(folder, entry.name))) !== undefined))
      names.push(entry.name);
  }
  return names.sort();
}

/** The real path of a folder; undefined if there is no such folder. */
export async function realFolder(path: string): Promise<string | undefined> {
  try {
    // Most requested folders do not exist, and this reports it without an error from a thread.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

export async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (info) => info.isSymbolicLink(),
    () => false,
  );
}

export async function pathExists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function readFailure(path: string, error: unknown): BmadError {
  // The file is not missing: a caller that went on without it would think the folder emptier than it is.
  if (shortageIn(error) !== undefined) throw error;
  const code = systemCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new BmadError('not_found', `There is no file ${quoted(path)}.`, { subject: path });
  }
  if (code === 'EISDIR') return isFolder(path);
  const reasons: Record<string, string> = {
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    ELOOP: 'it is a link that points to itself',
    ENAMETOOLONG: 'its name is too long',
    ENXIO: 'it is not a regular file',
  };
  return new BmadError(
    'forbidden',
    `${quoted(path)} cannot be read: ${reasons[code ?? ''] ?? 'I/O error'}.`,
    {
      subject: path,
      hint: 'Check the file and its permissions, then try again.',
      cause: error,
    },
  );
}

function isFolder(path: string): BmadError {
  return new BmadError('forbidden', `${quoted(path)} is a folder, not a file.`, {
    reason: 'folder',
    subject: path,
    steps: [
      {
        operation: 'list',
        args: { what: 'resources', pattern: `${path.slice(0, 100)}/**` },
        why: 'List its files',
      },
    ],
  });
}

function tooLarge(path: string, size: number, limit: number): BmadError {
  return new BmadError('too_large', `${quoted(path)} is ${size} bytes long; the limit is ${limit}.`, {
    subject: path,
    hint: 'If this file should be served, raise the limit with BMAD_MAX_FILE_BYTES.',
  });
}
