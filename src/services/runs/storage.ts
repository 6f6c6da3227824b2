import { join } from 'node:path';
import { once } from '../../base/async.ts';
import { BmadError, ours } from '../../base/errors.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { removeTree } from '../../base/files/file-state.ts';
import { t } from '../../base/text/message.ts';
import { present } from '../../base/values.ts';
import { refuseLinks as refuseLinkedLines, type Kit, type StateFolder, strayRefusal } from '../../kit/kit.ts';
import { linePlaces, type LogSetup, ProjectLogs } from '../../kit/project-log.ts';
import type { KeptRuns } from '../../kit/runs/kept-runs.ts';
import { type RunLines, RUNS } from '../../kit/runs/run-fold.ts';
import type { RunsFolders } from '../../kit/runs/run-folders.ts';
import { type Look, readRuns } from '../../kit/runs/scan.ts';
import type { View } from '../../lines/view.ts';
import type { Run, RunPlace, RunsReading } from '../../model/run.ts';
import { branchOf, checkedRunId, findRun } from './find.ts';

/** What every part of this service needs to know. */
export interface RunsStorage {
  kit: Kit;
  now(): Date;
  /** What was read before. */
  kept: KeptRuns;
  /** The lines of the project. */
  view(): Promise<View>;
}

/** The view of a project's lines, whose place nobody may have led elsewhere. */
export function viewOf(setup: LogSetup & { logs?: ProjectLogs | undefined }): () => Promise<View> {
  const { logs = new ProjectLogs() } = setup;
  return once(async () => {
    const { all, each } = await linePlaces(setup);
    for (const { folder } of each) await refuseLinkedLines(folder);
    return logs.view(all, setup);
  });
}

export type Reading = RunsReading & { folders: RunsFolders };

/** What the lines say now. */
export async function linesNow({ view }: RunsStorage): Promise<RunLines> {
  const opened = await view();
  await opened.look();
  return opened.of(RUNS);
}

/** Lines that cannot be read are a problem; the files of runs say what they say. */
async function readWith(storage: RunsStorage, look: Look): Promise<Reading> {
  const problems: string[] = [];
  const tell = ours(({ line }): undefined => void problems.push(line));
  const lines = await linesNow(storage).catch(tell);
  const { kit, kept } = storage;
  const readNow = (): Promise<Reading> => readRuns(kit, present<Look>({ ...look, kept, lines }));
  const before = lines?.rev;
  let found = await readNow();
  // What another process has written while files were read was not changed by something else.
  if (found.branches.some(({ runs }) => runs.some(({ journal }) => journal === 'changed'))) {
    const now = await linesNow(storage).catch(tell);
    if (now?.rev !== before) found = await readNow();
  }
  return { ...found, problems: [...problems, ...found.problems] };
}

export const readAll = (storage: RunsStorage): Promise<Reading> => readWith(storage, {});

/** The same, but of a branch with very many runs that have ended only the latest. */
export const readLately = (storage: RunsStorage): Promise<Reading> => readWith(storage, { lately: true });

/** All branches, and of their runs those of one id: nothing else is read. */
export const readOnly = (storage: RunsStorage, id: string): Promise<Reading> => readWith(storage, { id });

/** Long enough for many writers in a row, each of which needs a few milliseconds. */
const LOCK_WAIT_MS = 30_000;

/** Runs `action` while nobody else writes files of runs here: one lock for all of them, because branches are moved as a whole. */
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
  const stray = await strayRefusal(base, path, t`nothing was written`);
  if (stray !== undefined) throw stray;
}

/** The folder `.runs` that a run or branch lies in. */
export function folderOf({ read, write }: RunsFolders, place: RunPlace): StateFolder {
  return read.find(({ base, path }) => base === place.base && place.path.startsWith(`${path}/`)) ?? write;
}

/** The run of an exact id. The others are read only where there is none, to say what there is instead. */
export async function oneRun(
  storage: RunsStorage,
  id: string,
  branch?: string,
): Promise<{ run: Run; reading: Reading }> {
  const reading = await readOnly(storage, checkedRunId(id));
  try {
    return { run: findRun(reading, id, branch), reading };
  } catch (error) {
    if (!(error instanceof BmadError) || error.code !== 'not_found') throw error;
    const all = await readAll(storage);
    return { run: findRun(all, id, branch), reading: all };
  }
}

interface WithOthers {
  run: Run;
  /** Other runs of its branch, in no order; of very many, those whose ids have the latest dates. */
  others: readonly Run[];
  problems: readonly string[];
  reading: Reading;
}

/** A run by its id with those around it, of which there may be thousands. */
export async function runWithOthers(storage: RunsStorage, id: string, branch?: string): Promise<WithOthers> {
  const { run } = await oneRun(storage, id, branch);
  const reading = await readLately(storage);
  const own = branchOf(reading, run.archive ?? run.branch);
  const others = (own?.runs ?? []).filter((each) => each.id !== id || each.place.path !== run.place.path);
  return { run, others, problems: [...reading.problems, ...(own?.problems ?? [])], reading };
}
