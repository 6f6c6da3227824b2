import { lstat, readdir, rm } from 'node:fs/promises';
import { isRunning } from './is-running.ts';
import { holdFolder } from './open-file.ts';

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

/** When each folder was last swept, by any of the files that the programs consist of; the number is limited. */
const KNOWN = Symbol.for('bmad-mcp-server: swept folders');
const swept = ((globalThis as { [KNOWN]?: Map<string, number> })[KNOWN] ??= new Map());
const MOST_FOLDERS = 500;

/**
 * Whoever writes in a folder removes what crashed processes have left there, now and then. A draft that no one has
 * written to for so long needs no lock: should its process wake up after all, its write fails and says so.
 */
export async function sweepDrafts(path: string, inside?: string, also?: Leftover): Promise<void> {
  const now = performance.now();
  if (now - (swept.get(path) ?? -OLD_MS) < OLD_MS) return;
  swept.delete(path);
  swept.set(path, now);
  for (const first of swept.keys()) {
    if (swept.size <= MOST_FOLDERS) break;
    swept.delete(first);
  }
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

/** Whether something else in a folder, by its name and path, has been left behind. */
export type Leftover = (name: string, path: string) => Promise<boolean>;

/** The size of a file that has not been touched for so long that nobody waits for it; undefined for any other. */
export async function oldBytes(path: string): Promise<number | undefined> {
  const info = await lstat(path).catch(() => undefined);
  return info?.isFile() === true && Date.now() - info.mtimeMs > OLD_MS ? info.size : undefined;
}
