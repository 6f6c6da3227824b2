import { say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { ours } from '../../base/expected.ts';
import { estimateTokens } from '../../base/text/token-estimate.ts';
import { projectField } from '../fields.ts';
import { knownAbout } from '../memory/known-about.ts';
import { defineOperation } from '../operation.ts';
import { storyField } from './story-status.ts';

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

  async run({ story, project }, context, { signal }) {
    const state = await context.state(project);
    const brief = await (await state.progress()).storyBrief(story);
    const { key, title, status, place, criteria, rules, files } = brief;
    const query = [title, criteria?.text ?? key].join(' ');
    const { decisions } = await knownAbout(query, context, project, signal);
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
