import * as z from 'zod';
import { contentUri } from '../../base/files/paths.ts';
import { plural, t } from '../../base/text/message.ts';
import { compare } from '../../base/text/text.ts';
import { qualifiedName, type BmadRecord } from '../../model/record.ts';
import { titledList } from '../answer-text.ts';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';

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

// What is kept of large content.

export const cacheSchema = z.object({
  parts: z.array(
    z.object({
      part: z.string(),
      folder: z.string(),
      files: z.int(),
      bytes: z.int(),
      newest: z.string().optional(),
      oldest: z.string().optional(),
      damaged: z.int().describe('Made again when needed'),
      outdated: z.int().describe('Of another version of the server'),
    }),
  ),
  mostFiles: z.int().describe('In each folder'),
  mostBytes: z.int().describe('In each folder'),
});
export type CacheView = z.output<typeof cacheSchema>;

/** `512 MiB`, `0.3 MiB`. */
function mebibytes(bytes: number): string {
  return `${Number((bytes / 1_048_576).toFixed(1))} MiB`;
}

export const isEmpty = ({ parts }: CacheView): boolean => parts.every(({ files }) => files === 0);

export function cacheLines(view: CacheView): string[] {
  const { parts, mostFiles, mostBytes } = view;
  if (isEmpty(view)) return [t`Cache: empty; only large content is kept`];
  return [
    t`Cache: at most ${mostFiles} files and ${mebibytes(mostBytes)} in each folder`,
    ...parts.map(({ part, folder, files, bytes, newest, oldest, damaged, outdated }) => {
      const size = files === 0 ? t`empty` : `${plural(files, 'file')}, ${mebibytes(bytes)}`;
      const days = [oldest, newest].map((time) => time?.slice(0, 10));
      const age =
        files === 0 ? '' : days[0] === days[1] ? t`, of ${days[1]}` : t`, of ${days[0]} to ${days[1]}`;
      const faults = [
        damaged === 0 ? '' : t`, ${damaged} damaged`,
        outdated === 0 ? '' : t`, ${outdated} of another version`,
      ].join('');
      return t`- ${part}: ${size}${age}${faults}\n  ${folder}`;
    }),
  ];
}

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

// What has changed on disk since the content was read.

const changeSchema = z.object({ kind: z.string(), name: z.string(), origin: z.string(), uri: z.string() });
type Change = z.output<typeof changeSchema>;

/** Longer lists are cut in the text; the data has them all. */
const SHOWN = 40;

export const refresh = defineOperation({
  name: 'refresh',
  title: 'Read the content again',
  description: 'Read all BMAD content from disk again and report what was added, changed or removed.',
  effect: 'read',
  behind: { bmad: 'refresh' },
  command: 'refresh',
  examples: ['refresh'],
  input: z.strictObject({ project: projectField }),
  output: z.object({
    project: z.string().optional(),
    /** Whether it had been read before, so that there was something to compare with. */
    known: z.boolean(),
    added: z.array(changeSchema),
    changed: z.array(changeSchema),
    removed: z.array(changeSchema),
    /** Whether files have come or gone, where a list of them had been made before. */
    files: z.boolean(),
    total: z.int(),
    origins: z.array(z.string()),
  }),

  async run(_input, context) {
    const changes = await context.refresh();
    const { catalogue } = await context.workspace();
    const { root } = changes.project;
    return {
      ...(root === undefined ? {} : { project: root }),
      known: changes.known,
      added: changes.added.map(changeOf),
      changed: changes.changed.map(changeOf),
      removed: changes.removed.map(changeOf),
      files: changes.files,
      total: catalogue.winners.length,
      origins: catalogue.sources.map(({ origin }) => origin.displayName),
    };
  },

  render({ known, added, changed, removed, files, total, origins }) {
    const found = t`${plural(total, 'record')} from ${origins.join(', ') || t`nowhere`}.`;
    if (!known) return { body: t`Read for the first time, so there is nothing to compare with. ${found}` };
    const lines = [
      ...section(t`Added`, added),
      ...section(t`Changed`, changed),
      ...section(t`Removed`, removed),
    ];
    if (files) lines.push(t`Files were added or removed.`);
    return { body: lines.length === 0 ? t`Nothing has changed.` : lines.join('\n'), note: found };
  },
});

function changeOf(record: BmadRecord): Change {
  return {
    kind: record.kind,
    name: qualifiedName(record),
    origin: record.origin.displayName,
    uri: contentUri(record.bmadRelativePath),
  };
}

function section(title: string, changes: readonly Change[]): string[] {
  const entries = changes.map(({ kind, name, origin }) => `${kind} ${name} (${origin})`);
  return titledList(title, entries, SHOWN);
}
