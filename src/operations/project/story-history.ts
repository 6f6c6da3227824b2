import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { compare } from '../../base/text/text.ts';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';

const storySchema = z.object({
  id: z.string(),
  planned: z.string().describe('When it was first written down'),
  started: z.string().optional(),
  done: z.string().optional(),
  /** From the beginning to the end. */
  days: z.number().optional(),
});

const DAY_MS = 86_400_000;
/** Of fewer stories, a half says nothing. */
const LEAST_FOR_MEDIAN = 3;

export const storyHistory = defineOperation({
  name: 'story_history',
  title: 'When stories were done',
  description:
    'When each story was written down, begun and done, by the git history of ledgers and story files, and how many days it took.',
  effect: 'read',
  behind: { manage_project: 'story_history' },
  command: 'project history',
  examples: ['project history'],
  input: z.strictObject({ project: projectField }),
  output: z.object({
    stories: z.array(storySchema),
    /** Stories of which no date is known. */
    undated: z.int(),
    /** Half of the stories took no longer. */
    median_days: z.number().optional(),
  }),
  async run({ project }, context, { signal }) {
    const progress = await (await context.state(project)).progress();
    const { dates, stories } = await progress.history(signal);
    const dated = dates
      .map((story) => ({ ...story, ...daysOf(story) }))
      .sort((a, b) => compare(a.done ?? '9', b.done ?? '9') || compare(a.id, b.id));
    const took = dated.flatMap(({ days }) => days ?? []).sort((a, b) => a - b);
    const median = took.length < LEAST_FOR_MEDIAN ? undefined : took[Math.floor((took.length - 1) / 2)];
    return {
      stories: dated,
      undated: stories - dates.length,
      ...(median === undefined ? {} : { median_days: median }),
    };
  },
  render: ({ stories, undated, median_days }) => ({
    body:
      stories.length === 0
        ? t`No dates are known: the ledgers and story files have no git history.`
        : stories
            .map(
              ({ id, planned, started, done, days }) =>
                t`- ${id}: ${[
                  t`planned ${planned.slice(0, 10)}`,
                  ...(started === undefined ? [] : [t`begun ${started.slice(0, 10)}`]),
                  ...(done === undefined ? [] : [t`done ${done.slice(0, 10)}`]),
                  ...(days === undefined ? [] : [plural(days, 'day')]),
                ].join(', ')}`,
            )
            .join('\n'),
    note: [
      ...(median_days === undefined
        ? []
        : [t`Half of the stories took ${plural(median_days, 'day')} or less.`]),
      ...(undated === 0 ? [] : [t`Of ${plural(undated, 'story', 'stories')} no date is known.`]),
    ].join(' '),
  }),
});

function daysOf({ started, done }: { started?: string; done?: string }): { days?: number } {
  if (started === undefined || done === undefined) return {};
  const days = (Date.parse(done) - Date.parse(started)) / DAY_MS;
  return Number.isFinite(days) ? { days: Math.max(0, Math.round(days * 10) / 10) } : {};
}
