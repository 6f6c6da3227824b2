import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { defineOperation } from '../operation.ts';

export const sourcesRemove = defineOperation({
  name: 'sources_remove',
  title: 'Remove a git source',
  description:
    'Remove a git source from the configuration and the lock file that name it. The cache keeps its copy.',
  effect: 'write',
  command: 'sources remove',
  picks: { source: 'source' },
  removes: { question: 'Remove this source?', about: 'source' },
  positional: ['source'],
  examples: ['sources remove bmad-team'],
  input: z.strictObject({
    source: z.string().min(1).max(2_000).describe('Source as it was given, or the name of its repository'),
  }),
  output: z.object({ source: z.string(), config: z.string().optional(), lockFile: z.string() }),

  async run({ source }, context) {
    const team = await context.gitSources();
    const chosen = team.named(source, await team.all());
    const config = await team.remove(chosen);
    return {
      source: chosen.address.source,
      ...(config === undefined ? {} : { config }),
      lockFile: team.lockFile(chosen.layer),
    };
  },

  render: ({ source, config, lockFile }) => ({
    body:
      config === undefined
        ? t`Removed ${source} from ${lockFile}`
        : t`Removed ${source} from ${config} and ${lockFile}`,
    note: t`A running server serves it until it is restarted.`,
    steps: [{ operation: 'sources_clear', why: t`Remove copies that nothing uses` }],
  }),
});
