import { lstatSync, statSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { readFailure } from './read-failures.ts';

/** Detects that a file has changed without reading it. */
export interface FileStamp {
  mtimeMs: number;
  size: number;
}

const AT_ONCE = 500;

/**
 * The stamps of many files, in the order of the paths; undefined for anything but a regular file. Links have none:
 * their targets are counted at their real paths. Read in batches, which is far faster than one promise per file. `apart` gets
 * the places of those that another folder may have under another name, or another disk.
 */
export async function fileStamps(
  root: string,
  paths: readonly string[],
  signal?: AbortSignal,
  apart?: number[],
): Promise<(FileStamp | undefined)[]> {
  const stamps: (FileStamp | undefined)[] = [];
  const disk = lstatSync(root, { throwIfNoEntry: false })?.dev;
  await eachInBatches(paths, signal, (path) => {
    const info = fileAt(join(root, path));
    if (info !== undefined && (info.nlink > 1 || info.dev !== disk)) apart?.push(stamps.length);
    stamps.push(info === undefined ? undefined : { mtimeMs: info.mtimeMs, size: info.size });
  });
  return stamps;
}

/** Of one file, in this thread. */
export function fileStamp(root: string, path: string): FileStamp | undefined {
  const info = fileAt(join(root, path));
  return info === undefined ? undefined : { mtimeMs: info.mtimeMs, size: info.size };
}

/** Those of the paths at which there is something, through links as well. */
export async function filesThere(
  root: string,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<string[]> {
  const there: string[] = [];
  await eachInBatches(paths, signal, (path) => void (isThere(join(root, path)) && there.push(path)));
  return there;
}

async function eachInBatches(
  paths: readonly string[],
  signal: AbortSignal | undefined,
  look: (path: string) => void,
): Promise<void> {
  for (const [index, path] of paths.entries()) {
    look(path);
    if (index % AT_ONCE === AT_ONCE - 1) {
      signal?.throwIfAborted();
      await turn();
    }
  }
}

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function fileAt(path: string): Stats | undefined {
  try {
    const info = lstatSync(path, { throwIfNoEntry: false });
    return info?.isFile() === true ? info : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Changes when a file is replaced, written or given other permissions, or a link changes its target. Undefined if there is
 * none. Of the two times, programs can set the one of writing back, but not the one of any change.
 */
export function changeMark(path: string): string | undefined {
  try {
    const info = statSync(path, { throwIfNoEntry: false });
    return info === undefined ? undefined : `${info.ino} ${info.mtimeMs} ${info.size} ${info.ctimeMs}`;
  } catch {
    return undefined;
  }
}

/** Whether there is anything of this name, be it a link that leads nowhere. */
export function isNamed(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw readFailure(path, error);
  }
}

/** Whether it is a folder itself, not a link to one. */
export function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The later of the times in a mark, in milliseconds. */
export function timeIn(mark: string): number {
  const [, written = 0, , changed = 0] = mark.split(' ').map(Number);
  return Math.max(written, changed);
}

/** Whether two paths lead to one file, through links or not. */
export function isSameFile(path: string, other: string): boolean {
  try {
    const [one, two] = [statSync(path, { bigint: true }), statSync(other, { bigint: true })];
    return one.ino === two.ino && one.dev === two.dev;
  } catch {
    return false;
  }
}
