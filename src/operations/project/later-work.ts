import { once } from '../../base/async.ts';
import { orElse } from '../../base/expected.ts';
import type { RunsReading } from '../../model/run.ts';
import type { ProjectState } from '../context.ts';
import { isWellAfter, momentOf } from './age.ts';

/**
 * Whether something was done in a project well after a moment, by what is on record: its runs, its last session and its
 * hand-offs; the last commit is asked for only where these do not say.
 */
export function laterWork(
  state: Pick<ProjectState, 'progress' | 'facts'>,
  { branches }: Pick<RunsReading, 'branches'>,
  signal: AbortSignal,
): (moment: number) => Promise<boolean> {
  const ran = branches.flatMap(({ runs }) => runs.map(({ latest }) => latest));
  const noted = once(async () => {
    const { session, handoffs } = await (await state.facts()).context();
    return [session?.date, ...handoffs.map(({ date }) => date)].flatMap((date) => momentOf(date) ?? []);
  });
  const committed = once(async () => (await state.progress()).lastCommit(signal).catch(orElse(undefined)));
  return async (moment) => {
    const isLater = (other: number): boolean => isWellAfter(other, moment);
    if (ran.some(isLater) || (await noted()).some(isLater)) return true;
    const commit = await committed();
    return commit !== undefined && isLater(commit);
  };
}
