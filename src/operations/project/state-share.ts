import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { projectField } from '../fields.ts';
import { lines } from '../answer-text.ts';
import { defineOperation } from '../operation.ts';

/** A command for people: whether others get what was remembered is not for a model to decide. */
export const stateShare = defineOperation({
  name: 'state_share',
  title: 'Share memories through git',
  description:
    'Let git see the lines that are the memories of this project, so that colleagues get them once they are committed, or hide them from git again. Says what others will see.',
  effect: 'write',
  command: 'state share',
  examples: ['state share', 'state share --off'],
  input: z.strictObject({
    off: z.boolean().default(false).describe('Hide them from git again'),
    project: projectField,
  }),
  output: z.object({
    shared: z.boolean().describe('Whether git sees the lines now'),
    changed: z.boolean().describe('Whether that is new'),
    folder: z.string().describe('The folder of the lines'),
    memories: z.int().describe('Memories in use, replaced ones included'),
    forgotten: z.int().describe('Forgotten ones, whose text is still in the lines'),
  }),
  async run({ off }, context) {
    const state = await context.state();
    const { home, parts } = await state.place();
    const folder = parts.find(({ part }) => part === 'memories')?.folder ?? '';
    if (home === 'user')
      throw new BmadError('conflict', t`The memories of this project are kept in your user folder.`, {
        hint: t`Git does not see that folder. Move them into the project first.`,
        steps: [{ operation: 'project_state', why: t`See where it is kept` }],
      });
    const changed = await state.shareLines(!off);
    const { live, superseded, forgotten } = await (await context.memory(false)).stats({ stored: true });
    return { shared: !off, changed, folder, memories: live + superseded, forgotten };
  },
  render: ({ shared, changed, folder, memories, forgotten }) => ({
    body: shared
      ? lines(
          changed ? t`Git sees the lines in ${folder} now.` : t`Git already sees the lines in ${folder}.`,
          t`Once they are committed, others see ${plural(memories, 'memory', 'memories')} with their earlier wordings, who wrote them, and when.`,
          forgotten === 0
            ? undefined
            : t`They also have the text of ${plural(forgotten, 'forgotten memory', 'forgotten memories')}, unless it is purged first.`,
          t`Receipts and your own decisions are not shared.`,
        )
      : lines(
          changed
            ? t`Git ignores the lines in ${folder} now.`
            : t`Git already ignores the lines in ${folder}.`,
          t`What is committed stays in its history; git rm -r --cached ${folder} takes it out of the next commit.`,
        ),
  }),
});
