import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { kilobytes } from '../../base/text/text.ts';
import { defineOperation } from '../operation.ts';
import { ADD, DIFF, UPDATE, sourceData, sourceLines, sourceSchema } from './sources-view.ts';

export const sourcesList = defineOperation({
  name: 'sources_list',
  title: 'List the git sources',
  description:
    'Show every git source: the commit served, its age, what is waiting for approval, what went wrong. Does not contact remotes.',
  effect: 'read',
  command: 'sources list',
  forPeople: true,
  examples: ['sources list', 'sources list --copies'],
  input: z.strictObject({
    copies: z.boolean().default(false).describe('Show the whole cache, including copies for other projects'),
  }),
  output: z.object({
    sources: z.array(sourceSchema),
    copies: z
      .array(
        z.object({
          source: z.string(),
          commit: z.string(),
          digest: z.string(),
          files: z.int(),
          bytes: z.int(),
          folder: z.string(),
          fetchedAt: z.string(),
        }),
      )
      .optional(),
    /** Sources that could not be understood. */
    warnings: z.array(z.string()),
  }),

  async run({ copies: wanted }, context) {
    const team = await context.gitSources();
    const copies = wanted ? await team.cache.list() : undefined;
    return {
      sources: (await team.views(await team.all())).map((view) => sourceData(view, team)),
      copies: copies?.map(({ checkedAt: _checkedAt, fetchedAt, ...copy }) => ({
        ...copy,
        fetchedAt: new Date(fetchedAt).toISOString(),
      })),
      warnings: context.configWarnings.filter((warning) => warning.startsWith(t`Git source `)),
    };
  },

  render({ sources, copies: kept, warnings }) {
    const copies = kept?.map(
      ({ source, commit, files, bytes, folder }) =>
        `- ${source} ${commit.slice(0, 12)}, ${plural(files, 'file')}, ${kilobytes(bytes)}\n  ${folder}`,
    );
    const body = [
      ...sources.map((source) => sourceLines(source)),
      ...(copies === undefined ? [] : ['', t`In the cache (${copies.length}):`, ...copies]),
      ...warnings.map((warning) => t`Warning: ${warning}`),
    ].join('\n');
    return {
      body: body === '' ? t`No git sources are configured.` : body,
      ...(sources.length === 0 ? {} : { note: `${plural(sources.length, 'source')}.` }),
      steps: [
        ...(sources.some(({ pending }) => pending !== undefined) ? [DIFF] : []),
        sources.length === 0 ? ADD : UPDATE,
      ],
    };
  },
});
