import { say, t } from '../../base/text/message.ts';
import type { RunBranch } from '../../model/run.ts';
import { hasEnded, latestRun } from './run-view.ts';

export const STANDINGS = ['active', 'completed', 'failed'] as const;
type Standing = (typeof STANDINGS)[number];

/** What a branch says about itself when nothing more happens in it. */
const OVER = new Set(['merged', 'archived', 'deleted']);

export const isPutAway = ({ archive, status }: Pick<RunBranch, 'archive' | 'status'>): boolean =>
  archive !== undefined || OVER.has(status);

/**
 * What became of a branch, one of three. A branch itself is active, merged or archived; while it is not put away, its
 * runs say whether its work is completed or has failed.
 */
export function standingOf(branch: RunBranch): Standing {
  if (isPutAway(branch)) return 'completed';
  if (latestRun(branch)?.status === 'failed') return 'failed';
  const over = branch.runs.length > 0 && branch.runs.every(hasEnded);
  return over ? 'completed' : 'active';
}

/** In words, with what the branch says about itself where that is something else. */
export function standingText(branch: RunBranch): string {
  return standingWords(standingOf(branch), branch.status);
}

export const standingWords = (standing: Standing, status: string): string =>
  status === standing ? say(standing) : t`${say(standing)} (branch ${say(status)})`;
