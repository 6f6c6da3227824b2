import { lstatSync, statSync } from 'node:fs';
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
 * their targets are counted at their real paths. Read in batches, which is far faster than one promise per file.
 */
export async function fileStamps(
  root: string,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<(FileStamp | undefined)[]> {
  const stamps: (FileStamp | undefined)[] = [];
  for (const path of paths) {
    stamps.push(stampOf(join(root, path)));
    if (stamps.length % AT_ONCE === 0) {
      signal?.throwIfAborted();
      await turn();
    }
  }
  return stamps;
}

function stampOf(path: string): FileStamp | undefined {
  try {
    const info = lstatSync(path, { throwIfNoEntry: false });
    return info?.isFile() === true ? { mtimeMs: info.mtimeMs, size: info.size } : undefined;
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
