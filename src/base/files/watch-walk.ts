import { lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { sha256 } from '../sha256.ts';
import { isSettled, lstatOf, stampAt, type Stamp } from './place-stats.ts';

/** A folder that something may happen in: only what is directly in it, or all that is below it as well. */
export interface Place {
  path: string;
  deep?: boolean;
}

/** Nothing that is served comes from these, and they hold more folders than all the rest. */
const PASSED_OVER = new Set(['.git', 'node_modules']);

/** How many are looked at before others get their turn. */
const LOOKED_AT = 200;
/** What is beyond this goes unnoticed until somebody asks, rather than keep the disk busy. */
const MOST_LOOKED_AT = 50_000;

/** Whether a path that the system reports, or a part of one, is in a folder that is not watched. */
export function isPassedOver(path: string): boolean {
  return path.split(/[\\/]/).some((part) => PASSED_OVER.has(part));
}

/** The real paths of the folders of a place, the outermost first; undefined if there are more than `most`. */
export async function foldersOf({ path, deep }: Place, most: number): Promise<string[] | undefined> {
  const top = await realPathOf(path);
  if (top === undefined || !(await isFolder(top))) return [];
  const found = [top];
  if (deep !== true) return found;
  // Grows while it is gone through.
  for (const folder of found) {
    found.push(...(await innerFolders(folder)));
    if (found.length > most) return undefined;
  }
  return found;
}

/** Those of the folders right in one that are new, with all that are below them. */
export async function foldersIn(folder: string, isNew: (folder: string) => boolean): Promise<string[]> {
  const found = (await innerFolders(folder)).filter(isNew);
  for (const each of found) found.push(...(await innerFolders(each)));
  return found;
}

async function innerFolders(folder: string): Promise<string[]> {
  return (await entriesOf(folder))
    .filter((entry) => entry.isDirectory() && !PASSED_OVER.has(entry.name))
    .map(({ name }) => join(folder, name));
}

export async function realPathOf(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined);
}

export interface FolderId {
  /** Tells a folder from another one that has come into its place since: systems give the number of a file again. */
  id: string;
  dev: number;
  ino: number;
}

const NOWHERE: FolderId = { id: '', dev: -1, ino: -1 };

export async function folderId(path: string): Promise<FolderId> {
  const info = await lstat(path).catch(() => undefined);
  if (info === undefined) return NOWHERE;
  const { dev, ino, birthtimeMs } = info;
  return { id: `${dev} ${ino} ${birthtimeMs}`, dev, ino };
}

/** What was in folders when they were last listed: one that has not changed since need not be listed again. */
export type Listed = Map<string, { stamp: Stamp; entries: readonly Entry[] }>;

interface Entry {
  name: string;
  isFolder: boolean;
}

/** Changes when something in a place has changed: which files and folders there are, their sizes and times. */
export async function stampOfPlace({ path, deep }: Place, listed: Listed = new Map()): Promise<string> {
  const top = await realpath(path).catch(() => undefined);
  if (top === undefined) return '';
  const folders = [top];
  const lines: string[] = [];
  for (const folder of folders) {
    const entries = await entriesIn(folder, listed);
    for (const { name, isFolder: isDeeper } of entries) {
      const inner = join(folder, name);
      if (deep === true && isDeeper) folders.push(inner);
      lines.push(lineOf(inner));
      if (lines.length % LOOKED_AT === 0) await turn();
    }
    if (lines.length > MOST_LOOKED_AT) break;
  }
  const there = new Set(folders);
  for (const folder of listed.keys()) if (!there.has(folder)) listed.delete(folder);
  return sha256(`${top}\n${lines.sort().join('\n')}`);
}

async function entriesIn(folder: string, listed: Listed): Promise<readonly Entry[]> {
  const known = listed.get(folder);
  const stamp = stampAt(folder, known?.stamp);
  if (known !== undefined && stamp === known.stamp) return known.entries;
  // Before it is listed: a folder that changes meanwhile is then one that has only just changed.
  const isTelling = stamp !== undefined && isSettled(stamp.ctimeMs);
  const found = await listedIn(folder);
  const entries = (found ?? [])
    .filter(({ name }) => !PASSED_OVER.has(name))
    .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
  // What could not be listed may be so the next time, without a change of the folder.
  if (isTelling && found !== undefined) listed.set(folder, { stamp, entries });
  else listed.delete(folder);
  return entries;
}

/** In this thread: to wait for another would take several times as long as looking. */
function lineOf(path: string): string {
  const info = lstatOf(path);
  // A folder's own time changes with what is in it, which is looked at anyway; for one that is not, it is what there is.
  return info === undefined ? path : `${path} ${info.ino} ${info.size} ${info.mtimeMs} ${info.ctimeMs}`;
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() === true;
}

async function entriesOf(folder: string) {
  return (await listedIn(folder)) ?? [];
}

async function listedIn(folder: string) {
  return readdir(folder, { withFileTypes: true }).catch(() => undefined);
}
