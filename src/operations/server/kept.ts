import * as z from 'zod';
import { plural, t } from '../../base/text/message.ts';
import { compare } from '../../base/text/text.ts';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { cacheLines, cacheSchema, mebibytes } from './doctor.ts';

const itemSchema = z.object({ name: z.string(), kind: z.string(), uses: z.int(), last: z.string() });

/** One day on which something was started. */
const daySchema = z.object({
  day: z.string(),
  starts: z.int(),
  /** About how many tokens the texts had that were delivered for them. */
  tokens: z.int(),
});

/** As many days back as are kept. */
const DAYS_SHOWN = 90;

export const usageShow = defineOperation({
  name: 'usage_show',
  title: 'Show what has been started',
  description:
    'What this machine has recorded about agents and workflows started in this project; it is used to list them first.',
  effect: 'read',
  command: 'usage show',
  forPeople: true,
  examples: ['usage show'],
  input: z.strictObject({ project: projectField }),
  output: z.object({
    place: z.string(),
    noting: z.boolean().describe('Whether starts are currently recorded'),
    items: z.array(itemSchema),
    days: z.array(daySchema),
    problem: z.string().optional(),
  }),
  async run(_input, context) {
    const usage = await context.usage();
    const { uses, days, problem } = await usage.noted();
    const today = new Date().toISOString().slice(0, 10);
    // By number: as text, years of more than four digits come before all others.
    const newest = [...uses].sort(
      ([a, { last: mine }], [b, { last: theirs }]) => theirs - mine || compare(a, b),
    );
    const items = newest.map(([what, { uses: count, last }]) => {
      const space = what.indexOf(' ');
      return {
        name: what.slice(space + 1),
        kind: what.slice(0, Math.max(0, space)),
        uses: count,
        last: new Date(last).toISOString(),
      };
    });
    return {
      place: usage.place,
      noting: usage.writes,
      items,
      days: [...days]
        .filter(([day]) => day <= today)
        .map(([day, used]) => ({ day, ...used }))
        .sort((a, b) => compare(a.day, b.day))
        .slice(-DAYS_SHOWN),
      ...(problem === undefined ? {} : { problem }),
    };
  },
  failed: ({ problem }) => problem !== undefined,
  render: ({ place, noting, items, problem }) => ({
    body:
      problem ??
      (items.length === 0
        ? t`Nothing has been recorded for this project.`
        : items
            .map(
              ({ name, kind, uses, last }) => t`- ${name} (${kind}): ${plural(uses, 'time')}, last ${last}`,
            )
            .join('\n')),
    note: `${place}. ${noting ? t`Only names, times and lengths are recorded; BMAD_USAGE=false turns it off.` : t`Nothing is being recorded: the setting usage is off, or the server is read-only.`}`,
  }),
});

export const usageClear = defineOperation({
  name: 'usage_clear',
  title: 'Forget what has been started',
  description: 'Remove everything recorded about the agents and workflows started in this project.',
  effect: 'destroy',
  command: 'usage clear',
  removes: { question: 'Forget what was started in this project?' },
  input: z.strictObject({ project: projectField }),
  output: z.object({ place: z.string(), existed: z.boolean(), removed: z.int() }),
  async run(_input, context) {
    const usage = await context.usage();
    const removed = await usage.clear();
    return { place: usage.place, existed: removed !== undefined, removed: removed ?? 0 };
  },
  render: ({ place, existed, removed }) => ({
    body: existed ? t`Forgotten: ${plural(removed, 'name')}.` : t`Nothing was recorded.`,
    note: place,
  }),
});

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

  async run(_input, context, call) {
    const began = performance.now();
    call.progress(t`reading the content`);
    const workspace = await context.workspace();
    call.progress(t`indexing ${plural(workspace.catalogue.winners.length, 'record')}`);
    const { readings, index } = await workspace.warm(call.signal);
    const ms = Math.round(performance.now() - began);
    const { root } = workspace.project;
    return {
      ...(root === undefined ? {} : { project: root }),
      readings: [...readings],
      index,
      ms,
      cache: await (await context.diagnosis()).cache(),
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
