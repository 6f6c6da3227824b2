import { join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { stateNames } from '../../base/files/file-state.ts';
import { KeptRuns } from '../../kit/runs/kept-runs.ts';
import { ARCHIVE } from '../../kit/runs/run-folders.ts';
import type { Run, RunBranch, RunsReading } from '../../model/run.ts';
import { branchOf, checkedRunId, findRun } from './find.ts';
import { readAll, readOnly, type Reading, type RunsStorage } from './storage.ts';

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

/** Of more runs than this, only some are read to be shown beside one. */
const ALL_READ = 200;
const SOME_READ = 40;

interface WithOthers {
  run: Run;
  /** Other runs of its branch, in no order; of very many, those whose ids have the latest dates. */
  others: readonly Run[];
  problems: readonly string[];
  reading: Reading;
}

/** A run by its id with those around it, of which there may be thousands. */
export async function runWithOthers(storage: RunsStorage, id: string, branch?: string): Promise<WithOthers> {
  const { run, reading } = await oneRun(storage, id, branch);
  const read = await latestOf(storage, run, reading, id);
  if (read === undefined) {
    const all = await readAll(storage);
    const own = branchOf(all, run.archive ?? run.branch);
    const others = (own?.runs ?? []).filter((each) => each.id !== id || each.place.path !== run.place.path);
    return { run, others, problems: [...all.problems, ...(own?.problems ?? [])], reading: all };
  }
  const own = branchOf(reading, run.archive ?? run.branch);
  return {
    run,
    others: read,
    problems: [...reading.problems, ...(own?.problems ?? [])],
    reading,
  };
}

/** The runs of a branch whose ids have the latest dates; nothing where there are so few that all can be read. */
async function latestOf(
  { kit, kept = new KeptRuns() }: RunsStorage,
  { branch, archive }: Pick<Run, 'branch' | 'archive'>,
  reading: Reading,
  id?: string,
): Promise<Run[] | undefined> {
  const places = placesOf({ branch, archive }, reading);
  const names = await Promise.all(places.map(({ base, path }) => stateNames(join(base, path))));
  const around = await Promise.all(
    reading.folders.read.map(({ base, path }) => stateNames(join(base, path))),
  );
  if ([...names, ...around].reduce((sum, { length }) => sum + length, 0) <= ALL_READ) return undefined;
  const latest = places
    .flatMap((place, index) =>
      latestNames(names[index] ?? [], id).map((name) => ({ place, name, date: dateIn(name) })),
    )
    .sort((a, b) => (a.date < b.date ? 1 : -1))
    .slice(0, SOME_READ);
  const read = await Promise.all(
    latest.map(({ place, name }) =>
      kept.read(kit.root, { base: place.base, path: `${place.path}/${name}` }, { id: name, branch, archive }),
    ),
  );
  return read.filter((each) => each !== undefined);
}

/** All runs, or of very many in the current branch the latest. */
export async function readLately(storage: RunsStorage): Promise<RunsReading> {
  const reading = await readOnly(storage, '');
  const { current } = reading;
  const runs = await latestOf(storage, { branch: current, archive: undefined }, reading);
  if (runs === undefined) return readAll(storage);
  const isCurrent = ({ name, archive }: RunBranch): boolean => name === current && archive === undefined;
  return {
    ...reading,
    branches: reading.branches.map((branch) => (isCurrent(branch) ? { ...branch, runs } : branch)),
  };
}

/** The folders of the run's branch: two output folders may have one of the same name. */
function placesOf({ branch, archive }: Pick<Run, 'branch' | 'archive'>, { folders }: Reading) {
  return folders.read.map(({ base, path }) => ({
    base,
    path: archive === undefined ? `${path}/${branch}` : `${path}/${ARCHIVE}/${archive}`,
  }));
}

/** The names with the latest dates, without putting thousands of others in order. */
function latestNames(names: readonly string[], id: string | undefined): string[] {
  const latest: { name: string; date: string }[] = [];
  let least: string | undefined;
  for (const name of names) {
    if (name === id || name.startsWith('.')) continue;
    const date = dateIn(name);
    if (least !== undefined && date <= least) continue;
    latest.push({ name, date });
    if (latest.length < 2 * SOME_READ) continue;
    latest.sort((a, b) => (a.date < b.date ? 1 : -1)).splice(SOME_READ);
    least = latest.at(-1)?.date;
  }
  return latest.map(({ name }) => name);
}

/** The moment in an id such as `prd-20260227-143022`; ids without one come last. */
function dateIn(id: string): string {
  return /\d{8}-\d{6}/.exec(id)?.[0] ?? '';
}
