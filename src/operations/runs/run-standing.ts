import { t } from '../../base/text/message.ts';
import { qualifiedName } from '../../model/record.ts';
import type { Run, RunsReading } from '../../model/run.ts';
import { dayOf, isPast } from '../project/age.ts';
import { laterWork } from '../project/later-work.ts';
import type { CataloguePort, ProjectState, StatePort, Workspace } from '../context.ts';
import { isOtherVersion } from './begun-step.ts';
import type { RunAside } from './run-aside.ts';
import { hasEnded, type RunData } from './run-view.ts';
import { servedFor } from './step-files.ts';

interface Where {
  context: CataloguePort & StatePort;
  project: string | undefined;
  signal: AbortSignal;
}

export type Judge = Awaited<ReturnType<typeof createJudge>>;

/** So many are looked at; of a project with thousands of open runs the newest say enough. */
const MOST_JUDGED = 12;

/** Says which of the open runs of a project are going on, and why the others are nothing to go on with. */
export async function createJudge(state: ProjectState, reading: RunsReading, where: Where) {
  const { context, project, signal } = where;
  const { runAsServed, runAtStep } = await import('./run-at-step.ts');
  const workspace = await context.workspace(project);
  const isPassed = laterWork(state, reading, signal);
  const around: Around = { state, workspace, isPassed };
  const judged =
    (read: typeof runAtStep) =>
    async (run: Run): Promise<RunData> => {
      const data = await read(run, state.root, context, project);
      const aside = await asideOf(run, data, around);
      return aside === undefined ? data : { ...data, aside };
    };
  const served = judged(runAsServed);
  /** With the step that comes next. */
  const whole = judged(runAtStep);
  return {
    isPassed,
    served,
    whole,
    /** Those that are going on, the first with the step that comes next, and those that are set aside. */
    async sorted(runs: readonly Run[]) {
      const going: { run: Run; data: RunData }[] = [];
      const aside: RunData[] = [];
      for (const run of runs.slice(0, MOST_JUDGED)) {
        const cheap = await served(run);
        const data = cheap.aside === undefined && going.length === 0 ? await whole(run) : cheap;
        if (data.aside === undefined) going.push({ run, data });
        else aside.push(data);
      }
      // What can still be resumed comes before what cannot.
      aside.sort((a, b) => Number(isDead(a)) - Number(isDead(b)));
      return { going, aside };
    },
  };
}

const isDead = ({ aside }: RunData): boolean => aside?.kind === 'dead';

/** What else is known of the project while a run is judged. */
interface Around {
  state: Pick<ProjectState, 'progress' | 'root'>;
  workspace: Workspace;
  /** Whether something was done in the project well after this moment. */
  isPassed: (moment: number) => Promise<boolean>;
}

/**
 * Why a run is nothing to go on with: its workflow is gone or was replaced, so that nothing here has its next step, or
 * it was left long ago and the work continued without it. Nothing for a run that is going on.
 */
async function asideOf(run: Run, data: RunData, around: Around): Promise<RunAside | undefined> {
  if (run.archive !== undefined || hasEnded(run)) return undefined;
  const { state, workspace, isPassed } = around;
  const begun = data.workflow ?? data.workflow_path ?? '';
  const record = servedFor(run, state.root, workspace);
  const instead = async (): Promise<Pick<RunAside, 'instead'>> => {
    const worker = (await state.progress()).workerInstead(workspace.catalogue, begun);
    if (worker !== undefined) return { instead: worker };
    return record === undefined || record.deprecated !== undefined ? {} : { instead: qualifiedName(record) };
  };
  const isLong = isPast(run.latest);
  const since = dayOf(run.latest);
  const replaced = async (kind: RunAside['kind'], why: string): Promise<RunAside> => ({
    kind,
    since,
    why,
    ...(await instead()),
  });
  // Just after an upgrade its values and files still help: the text says that steps may be numbered differently.
  if (data.workflow_missing === true || (isOtherVersion(data) && isLong))
    return replaced('dead', t`its workflow ${begun} is not here`);
  if (record?.deprecated?.successor !== undefined)
    return replaced('dead', t`its workflow ${begun} is deprecated`);
  if (data.lost_step !== undefined)
    return replaced('dead', t`its workflow ${data.served ?? begun} has no ${data.lost_step} any more`);
  if (isLong && record?.deprecated !== undefined)
    return replaced('old', t`its workflow ${begun} is deprecated`);
  if (isLong && (await isPassed(run.latest)))
    return { kind: 'old', since, why: t`the work continued without it` };
  return undefined;
}
