import { lstatSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { attempt } from '../errors.ts';
import { readFailure } from './file-refusals.ts';

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
  await eachInBatches(paths, signal, (path) => void (statOf(join(root, path)) && there.push(path)));
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

function fileAt(path: string): Stats | undefined {
  const info = lstatOf(path);
  return info?.isFile() === true ? info : undefined;
}

/**
 * Changes when a file is replaced, written or given other permissions, or a link changes its target. Undefined if there is
 * none. Of the two times, programs can set the one of writing back, but not the one of any change.
 */
export function changeMark(path: string): string | undefined {
  const info = statOf(path);
  return info && `${info.ino} ${info.mtimeMs} ${info.size} ${info.ctimeMs}`;
}

/** Whether there is anything of this name, be it a link that leads nowhere. */
export function isNamed(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw readFailure(path, error);
  }
}

/** Whether it is worth to open: a look takes far less than the attempt to read what is not there. What is wrong, reading tells. */
export const mayBeThere = (path: string): boolean =>
  attempt(
    () => isNamed(path),
    () => true,
  );

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

/** Long enough for every clock that a file system takes its times from; some keep whole seconds only, or even ones. */
const TICK_MS = 50;
const COARSE_TICK_MS = 2_100;

/** Whether a change now would get another time. Nobody sets this one: it is that of the last change, by the clock of the file system. */
export function isSettled(ctimeMs: number): boolean {
  const tick = ctimeMs % 1_000 === 0 ? COARSE_TICK_MS : TICK_MS;
  return ctimeMs < Date.now() - tick;
}

/** What is there, links followed. In this thread: to wait for another would take several times as long as looking. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The same for a link itself. */
export function lstatOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Whether something is at a path at this very moment, be it a link that leads nowhere or nothing that we may see. */
export const isThereNow = (path: string): boolean => lstatOf(path) !== undefined;

export type { Stats };

/** What of a place tells of a change. Numbers, because there may be tens of thousands of them to compare. */
export type Stamp = Readonly<Pick<Stats, 'ino' | 'mtimeMs' | 'ctimeMs' | 'size'>>;

/** How a place is now. `before` is given back if it still is so, that nothing is made for what has not changed. */
export function stampAt(path: string, before?: Stamp): Stamp | undefined {
  const found = statOf(path);
  return found && stampOf(found, before);
}

/** The same of what was looked at. */
export function stampOf({ ino, mtimeMs, ctimeMs, size }: Stats, before?: Stamp): Stamp {
  const same =
    before?.ino === ino && before.mtimeMs === mtimeMs && before.ctimeMs === ctimeMs && before.size === size;
  return same ? before : { ino, mtimeMs, ctimeMs, size };
}

/** How many files are kept at most: more than the projects of one server ask for. */
const MOST = 10_000;

/** What was made of small files that are asked for with every call, each kept until its file has another stamp. */
export class KeptByStamp<T> {
  readonly #kept = new Map<string, { stamp: Stamp; value: T }>();

  /** What `make` makes of a file; nothing, where there is none. */
  async read(path: string, make: () => Promise<T>): Promise<T | undefined> {
    const known = this.#kept.get(path);
    const stamp = stampAt(path, known?.stamp);
    // Who reads it finds out what is wrong with one that is there.
    if (stamp === undefined) return mayBeThere(path) ? make() : undefined;
    if (known?.stamp === stamp) return known.value;
    this.#kept.delete(path);
    // The stamp is from before the reading: a change in between is seen the next time.
    const isOver = isSettled(stamp.ctimeMs);
    const value = await make();
    if (this.#kept.size >= MOST) this.#kept.clear();
    if (isOver) this.#kept.set(path, { stamp, value });
    return value;
  }
}
