import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { cacheLines, cacheSchema, cacheView, mebibytes } from './cache-view.ts';

export const warm = defineOperation({
  name: 'warm',
  title: 'Prepare the content',
  description:
    'Read and index all content of the project now, so that the first list and search of the next start need not.',
  effect: 'write',
  command: 'warm',
  examples: ['warm', 'warm --json'],
  input: z.strictObject({ project: projectField }),
  output: z.object({
    project: z.string().optional(),
    readings: z.array(
      z.object({
        origin: z.string(),
        records: z.int(),
        places: z.int().describe('Files and folders it was read from'),
        restored: z.boolean().describe('Whether an earlier process had kept it'),
        kept: z.boolean().describe('Whether the next start has it'),
      }),
    ),
    index: z.object({
      records: z.int(),
      terms: z.int(),
      vectors: z.int(),
      restored: z.boolean(),
      kept: z.boolean(),
    }),
    ms: z.int(),
    cache: cacheSchema,
  }),

  async run({ project }, context, call) {
    const began = performance.now();
    call.progress(t`reading the content`);
    const workspace = await context.workspace(project);
    call.progress(t`indexing ${plural(workspace.catalogue.winners.length, 'record')}`);
    const { readings, index } = await workspace.warm(call.signal);
    const ms = Math.round(performance.now() - began);
    const { root } = workspace.project;
    return {
      ...(root === undefined ? {} : { project: root }),
      readings: [...readings],
      index,
      ms,
      cache: await cacheView(await context.diagnosis()),
    };
  },

  render({ readings, index, ms, cache }) {
    return {
      body: [
        ...readings.map(
          ({ origin, records, places, ...state }) =>
            t`- ${origin}: ${plural(records, 'record')} from ${plural(places, 'file or folder', 'files and folders')}, ${fate(state)}`,
        ),
        t`- Search: ${plural(index.records, 'record')}, ${plural(index.terms, 'term')}, ${plural(index.vectors, 'vector')}, ${fate(index)}`,
        ...cacheLines(cache),
      ].join('\n'),
      note: t`Ready after ${(ms / 1_000).toFixed(1)} s.`,
    };
  },
});

/** What is small is read faster than it is compared. */
function fate({ restored, kept }: { restored: boolean; kept: boolean }): string {
  if (restored) return t`as kept`;
  return kept
    ? t`made and kept`
    : t`made, not kept (too small, just written, or the cache folder cannot be used)`;
}

export const cacheClear = defineOperation({
  name: 'cache_clear',
  title: 'Clear the cache',
  description:
    'Remove what is kept of large content, of all projects. It is made again when needed; nothing else is removed.',
  effect: 'destroy',
  command: 'cache clear',
  removes: { question: 'Clear the cache of all projects?' },
  examples: ['cache clear'],
  input: z.strictObject({}),
  output: z.object({ files: z.int(), bytes: z.int() }),

  run: async (_input, context) => (await context.diagnosis()).clearCache(),

  render: ({ files, bytes }) => ({
    body: t`Removed ${plural(files, 'file')}, ${mebibytes(bytes)}.`,
    steps: [{ operation: 'warm', why: t`Make what this project needs` }],
  }),
});
