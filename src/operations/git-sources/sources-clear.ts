import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { kilobytes } from '../../base/text/text.ts';
import { defineOperation } from '../operation.ts';
import { UPDATE } from './sources-view.ts';

export const sourcesClear = defineOperation({
  name: 'sources_clear',
  title: 'Clear the git source cache',
  description:
    'Remove copies of git sources that nothing here uses, or all copies, which are then fetched again when needed. Lock files stay.',
  effect: 'destroy',
  command: 'sources clear',
  removes: { question: 'Remove these copies from the cache?' },
  examples: ['sources clear'],
  input: z.strictObject({
    all: z
      .boolean()
      .default(false)
      .describe('Also remove the copies in use; they need the network to be fetched again'),
  }),
  output: z.object({ copies: z.int(), bytes: z.int(), configured: z.int() }),

  async run({ all }, context) {
    const team = await context.gitSources();
    const cleared = await team.cache.clear(all ? [] : await team.kept());
    return { ...cleared, configured: (await team.views()).length };
  },

  render: ({ copies, bytes, configured }) => ({
    body: t`Removed ${plural(copies, 'copy', 'copies')}, ${kilobytes(bytes)}.`,
    steps: configured === 0 ? [] : [{ ...UPDATE, why: t`Fetch what is configured` }],
  }),
});
