import { join } from 'node:path';
import { once } from '../../base/async.ts';
import { BmadError, ours, quoted } from '../../base/errors.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { removeTree } from '../../base/files/file-state.ts';
import { t } from '../../base/text/message.ts';
import { present } from '../../base/values.ts';
import { refuseLinks as refuseLinkedLines, type Kit, type StateFolder, strayRefusal } from '../../kit/kit.ts';
import { linePlaces, type LogSetup, ProjectLogs } from '../../kit/project-log.ts';
import type { KeptRuns } from '../../kit/runs/kept-runs.ts';
import { type RunLines, RUNS } from '../../kit/runs/run-fold.ts';
import { type RunsFolders, ARCHIVE, isRunId } from '../../kit/runs/run-folders.ts';
import { type Look, readRuns, isBranchName } from '../../kit/runs/scan.ts';
import type { View } from '../../lines/view.ts';
import type { Run, RunPlace, RunsReading, RunBranch } from '../../model/run.ts';
import type { Step } from '../../base/step.ts';
import { nearest } from '../../base/text/suggest.ts';

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

const LISTED = 20;

export const OPEN_RUN: Step = { operation: 'run_open', open: ['workflow'], why: 'Open a new run' };

/** The branch of this name, or the archived one whose folder has it; nothing when there is none. */
export function branchOf({ branches }: RunsReading, name: string): RunBranch | undefined {
  return (
    branches.find((each) => each.name === name && each.archive === undefined) ??
    branches.find((each) => each.archive === name) ??
    onlyArchived(branches, name)
  );
}

/** A branch that was archived once is still known by its name. */
function onlyArchived(branches: readonly RunBranch[], name: string): RunBranch | undefined {
  const named = branches.filter((each) => each.name === name);
  return named.length === 1 ? named[0] : undefined;
}

export function checkedBranch(name: string): string {
  if (isBranchName(name)) return name;
  throw new BmadError('invalid_input', t`${quoted(name)} is not a valid name for a session branch.`, {
    subject: name.slice(0, 100),
    hint: t`Use at most 64 letters, digits, "-" and "_", starting with a letter or digit; "${ARCHIVE}" is reserved.`,
  });
}

export function unknownBranch(name: string, { branches }: RunsReading): BmadError {
  const names = branches.map((each) => each.archive ?? each.name);
  return new BmadError('not_found', t`There is no session branch ${quoted(name)}.`, {
    subject: name.slice(0, 100),
    suggestions: nearest(name, names),
    ...(names.length === 0
      ? {
          hint: t`There are none yet; the first run creates "main".`,
          steps: [
            { operation: 'session_create', args: { name }, why: t`Create this one` },
            { ...OPEN_RUN, why: t`Or open a run` },
          ],
        }
      : { hint: t`Branches: ${names.slice(0, LISTED).join(', ')}.` }),
  });
}

/** The run of an exact id: in the branch that is named, else in the current one, else in the only one that has it. */
function findRun(reading: RunsReading, id: string, branch?: string): Run {
  checkedRunId(id);
  const all = reading.branches.flatMap(({ runs }) => runs).filter((run) => run.id === id);
  if (branch !== undefined) {
    const wanted = branchOf(reading, branch);
    const found = wanted?.runs.find((run) => run.id === id);
    if (found !== undefined) return found;
    if (all.length === 0 && wanted === undefined) throw unknownBranch(branch, reading);
    throw unknownRun(reading, id, branch, all);
  }
  const live = all.filter(({ archive }) => archive === undefined);
  const found =
    live.find((run) => run.branch === reading.current) ??
    (live.length === 1 ? live[0] : undefined) ??
    (live.length === 0 && all.length === 1 ? all[0] : undefined);
  if (found !== undefined) return found;
  if (all.length === 0) throw unknownRun(reading, id, undefined, all);
  throw new BmadError('ambiguous', t`Several session branches have a run ${quoted(id)}.`, {
    subject: id,
    hint: t`Name the branch: ${all.map((run) => run.archive ?? run.branch).join(', ')}.`,
  });
}

function checkedRunId(id: string): string {
  if (isRunId(id)) return id;
  throw new BmadError('invalid_input', t`${quoted(id)} is not a valid run id.`, {
    subject: id.slice(0, 100),
    hint: t`An id is the name of a folder, such as "prd-20260227-143022", without slashes.`,
  });
}

function unknownRun(
  reading: RunsReading,
  id: string,
  branch: string | undefined,
  elsewhere: readonly Run[],
): BmadError {
  const runs = reading.branches.flatMap((each) => each.runs);
  const ids = [...new Set(runs.map((run) => run.id))];
  const where = branch === undefined ? '' : t` in the session branch ${quoted(branch)}`;
  const others = elsewhere.map((run) => run.archive ?? run.branch).join(', ');
  return new BmadError('not_found', t`There is no run ${quoted(id)}${where}.`, {
    subject: id.slice(0, 100),
    suggestions: elsewhere.length > 0 ? [] : nearest(id, ids),
    ...(elsewhere.length > 0
      ? { hint: t`It is in ${others}.` }
      : ids.length === 0
        ? { hint: t`There are no runs yet.`, steps: [{ ...OPEN_RUN, why: t`Open one` }] }
        : { hint: t`Runs: ${ids.slice(-LISTED).join(', ')}.` }),
  });
}
