import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { systemCode } from '../errors.ts';
import { createBounded, shared, shortDigest } from '../values.ts';
import { lstat, readdir, rm } from 'node:fs/promises';
import { holdFolder } from './open-file.ts';

/** What processes that have ended leave behind: which have, and the drafts of files that nobody completes any more. */

/** What tells a process from every other one: its number, where such numbers count, and when it began. */
export interface ProcessName {
  pid: number;
  space: string;
  /** Only Linux tells without a program. */
  start?: string | undefined;
}

/** Whether a process is running, by its number in this space; one of another user counts as running. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

/** Whether it is certain that a process has ended: a number means nothing in another space, and is given again in this one. */
export function hasEnded({ pid, space, start }: ProcessName): boolean {
  if (pid === 0 || space !== processSpace()) return false;
  if (!isRunning(pid)) return true;
  const now = startOf(pid);
  return start !== undefined && now !== undefined && start !== now;
}

export const thisProcess = (): ProcessName =>
  shared('the name of this process', () => ({
    pid: process.pid,
    space: shortDigest(spaceName()),
    start: startOf('self'),
  }));

/**
 * Where the numbers of processes are those that this process sees, since the machine was started. Containers and sandboxes
 * have numbers of their own, often with the name of the machine they are on; WSL has those of Linux. As a digest, because
 * it is written into projects.
 */
export const processSpace = (): string => thisProcess().space;

function spaceName(): string {
  const { platform, pid } = process;
  if (platform !== 'linux') return `${platform} ${hostname()}`;
  try {
    return `${readlinkSync('/proc/self/ns/pid')} ${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')}`;
  } catch {
    // Nobody can tell, so this process is alone.
    return `${hostname()} ${pid} ${performance.timeOrigin}`;
  }
}

/** The process that a file names, which anyone may have written; what it does not say is of no space. */
export function processIn(said: Record<string, unknown> | undefined): ProcessName {
  const { pid, space, start } = said ?? {};
  return {
    pid: Number.isSafeInteger(pid) && Number(pid) > 0 ? Number(pid) : 0,
    space: typeof space === 'string' ? space : '',
    start: typeof start === 'string' ? start : undefined,
  };
}

/** When a process began, counted from the start of the machine: no change of the clock touches it. */
export function startOf(pid: number | 'self'): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    // A sandbox may show the processes of another space, where this number belongs to somebody else.
    if (pid !== 'self' && readlinkSync('/proc/self') !== String(process.pid)) return undefined;
    const about = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the name of the program, which may have blanks and brackets in it; the 22nd is the time.
    return about.slice(about.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

/** What `writeAtomic` calls a file until it is complete: its name, the process, and a random part. */
const DRAFT = /\.(\d+)\.[0-9a-f]{8,16}\.tmp$/;
/** No file takes that long to write; after the second limit, a process with the same pid is a different one. */
const OLD_MS = 10 * 60_000;
const VERY_OLD_MS = 24 * 60 * 60_000;

async function isLeft(name: string, path: string): Promise<boolean> {
  const pid = Number(DRAFT.exec(name)?.[1]);
  if (Number.isNaN(pid)) return false;
  const info = await lstat(path).catch(() => undefined);
  if (info?.isFile() !== true) return false;
  const age = Date.now() - info.mtimeMs;
  if (age <= OLD_MS || age > VERY_OLD_MS) return age > VERY_OLD_MS;
  // In a restarted container, the previous process had the same pid.
  return pid === process.pid ? info.mtimeMs < performance.timeOrigin : !isRunning(pid);
}

/** When each folder was last swept; the number is limited. */
const sweptFolders = () => shared('swept folders', () => createBounded<number>(500));

/**
 * Whoever writes in a folder removes what crashed processes have left there, now and then. A draft that no one has
 * written to for so long needs no lock: should its process wake up after all, its write fails and says so.
 */
export async function sweepDrafts(
  path: string,
  inside?: string,
  /** Whether something else in the folder, by its name and path, has been left behind. */
  also?: (name: string, path: string) => Promise<boolean>,
): Promise<void> {
  const [now, swept] = [performance.now(), sweptFolders()];
  if (now - (swept.get(path) ?? -OLD_MS) < OLD_MS) return;
  swept.set(path, now);
  try {
    const folder = await holdFolder(path, inside);
    try {
      for (const name of await readdir(folder.at('.')))
        if ((await isLeft(name, folder.at(name))) || (await also?.(name, folder.at(name))) === true)
          await rm(folder.at(name), { force: true });
    } finally {
      folder.close();
    }
  } catch {
    // Left for the next writer; what was asked for is done.
  }
}

/** The size of a file that has not been touched for so long that nobody waits for it; undefined for any other. */
export async function oldBytes(path: string): Promise<number | undefined> {
  const info = await lstat(path).catch(() => undefined);
  return info?.isFile() === true && Date.now() - info.mtimeMs > OLD_MS ? info.size : undefined;
}
