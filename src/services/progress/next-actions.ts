import { plural } from '../../base/text/text.ts';
import { withWorker, type Action } from './action.ts';
import { at } from './model.ts';
import { planActions } from './plan-actions.ts';
import type { Report } from './report.ts';
import { rank } from './stories.ts';
import { storyActions } from './story-actions.ts';
import type { Workers } from './workers.ts';

/** How many changes of the ledgers are proposed, which is known to whoever asks. */
export interface Outlook {
  changes: number;
}

/**
 * What to do next, the most pressing first. While stories are under way the order is BMAD's own: go on with what is
 * begun, review what is finished, start what is ready, prepare the next. Before that it is the order of the phases.
 */
export function nextActions(report: Report, workers: Workers, { changes }: Outlook): Action[] {
  const actions: Action[] = [];
  for (const { file, line, broken } of report.broken)
    actions.push({
      what: `Repair ${at({ file, line })}`,
      why: broken,
      evidence: [{ file, ...(line === undefined ? {} : { line }), says: broken }],
      ...withWorker(file.includes('sprint-status') ? workers.for('sprint planning', false) : undefined),
      about: `repair ${file}`,
    });
  if (changes > 0)
    actions.push({
      what: 'Bring the ledgers up to date',
      why: `the files prove ${plural(changes, 'change')} missing from the ledgers`,
      evidence: report.drift.flatMap(({ evidence }) => evidence).slice(0, 4),
      operation: 'reconcile',
    });
  const stories = storyActions(report, workers);
  const plans = planActions(report, workers);
  const underWay =
    report.stories.some(({ likely }) => rank(likely) > rank('backlog')) ||
    report.sprint !== undefined ||
    report.files.specs.some(({ status }) => status !== undefined && status !== 'done');
  return [...actions, ...(underWay ? [...stories, ...plans] : [...plans, ...stories])];
}
