import type * as z from 'zod';
import { randomBytes } from 'node:crypto';
import { constants, readdirSync } from 'node:fs';
import { access, lstat, readdir, realpath, rename, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { mapLimited } from '../async.ts';
import { ours, systemCode } from '../errors.ts';
import { jsonObject } from '../parse/json.ts';
import { lstatOf, statOf } from './file-stamps.ts';
import { requireLocks } from './file-lock.ts';
import { ensureFolder, fileMode } from './file-modes.ts';
import { stateReadFailure, writeFailure } from './file-refusals.ts';
import { hasEnded, processSpace, startOf, sweepDrafts } from './leftovers.ts';
import {
  holdFolder,
  isAbsent,
  type OpenRules,
  removeFile,
  whileAppending,
  whileMaking,
  whileReading,
} from './open-file.ts';

/** The door to everything the server itself keeps on disk: caches, locks and settings, in its own folders. */

interface WriteRules {
  /** The folder that nothing may lead out of. */
  inside?: string | undefined;
  /** Permissions of a new file, where those of its folder are not the right ones. */
  mode?: number | undefined;
  /** What has to succeed once the new version is complete on the disk and before it takes the place of the old one. */
  ready?: (() => Promise<void>) | undefined;
}

/**
 * Replaces a whole file: readers see either the old or the new version, even after a crash. A link stays a link and its
 * target is written, if that is inside; an existing file keeps its permissions, a new one gets those of its folder.
 */
export async function writeAtomic(
  file: string,
  content: string | Uint8Array | Iterable<string | Uint8Array>,
  { inside, mode, ready }: WriteRules = {},
): Promise<void> {
  await ensureFolder(dirname(file), inside);
  const isLink = lstatOf(file)?.isSymbolicLink() === true;
  const path = isLink ? await realpath(file).catch(() => file) : file;
  const folder = await holdFolder(dirname(path), inside).catch((error: unknown) => {
    throw writeFailure(path, error);
  });
  const place = folder.at(basename(path));
  const draft = `${place}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    const known = statOf(place);
    const rights = known === undefined ? (mode ?? (await fileMode(path))) : known.mode & 0o777;
    await whileMaking(draft, rights, {}, async (handle) => {
      const parts = typeof content === 'string' || content instanceof Uint8Array ? [content] : content;
      for (const part of parts) await handle.writeFile(part);
      await handle.sync();
    });
    await ready?.();
    await requireLocks();
    await rename(draft, place);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw writeFailure(path, error);
  } finally {
    folder.close();
  }
  await sweepDrafts(dirname(path), inside);
}

/** Far more than anything the server writes needs. */
const STATE_BYTES = 16 * 1024 * 1024;

/**
 * The text of one of the server's own files; undefined if it does not exist. Some are in projects, which other people
 * write: anything that is huge or not a regular file is refused before it is read.
 */
export async function readState(path: string, rules: OpenRules = {}): Promise<string | undefined> {
  return (await readStateBytes(path, rules))?.toString('utf8');
}

/** The bytes of one of the server's own files; undefined if there is none. */
export async function readStateBytes(path: string, rules: OpenRules = {}): Promise<Buffer | undefined> {
  try {
    return await whileReading(path, { maxBytes: STATE_BYTES, ...rules }, ({ handle }) => handle.readFile());
  } catch (error) {
    throw stateReadFailure(path, error);
  }
}

/** Writes a file that is always the same, if there is none; a process that dies never leaves half of it. */
export async function writeOnce(path: string, content: string, inside?: string): Promise<void> {
  if ((await lstat(path).catch(() => undefined)) === undefined) await writeAtomic(path, content, { inside });
}

/** Writes a new file into a folder under construction. False if one of this name already exists. */
export async function writeNew(path: string, content: Buffer, inside?: string): Promise<boolean> {
  try {
    await whileMaking(path, await fileMode(path), { inside }, async (handle) => {
      await handle.writeFile(content).catch(async (error: unknown) => {
        // Half a file would be taken for a whole one.
        await removeFile(path, inside).catch(() => undefined);
        throw error;
      });
    });
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw writeFailure(path, error);
  }
}

export async function writeLink(path: string, target: string): Promise<void> {
  // If links need a right the user does not have, the content is served without them.
  await symlink(target, path).catch(() => undefined);
}

const workName = (): string => `${process.pid}-${processSpace()}-${randomBytes(6).toString('hex')}`;
/** After this, a process that cannot be asked has ended. */
const OLD_WORK_MS = 24 * 60 * 60_000;

/** Removes what processes that have ended left unfinished in a folder of such folders. */
export async function sweepWork(work: string): Promise<void> {
  for (const name of await stateNames(work)) {
    const [, pid, space] = /^(\d+)-([0-9a-f]{16})-/.exec(name) ?? [];
    const path = join(work, name);
    const ended =
      hasEnded({ pid: Number(pid), space: space ?? '' }) ||
      Date.now() - ((await modifiedAt(path)) ?? 0) > OLD_WORK_MS;
    if (ended) await removeTree(path).catch(() => undefined);
  }
}

/** A new private folder, named after this process so that the next one can tell whether it is still in use. */
export async function newWorkFolder(parent: string): Promise<string> {
  const folder = join(parent, workName());
  await ensureFolder(folder);
  return folder;
}

/** Moves a finished folder into place. False if another process's folder already exists; this one is then removed. */
export async function publishFolder(draft: string, place: string): Promise<boolean> {
  await ensureFolder(dirname(place));
  try {
    await rename(draft, place);
    return true;
  } catch (error) {
    if (!['EEXIST', 'ENOTEMPTY', 'EPERM', 'EACCES'].includes(systemCode(error) ?? ''))
      throw writeFailure(place, error);
    if ((await stat(place).catch(() => undefined)) === undefined) throw writeFailure(place, error);
    await removeTree(draft);
    return false;
  }
}

/** Renames a folder first, then removes it, so that no one sees half of it. */
export async function discardFolder(place: string, trash: string): Promise<void> {
  const aside = join(trash, workName());
  await ensureFolder(trash);
  try {
    await rename(place, aside);
  } catch (error) {
    if (isAbsent(error)) return;
    throw writeFailure(place, error);
  }
  await removeTree(aside);
}

/** Renames a folder so that it is no longer used, without removing it; returns its new path. */
export async function setAside(place: string): Promise<string> {
  const aside = `${place}.moved-${new Date().toISOString().replace(/[:.]/g, '-')}`;
  await rename(place, aside).catch((error: unknown) => {
    throw writeFailure(place, error);
  });
  return aside;
}

export async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch((error: unknown) => {
    throw writeFailure(path, error);
  });
}

/**
 * The names in one of the server's folders, sorted; empty if it does not exist. Several are asked for with each call, and to wait for
 * a thread would take longer than to list them.
 */
export async function stateNames(path: string, inside?: string): Promise<string[]> {
  try {
    if (inside === undefined) return readdirSync(path).sort();
    const folder = await holdFolder(path, inside);
    try {
      return readdirSync(folder.at('.')).sort();
    } finally {
      folder.close();
    }
  } catch (error) {
    return unlessAbsent<string[]>(path, [])(error);
  }
}

/** When a file or folder was last changed, in milliseconds; undefined if it does not exist. */
export async function modifiedAt(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
}

/** Creates an empty file if there is none, and updates its time. Only a signal for others, so failures are ignored. */
export async function touch(path: string): Promise<void> {
  try {
    const now = new Date();
    await whileAppending(path, await fileMode(path), {}, ({ handle }) => handle.utimes(now, now));
  } catch {
    // Callers do without it.
  }
}

/** Size of all files below a folder. */
export async function folderBytes(path: string): Promise<number> {
  const entries = await readdir(path, { withFileTypes: true, recursive: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await mapLimited(files, 32, ({ parentPath, name }) =>
    stat(join(parentPath, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Whether one of the server's own files can be written or created: it and its folder have to allow it. */
export async function isWritable(path: string): Promise<boolean> {
  const allows = async (place: string): Promise<boolean> => {
    try {
      await access(place, constants.W_OK);
      return true;
    } catch (error) {
      return isAbsent(error);
    }
  };
  return (await allows(dirname(path))) && (await allows(path));
}

export async function sizeAndTime(path: string): Promise<{ size: number; mtimeMs: number } | undefined> {
  return stat(path).then(
    ({ size, mtimeMs }) => ({ size, mtimeMs }),
    () => undefined,
  );
}

function unlessAbsent<T>(path: string, nothing: T): (error: unknown) => T {
  return (error) => {
    if (isAbsent(error)) return nothing;
    throw stateReadFailure(path, error);
  };
}

const ENDING = '.json';

/**
 * A list of processes: a file for each in one folder, which the process removes when it ends. Machines and containers may share
 * the folder: each knows of its own processes alone, and removes what is left of one only if that has ended for certain.
 */
export function processList<Entry extends { pid: number; started: string }>(
  folder: string,
  schema: z.ZodType<Entry>,
) {
  async function found(): Promise<{ entry: Entry; remove(): Promise<void> }[]> {
    const names = await stateNames(folder).catch(ours(() => [], 'not_found'));
    const all: { entry: Entry; remove(): Promise<void> }[] = [];
    for (const name of names.filter((each) => each.endsWith(ENDING))) {
      const file = join(folder, name);
      const text = await readState(file).catch(ours(() => undefined));
      // Gone, or not to be read at the moment: its process may be there.
      if (text === undefined) continue;
      const kept = jsonObject(text);
      const space = processSpace();
      if (kept?.['space'] !== space) continue;
      const remove = (): Promise<void> => removeFile(file).catch(() => undefined);
      const { data: entry } = schema.safeParse(kept);
      const start = typeof kept['mark'] === 'string' ? kept['mark'] : undefined;
      if (hasEnded({ pid: Number(kept['pid']), space, start })) await remove();
      // Another version of this program may list more, or less.
      else if (entry !== undefined) all.push({ entry, remove });
    }
    return all.sort((a, b) => (a.entry.started < b.entry.started ? -1 : 1));
  }

  return {
    /** Answers with how to take it off the list again. `id` tells it from a later process with the same number. */
    async add(entry: Entry, id = newId()): Promise<() => Promise<void>> {
      const file = join(folder, `${entry.pid}-${id}${ENDING}`);
      const kept = { ...entry, space: processSpace(), mark: startOf(entry.pid) };
      await writeAtomic(file, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
      return () => removeFile(file).catch(() => undefined);
    },
    found,
    /** Those whose process is there, the oldest first; what is left of others is removed. */
    running: async (): Promise<Entry[]> => (await found()).map(({ entry }) => entry),
  };
}

export const newId = (): string => randomBytes(4).toString('hex');
