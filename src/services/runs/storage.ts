import { join } from 'node:path';
import { ours } from '../../base/expected.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { removeTree } from '../../base/files/file-state.ts';
import { strayRefusal, type Kit, type StateFolder } from '../../kit/kit.ts';
import type { RunsFolders } from '../../kit/runs/places.ts';
import type { KeptRuns } from '../../kit/runs/kept-runs.ts';
import { readRuns, type Look } from '../../kit/runs/scan.ts';
import { present } from '../../base/present.ts';
import type { RunPlace, RunsReading } from '../../model/run.ts';

/** What every part of this service needs to know. */
export interface RunsStorage {
  kit: Kit;
  now(): Date;
  /** What was read before. */
  kept?: KeptRuns;
}

export type Reading = RunsReading & { folders: RunsFolders };

export const readAll = ({ kit, kept }: RunsStorage): Promise<Reading> =>
  readRuns(kit, present<Look>({ kept }));

/** The same, but of a branch with very many runs only the latest. */
export const readLately = ({ kit, kept }: RunsStorage): Promise<Reading> =>
  readRuns(kit, present<Look>({ kept, lately: true }));

/** All branches, and of their runs those of one id: nothing else is read. */
export const readOnly = ({ kit, kept }: RunsStorage, id: string): Promise<Reading> =>
  readRuns(kit, present<Look>({ kept, id }));

/** Long enough for many writers in a row, each of which needs a few milliseconds. */
const LOCK_WAIT_MS = 30_000;

/** Runs `action` while nobody else writes runs here: one lock for all of them, because branches are moved as a whole. */
export async function lockedRuns<T>(folder: StateFolder, action: () => Promise<T>): Promise<T> {
  await refuseLinks(folder.base, folder.path);
  const options = { waitMs: LOCK_WAIT_MS, tidy: true, inside: folder.base };
  return withLock(join(folder.base, folder.path, '.lock'), options, action);
}

/**
 * A folder for what is not complete yet, on the same disk; removed at the end. Whoever holds the lock is the only one
 * with drafts: others are from a crash.
 */
export async function withDrafts<T>(
  { base, path }: StateFolder,
  work: (drafts: RunPlace) => Promise<T>,
): Promise<T> {
  const drafts = { base, path: `${path}/.drafts` };
  await refuseLinks(base, drafts.path);
  await removeTree(join(base, drafts.path));
  try {
    return await work(drafts);
  } finally {
    await removeTree(join(base, drafts.path)).catch(ours(() => undefined));
  }
}

/** Asked before anything is made, moved or copied: no link on the way may lead out of the folder. */
export async function refuseLinks(base: string, path: string): Promise<void> {
  const stray = await strayRefusal(base, path, 'nothing was written');
  if (stray !== undefined) throw stray;
}

/** The folder `.runs` that a run or branch lies in. */
export function folderOf({ read, write }: RunsFolders, place: RunPlace): StateFolder {
  return read.find(({ base, path }) => base === place.base && place.path.startsWith(`${path}/`)) ?? write;
}
