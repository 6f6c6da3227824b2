import { t } from '../../base/text/message.ts';
import type * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import type { RunsReading } from '../../model/run.ts';
import type { stepSchema } from '../fields.ts';
import { otherVersionNote } from './begun-step.ts';
import { isOpen } from './open-runs.ts';
import { asideSteps, closing } from './run-aside.ts';
import type { Judge } from './run-standing.ts';
import {
  allDone,
  byRecency,
  fileSteps,
  hasEnded,
  keepingNotes,
  keepingSteps,
  openRun,
  type RunData,
} from './run-view.ts';

/** Of the open runs of a branch the newest that is going on; one that was set aside only where there is no other. */
export async function latestOpen(
  { branches, current }: RunsReading,
  branch = current,
  judge: Judge,
): Promise<RunData> {
  const open = branches
    .filter((each) => each.archive === undefined && each.name === branch)
    .flatMap((each) => each.runs)
    .filter((run) => run.status === 'pending' || isOpen(run))
    .sort(byRecency);
  const { going, aside } = await judge.sorted(open);
  const found = going[0]?.data ?? aside[0];
  if (found !== undefined) return found;
  throw new BmadError('not_found', t`There is no open run in the session branch ${branch}.`, {
    steps: [
      openRun(undefined, t`Open a run`),
      { operation: 'list_sessions', why: t`See the session branches` },
    ],
  });
}

export const isOver = ({ archive, status }: RunData): boolean =>
  archive !== undefined || hasEnded({ status });

export function wayOn(run: RunData): { notes: string[]; steps: z.input<typeof stepSchema>[] } {
  const { archive, workflow, run_id } = run;
  if (isOver(run))
    return {
      notes: [
        archive === undefined
          ? run.status === 'completed'
            ? t`It is completed.`
            : t`It was given up.`
          : t`It is archived and can only be read.`,
      ],
      steps: [openRun(workflow, t`Open a new run`)],
    };
  if (run.aside?.kind === 'dead') return { notes: [], steps: asideSteps(run) };
  if (allDone(run)) return { notes: [], steps: keepingSteps(run) };
  const name = workflow ?? run.served;
  return {
    notes: [...otherVersionNote(run), ...keepingNotes(run)],
    steps: [
      ...fileSteps(run),
      ...(name === undefined
        ? []
        : [
            {
              operation: 'execute',
              args: { name, kind: 'workflow', run_id },
              why: run.next_files === undefined ? t`Continue` : t`The same with the rules of its workflow`,
            },
          ]),
      ...keepingSteps(run),
      ...(run.aside === undefined ? [] : [closing(run)]),
    ],
  };
}
