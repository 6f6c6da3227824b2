import { join } from 'node:path';
import { projectKey } from '../../base/files/project-key.ts';
import type { Kit } from '../../kit/kit.ts';
import { JOURNAL_FILE, journalIn, type Journal } from '../../kit/runs/journal.ts';
import { readText } from '../../kit/runs/json-file.ts';
import type { RunPlace } from '../../model/run.ts';
import { archiveBranch, createBranch, diffBranches, switchBranch } from './branches.ts';
import { checkpoint, finishRun, repairRun } from './change-run.ts';
import { branchOf, findRun } from './find.ts';
import { mergeBranch } from './merge.ts';
import { openRun } from './open-run.ts';
import { readAll, type RunsStorage } from './storage.ts';

/** The runs and session branches of one project. Nothing is kept between calls: others write here too. */
export type Runs = ReturnType<typeof openRuns>;

/** `state` is the user's folder for what has no place in a project. */
export function openRuns({
  kit,
  state,
  now = () => new Date(),
}: {
  kit: Kit;
  state: string;
  now?: () => Date;
}) {
  const storage: RunsStorage = { kit, now, userFolder: join(state, 'projects', projectKey(kit.root)) };
  const here =
    <Given extends unknown[], Result>(work: (storage: RunsStorage, ...given: Given) => Result) =>
    (...given: Given): Result =>
      work(storage, ...given);
  return {
    read: here(readAll),
    find: findRun,
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
