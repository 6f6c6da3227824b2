import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { fenced } from '../../base/text/text.ts';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';

export const storyField = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .describe('Its number or whole key: 1.2, 1-2, 1-2-login');

export const storyStatus = defineOperation({
  name: 'story_status',
  title: 'Set the status of a story',
  description:
    'Set the status of a story in the ledger and in its file together; that of an epic or a retrospective by its key, such as epic-1.',
  effect: 'write',
  behind: { manage_project: 'story_status' },
  command: 'story status',
  positional: ['story', 'status'],
  synonyms: { key: 'story', id: 'story' },
  input: z.strictObject({
    story: storyField,
    status: z
      .string()
      .trim()
      .min(1)
      .max(60)
      .describe('A word of the project’s BMAD, such as in-progress, review, done; a wrong one lists them'),
    project: projectField,
  }),
  output: z.object({
    project: z.string(),
    key: z.string(),
    from: z.string().optional(),
    to: z.string(),
    files: z.array(z.object({ file: z.string(), diff: z.string() })),
    notes: z.array(z.string()),
    /** The epic whose stories are now all done. */
    ends: z.string().optional(),
  }),

  async run({ story, status, project }, context) {
    const state = await context.state(project);
    return { project: state.root, ...(await (await state.progress()).setStatus(story, status)) };
  },

  render: ({ key, from, to, files, notes, ends }) => ({
    body: [
      files.length === 0
        ? t`${key} is already ${to}; nothing was written.`
        : t`${key}: ${from ?? t`no status`} → ${to}`,
      ...files.map(({ diff }) => fenced(diff, 'diff')),
      ...notes,
      ...(ends === undefined ? [] : [t`All stories of ${ends} are done; its own row is unchanged.`]),
    ].join('\n'),
    steps:
      ends === undefined
        ? []
        : [
            {
              operation: 'story_status',
              args: { story: ends, status: 'done' },
              why: t`When its retrospective has been held or is not wanted`,
            },
          ],
  }),
});
