import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { compare } from '../../base/text/text.ts';
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
  async run({ project }, context) {
    const usage = await context.usage(project);
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
  async run({ project }, context) {
    const usage = await context.usage(project);
    const removed = await usage.clear();
    return { place: usage.place, existed: removed !== undefined, removed: removed ?? 0 };
  },
  render: ({ place, existed, removed }) => ({
    body: existed ? t`Forgotten: ${plural(removed, 'name')}.` : t`Nothing was recorded.`,
    note: place,
  }),
});
