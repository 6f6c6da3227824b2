import * as z from 'zod';
import { ours } from '../../base/errors.ts';
import { plural, say, t } from '../../base/text/message.ts';
import { compare, fenced } from '../../base/text/text.ts';
import { estimateTokens } from '../../base/text/text-budget.ts';
import { present } from '../../base/values.ts';
import { projectField, textUpTo } from '../fields.ts';
import type { ProjectState } from '../context.ts';
import { knownAbout } from '../memory/known-about.ts';
import { defineOperation } from '../operation.ts';
import { driftSchema } from './next-actions.ts';

const storyField = z.string().trim().min(1).max(200).describe('Its number or whole key: 1.2, 1-2, 1-2-login');

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
  forPeople: true,
  untold: ['show', 'proposal'],
  writes: ({ show }) => show !== true,
  input: z.strictObject({
    story: storyField,
    show: z.boolean().optional().describe('Only show what would be written'),
    proposal: textUpTo(100).optional().describe('What was shown: nothing else is written'),
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
    /** What writing takes for exactly these changes. */
    proposal: z.string(),
    /** Whether they were only shown. */
    shown: z.boolean(),
    notes: z.array(z.string()),
    /** The epic whose stories are now all done. */
    ends: z.string().optional(),
  }),

  async run({ story, status, show, proposal }, context) {
    const state = await context.state();
    const set = await (await state.progress()).setStatus({ story, status, show, proposal });
    // Done is no proof: whoever looks before it is written is told that there is none.
    const unproven = show === true && set.to === 'done' ? await (await state.completion()).unproven() : [];
    return { project: state.root, shown: show === true, ...set, notes: [...set.notes, ...unproven] };
  },
  // An epic that was begun with it stays begun.
  undo: ({ key, from, files, shown }) =>
    shown || from === undefined || files.length === 0
      ? undefined
      : { operation: 'story_status', args: { story: key, status: from } },

  render: ({ key, from, to, files, notes, ends, shown }) => ({
    body: [
      ...(shown ? [t`Nothing was written.`] : []),
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

const passageSchema = z.object({ text: z.string(), file: z.string(), line: z.int() });

export const storyShow = defineOperation({
  name: 'story_show',
  title: 'Show a story',
  description:
    'A story as its files have it: what it is for, its acceptance criteria, its tasks, its status and what disagrees with it, its newest run, and when it was planned, begun and done.',
  effect: 'read',
  command: 'story show',
  forPeople: true,
  positional: ['story'],
  examples: ['story show 1.2'],
  input: z.strictObject({ story: storyField, project: projectField }),
  output: z.object({
    id: z.string(),
    number: z.string(),
    epic: z.object({ number: z.string(), title: z.string() }),
    title: z.string(),
    status: z.string().optional(),
    column: z.string(),
    /** What it can be set to, and the column of a board where each leads. */
    words: z.array(z.string()),
    columns: z.record(z.string(), z.string()),
    text: passageSchema.optional(),
    criteria: passageSchema.optional(),
    tasks: z.array(z.object({ text: z.string(), done: z.boolean(), depth: z.int() })),
    places: z.array(z.string()),
    drift: z.array(driftSchema),
    run: z
      .object({ id: z.string(), status: z.string(), workflow: z.string(), at: z.string(), done: z.int() })
      .optional(),
    planned: z.string().optional(),
    started: z.string().optional(),
    done: z.string().optional(),
  }),
  async run({ story }, context, { signal }) {
    const state = await context.state();
    const progress = await state.progress();
    const whole = await progress.wholeStory(story);
    const { dates } = await progress.history(signal);
    const { planned, started, done } = dates.find(({ id }) => id === whole.id) ?? {};
    return { ...whole, ...present({ planned, started, done, run: await runFor(whole.id, state) }) };
  },
  render: ({ number, title, status, text, criteria, tasks, places, drift }) => ({
    body: [
      `# ${number} ${title}`,
      [status ?? t`no status`, ...places].join(' · '),
      ...drift.map(({ says }) => `! ${says}`),
      ...(text === undefined ? [] : [text.text]),
      ...(criteria === undefined ? [] : [t`## Acceptance criteria\n\n${criteria.text}`]),
      ...(tasks.length === 0
        ? []
        : [tasks.map(({ text: task, done }) => `- [${done ? 'x' : ' '}] ${task}`).join('\n')]),
    ].join('\n\n'),
  }),
});

/** The newest run that is known to be for this story. */
async function runFor(id: string, state: ProjectState) {
  const { branches } = await (await state.runs()).lately();
  const { workOfRun } = await import('../runs/run-standing.ts');
  const runs = branches.flatMap((branch) => branch.runs).sort((a, b) => b.latest - a.latest);
  for (const run of runs.slice(0, MOST_RUNS)) {
    if ((await workOfRun(run, state).catch(ours(() => ({ story: undefined })))).story !== id) continue;
    return {
      id: run.id,
      status: run.status,
      workflow: run.state?.workflow ?? run.id,
      at: new Date(run.latest).toISOString(),
      done: new Set(run.state?.stepsCompleted).size,
    };
  }
  return undefined;
}

const MOST_RUNS = 30;
const MOST_TOKENS = 700;
const NAMED_PLACES = 12;

export const storyBrief = defineOperation({
  name: 'story_brief',
  title: 'Brief for building a story',
  description:
    'The acceptance criteria of a story, its rules, decisions in force, files and tests, in at most 700 tokens.',
  effect: 'read',
  behind: { manage_project: 'story_brief' },
  command: 'story brief',
  positional: ['story'],
  examples: ['story brief 1.2'],
  synonyms: { key: 'story', id: 'story' },
  input: z.strictObject({ story: storyField, project: projectField }),
  output: z.object({
    project: z.string(),
    key: z.string(),
    status: z.string(),
    place: z.string(),
    text: z.string(),
    tokens: z.int(),
    /** Where what did not fit can be read. */
    leftOut: z.array(z.string()),
  }),

  async run({ story }, context, { signal }) {
    const state = await context.state();
    const brief = await (await state.progress()).storyBrief(story);
    const { key, title, status, place, criteria, rules, files } = brief;
    const query = [title, criteria?.text ?? key].join(' ');
    const { decisions } = await knownAbout(query, context, signal);
    const commands = await (await state.completion()).commands().catch(ours(() => []));
    const whole = (section: string, text: string): Entry => ({ section, text, place: section.toLowerCase() });
    const packed = pack(
      [
        t`# ${key}${title === '' ? '' : `: ${title}`}\n\nStatus: ${status} · ${place}`,
        criteria === undefined
          ? t`## Acceptance criteria\n\nNeither the story nor the plan has any.`
          : t`## Acceptance criteria (${criteria.file}:${criteria.line})\n\n${criteria.text}`,
      ].join('\n\n'),
      [
        ...(commands.length === 0
          ? []
          : [whole('Tests to run', commands.map((each) => `\`${each}\``).join(', '))]),
        ...(files.length === 0 ? [] : [whole('Files named', files.join(', '))]),
        ...alternately(
          rules.map(({ text, file, line }) => ({
            section: 'Rules',
            text: ruleText(text, file, line),
            place: `${file}:${line}`,
          })),
          decisions.map((text) => ({
            section: 'Decisions in force',
            text: `- ${text}`,
            place: 'a decision',
          })),
        ),
      ],
    );
    return { project: state.root, key, status, place, ...packed };
  },

  render: ({ text }) => ({ body: text }),
});

interface Entry {
  section: string;
  text: string;
  place: string;
}

/** A rule of one line stands in the list; a longer passage is told under the place it is from. */
function ruleText(text: string, file: string, line: number): string {
  if (text === '') return '';
  return text.includes('\n')
    ? `- ${file}:${line}:\n  ${text.replaceAll('\n', '\n  ')}`
    : `- ${text} (${file}:${line})`;
}

/** Neither of two lists crowds out the other. */
function alternately<T>(a: readonly T[], b: readonly T[]): T[] {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, index) => [a[index], b[index]])
    .flat()
    .filter((each) => each !== undefined);
}

const SECTIONS = ['Rules', 'Decisions in force', 'Files named', 'Tests to run'];

/** As much as fits behind what must be there, in the order given; the rest is named. */
function pack(head: string, entries: readonly Entry[]): { text: string; tokens: number; leftOut: string[] } {
  const taken = new Set<Entry>();
  const written = (): string => {
    const parts = SECTIONS.flatMap((section) => {
      const lines = entries.filter((entry) => entry.section === section && taken.has(entry));
      return lines.length === 0 ? [] : [`## ${say(section)}\n\n${lines.map(({ text }) => text).join('\n')}`];
    });
    const missing = leftOut();
    if (missing.length === 0) return [head, ...parts].join('\n\n');
    const more = missing.length - NAMED_PLACES;
    const named = [...missing.slice(0, NAMED_PLACES), ...(more > 0 ? [t`${more} more`] : [])];
    return [head, ...parts, t`Left out: ${named.join(', ')}.`].join('\n\n');
  };
  const leftOut = (): string[] => {
    const places = entries.filter((entry) => !taken.has(entry)).map(({ place }) => place);
    const decisions = places.filter((place) => place === 'a decision').length;
    const others = places.filter((place) => place !== 'a decision');
    return [...new Set(others), ...(decisions === 0 ? [] : [t`${decisions} of the decisions`])];
  };
  for (const entry of entries) {
    if (entry.text === '') continue;
    taken.add(entry);
    if (estimateTokens(written()) > MOST_TOKENS) taken.delete(entry);
  }
  const text = written();
  return { text, tokens: estimateTokens(text), leftOut: leftOut() };
}

const storySchema = z.object({
  id: z.string(),
  title: z.string(),
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
  async run(_input, context, { signal }) {
    const progress = await (await context.state()).progress();
    const { dates, stories } = await progress.history(signal);
    const dated = dates
      .map((story) => ({ ...story, ...daysOf(story) }))
      .sort((a, b) => compare(a.done ?? '9', b.done ?? '9') || compare(a.id, b.id));
    const took = dated.flatMap(({ days }) => days ?? []).sort((a, b) => a - b);
    const median = took.length < LEAST_FOR_MEDIAN ? undefined : took[Math.floor((took.length - 1) / 2)];
    return {
      stories: dated,
      undated: stories - dates.length,
      ...present({ median_days: median }),
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
