import { t } from '../../base/text/message.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import type { Step } from '../../base/step.ts';
import { nearest } from '../../base/text/suggest.ts';
import { ARCHIVE, isRunId } from '../../kit/runs/run-folders.ts';
import { isBranchName } from '../../kit/runs/scan.ts';
import type { Run, RunBranch, RunsReading } from '../../model/run.ts';

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
export function findRun(reading: RunsReading, id: string, branch?: string): Run {
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

export function checkedRunId(id: string): string {
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
