import type { Kit } from '../../kit/kit.ts';
import { JOURNAL_FILE, journalIn, type Journal } from '../../kit/runs/journal.ts';
import { readText } from '../../kit/runs/json-file.ts';
import { KeptRuns } from '../../kit/runs/kept-runs.ts';
import type { Run, RunPlace } from '../../model/run.ts';
import { archiveBranch, createBranch, diffBranches, switchBranch } from './branches.ts';
import { checkpoint, finishRun, repairRun } from './change-run.ts';
import { branchOf } from './find.ts';
import { mergeBranch } from './merge.ts';
import { oneRun, runWithOthers } from './one-run.ts';
import { openRun } from './open-run.ts';
import { readAll, readLately, readOnly, type RunsStorage } from './storage.ts';

/** The runs and session branches of one project. Others write here too: what is kept between calls is looked at again. */
export type Runs = ReturnType<typeof openRuns>;

export { KeptRuns };

export function openRuns({
  kit,
  now = () => new Date(),
  kept = new KeptRuns(),
}: {
  kit: Kit;
  now?: () => Date;
  kept?: KeptRuns;
}) {
  const storage: RunsStorage = { kit, now, kept };
  const here =
    <Given extends unknown[], Result>(work: (storage: RunsStorage, ...given: Given) => Result) =>
    (...given: Given): Result =>
      work(storage, ...given);
  return {
    read: here(readAll),
    /** The run of an exact id, without reading any other. */
    async one(id: string, branch?: string): Promise<Run> {
      return (await oneRun(storage, id, branch)).run;
    },
    async has(id: string): Promise<boolean> {
      return (await readOnly(storage, id)).branches.some(({ runs }) => runs.length > 0);
    },
    withOthers: here(runWithOthers),
    lately: here(readLately),
    branch: branchOf,
    async journal({ base, path }: RunPlace): Promise<Journal> {
      const text = await readText(base, `${path}/${JOURNAL_FILE}`);
      return typeof text === 'string' ? journalIn(text) : { entries: [], broken: 0 };
    },
    open: here(openRun),
    checkpoint: here(checkpoint),
    finish: here(finishRun),
    repair: here(repairRun),
    createBranch: here(createBranch),
    switchBranch: here(switchBranch),
    diff: here(diffBranches),
    merge: here(mergeBranch),
    archive: here(archiveBranch),
  };
}
