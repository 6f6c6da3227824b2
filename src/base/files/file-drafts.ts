import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning } from './file-lock.ts';

/** What `writeAtomic` calls a file until it is complete: its name, the process, and a random part. */
const DRAFT = /\.(\d+)\.[0-9a-f]{8,16}\.tmp$/;
/** No file takes that long to write; after the second limit, a process with the same pid is a different one. */
const OLD_MS = 10 * 60_000;
const VERY_OLD_MS = 24 * 60 * 60_000;

/** The drafts that crashed processes have left in a folder. */
export async function leftDrafts(folder: string): Promise<string[]> {
  const names: string[] = await readdir(folder).catch(() => []);
  const found: string[] = [];
  for (const name of names.sort()) {
    const pid = DRAFT.exec(name)?.[1];
    if (pid === undefined) continue;
    const path = join(folder, name);
    const info = await lstat(path).catch(() => undefined);
    if (info?.isFile() !== true) continue;
    const age = Date.now() - info.mtimeMs;
    if (age > VERY_OLD_MS || (age > OLD_MS && !isRunning(Number(pid)))) found.push(path);
  }
  return found;
}

/** The caller holds the writer's lock. */
export async function removeDrafts(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { force: true });
}
