import { at } from './model.ts';
import type { Report } from './report.ts';
import { isDone, isUnreviewed, type Story } from './stories.ts';
import { isPassed } from './story-actions.ts';

export const inReview = ({ stories }: Report): Story[] =>
  stories.filter((story) => !isDone(story) && story.likely === 'review');

/** Its gate has passed, so that nothing but its status is left. */
export const hasPassed = ({ gate }: Story): boolean => gate !== undefined && isPassed(gate);

/** How many stories are where; what is built and what has been reviewed are told apart. */
export function totalsOf(report: Report) {
  const { stories } = report;
  const done = stories.filter(isDone);
  return {
    stories: stories.length,
    done: done.length,
    waiting_for_review: inReview(report).filter((story) => !hasPassed(story)).length,
    done_without_review: done.filter(isUnreviewed).length,
  };
}

export function workedOn(story: Story) {
  const { id, row, file, gate } = story;
  return {
    id,
    status: row?.word ?? file?.word ?? 'planned',
    done: isDone(story),
    ...(file === undefined ? {} : { place: at(file) }),
    ...(gate === undefined ? {} : { gate: `${gate.gate} (${at(gate)})` }),
  };
}
