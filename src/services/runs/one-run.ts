import { BmadError } from '../../base/errors.ts';
import type { Run } from '../../model/run.ts';
import { branchOf, checkedRunId, findRun } from './find.ts';
import { readAll, readLately, readOnly, type Reading, type RunsStorage } from './storage.ts';

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
