import type { LogSetup, ProjectLogs } from '../../kit/project-log.ts';
import { KeptRuns } from '../../kit/runs/kept-runs.ts';
import type { JournalEntry, Run } from '../../model/run.ts';
import { archiveBranch, createBranch, diffBranches, switchBranch } from './branches.ts';
import { checkpoint, finishRun, repairRun } from './change-run.ts';
import {
  branchOf,
  unknownBranch,
  linesNow,
  oneRun,
  readAll,
  readLately,
  readOnly,
  type RunsStorage,
  runWithOthers,
  viewOf,
} from './storage.ts';
import { mergeBranch } from './merge.ts';
import { openRun } from './open-run.ts';
import { journalOf, type RunAt } from './write-run.ts';

/** The runs and session branches of one project. Others write here too: what is kept between calls is looked at again. */
export type Runs = ReturnType<typeof openRuns>;

export { KeptRuns };

export function openRuns({
  now = () => new Date(),
  kept = new KeptRuns(),
  ...setup
}: LogSetup & {
  logs?: ProjectLogs | undefined;
  now?: () => Date;
  kept?: KeptRuns;
}) {
  const storage: RunsStorage = { kit: setup.kit, now, kept, view: viewOf(setup) };
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
    unknownBranch,
    async journal(run: RunAt): Promise<JournalEntry[]> {
      return journalOf(run, await linesNow(storage));
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
