import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { fenced } from '../../base/text/text.ts';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';

const word = z.string().trim().min(1).max(100);

export const memlog = defineOperation({
  name: 'memlog',
  title: 'Add to the log of a run folder',
  description: 'Write .memlog.md in a run folder as BMAD’s memlog.py does.',
  effect: 'write',
  behind: { manage_project: 'memlog' },
  command: 'log memlog',
  positional: ['workspace', 'text'],
  synonyms: { path: 'workspace', field: 'fields' },
  input: z.strictObject({
    workspace: z
      .string()
      .trim()
      .min(1)
      .max(1_000)
      .describe('The run folder, relative to the project or absolute'),
    text: z.string().trim().min(1).max(20_000).optional().describe('The entry; line breaks become spaces'),
    type: word.optional().describe('What kind of entry: decision, idea, event, …'),
    by: word.optional().describe('Who it came from'),
    fields: z
      .array(z.string().min(1).max(2_000))
      .max(50)
      .default([])
      .describe('Fields of its head, each as key=value: topic=Onboarding'),
    project: projectField,
  }),
  output: z.object({
    project: z.string(),
    file: z.string(),
    isNew: z.boolean(),
    entries: z.int(),
    diff: z.string(),
  }),

  async run({ workspace, text, type, by, fields, project }, context) {
    const state = await context.state(project);
    const written = await (
      await state.progress()
    ).writeMemlog({ workspace, text, type: lineOf(type), by: lineOf(by), fields: fields.map(pairOf) });
    return { project: state.root, ...written };
  },

  render: ({ file, isNew, entries, diff }) => ({
    body: isNew
      ? t`${file}, new: ${plural(entries, 'entry', 'entries')}.\n${fenced(diff, 'diff')}`
      : t`${file}: ${plural(entries, 'entry', 'entries')}.\n${fenced(diff, 'diff')}`,
  }),
});

/** One entry is one line: a break in a name would make several of it. */
const lineOf = (name: string | undefined): string | undefined => name?.replace(/\s+/g, ' ');

function pairOf(field: string): [string, string] {
  const at = field.indexOf('=');
  const key = field.slice(0, at).trim();
  if (at < 1 || !/^[\w .-]+$/u.test(key) || key === 'updated')
    throw new BmadError('invalid_input', t`${quoted(field)} is not a field of the form key=value.`, {
      subject: 'fields',
      hint: t`For example topic=Onboarding; "updated" is set automatically.`,
    });
  return [key, field.slice(at + 1).trim()];
}
