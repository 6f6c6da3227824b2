import { join } from 'node:path';
import { projectKey } from '../../base/files/project-key.ts';
import type { Kit } from '../../kit/kit.ts';
import { JOURNAL_FILE, journalIn, type Journal } from '../../kit/runs/journal.ts';
import { readText } from '../../kit/runs/json-file.ts';
import type { Run, RunPlace, RunsReading } from '../../model/run.ts';
import {
  archiveBranch,
  createBranch,
  diffBranches,
  switchBranch,
  type BranchDiff,
  type BranchMade,
} from './branches.ts';
import {
  checkpoint,
  finishRun,
  repairRun,
  type ChangedRun,
  type Checkpoint,
  type Finish,
} from './change-run.ts';
import { findRun } from './find.ts';
import { mergeBranch, type Merged } from './merge.ts';
import { openRun, type NewRun } from './open-run.ts';
import { readAll } from './storage.ts';

/** The runs and session branches of one project. Nothing is kept between calls: others write here too. */
export interface Runs {
  read(): Promise<RunsReading>;
  /** The run of an exact id. */
  find(reading: RunsReading, id: string, branch?: string): Run;
  journal(place: RunPlace): Promise<Journal>;
  open(run: NewRun): Promise<{ id: string; branch: string; place: RunPlace }>;
  checkpoint(id: string, branch: string | undefined, given: Checkpoint): Promise<ChangedRun>;
  finish(id: string, branch: string | undefined, status: Finish, notes?: string): Promise<ChangedRun>;
  repair(id: string, branch?: string): Promise<ChangedRun>;
  createBranch(
    name: string,
    about: { purpose?: string | undefined; parent?: string | undefined },
  ): Promise<BranchMade>;
  switchBranch(name: string): Promise<{ branch: string; before: string; file: string }>;
  diff(here: string, there: string): Promise<BranchDiff>;
  merge(name: string, into?: string, force?: boolean): Promise<Merged>;
  archive(name: string, force: boolean): Promise<{ branch: string; folder: string; notes: string[] }>;
}

export interface RunsSetup {
  kit: Kit;
  /** The user's folder for what has no place in a project. */
  state: string;
  now?: () => Date;
}

export function openRuns({ kit, state, now = () => new Date() }: RunsSetup): Runs {
  const storage = { kit, now, userFolder: join(state, 'projects', projectKey(kit.root)) };
  return {
    read: () => readAll(storage),
    find: findRun,
    async journal({ base, path }) {
      const text = await readText(base, `${path}/${JOURNAL_FILE}`);
      return typeof text === 'string' ? journalIn(text) : { entries: [], broken: 0 };
    },
    open: (run) => openRun(storage, run),
    checkpoint: (id, branch, given) => checkpoint(storage, id, branch, given),
    finish: (id, branch, status, notes) => finishRun(storage, id, branch, status, notes),
    repair: (id, branch) => repairRun(storage, id, branch),
    createBranch: (name, about) => createBranch(storage, name, about),
    switchBranch: (name) => switchBranch(storage, name),
    diff: (here, there) => diffBranches(storage, here, there),
    merge: (name, into, force) => mergeBranch(storage, name, into, force),
    archive: (name, force) => archiveBranch(storage, name, force),
  };
}
