import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { plural, say, t } from '../../base/text/message.ts';
import { fenced } from '../../base/text/text.ts';
import { projectField, stepsField, textUpTo } from '../fields.ts';
import { lines } from '../answer-text.ts';
import { loggedAs } from '../catalogue/agent-names.ts';
import { type Answer, defineOperation } from '../operation.ts';

/** What the operations that write something down share. */

export const loggedSchema = z.object({
  outcome: z.enum(['created', 'updated', 'unchanged']),
  /** How to name it later on. */
  id: z.string().optional(),
  text: z.string(),
  /** Files that have it now, as paths in the project. */
  files: z.array(z.string()),
  notes: z.array(z.string()),
  /** What can be done about what it was found beside. */
  steps: stepsField,
});

/** Said of a text that the project's own people would have written in another language. */
export function languageNote({ spoken, wanted }: { spoken: string; wanted: string }): string {
  return t`The text is in ${spoken}; the language of this project is ${wanted}.`;
}

export const lineField = z.string().trim().min(1).max(20_000);
export const agentField = textUpTo(200);

/** What is said of each: the words differ, so that a language can have its own for each. */
const DONE = {
  decision: { created: 'Decision logged', updated: 'Decision updated', unchanged: 'Decision already known' },
  learning: { created: 'Learning logged', updated: 'Learning updated', unchanged: 'Learning already known' },
  failure: { created: 'Failure logged', updated: 'Failure updated', unchanged: 'Failure already known' },
  handoff: { created: 'Handoff logged', updated: 'Handoff updated', unchanged: 'Handoff already known' },
  session: { created: 'Session logged', updated: 'Session updated', unchanged: 'Session already known' },
} as const;

export function logged(
  what: keyof typeof DONE,
  { outcome, id, text, files, notes, steps = [] }: z.output<typeof loggedSchema>,
): Answer {
  return {
    body: lines(
      t`${say(DONE[what][outcome])}: ${text}`,
      id === undefined ? undefined : `id ${id}`,
      files.length === 0 ? undefined : t`In ${files.join(', ')}`,
      notes,
    ),
    steps,
  };
}

export const logHandoff = defineOperation({
  name: 'log_handoff',
  title: 'Hand work over to another agent',
  description:
    "Record a handoff in the project's log and, with inbox, also in the requests that agents read when they start.",
  effect: 'write',
  keeps: true,
  behind: { manage_project: 'log_handoff' },
  command: 'log handoff',
  positional: ['from', 'to', 'summary'],
  examples: ['log handoff dev qa "Check US-042: the cart keeps its items"'],
  synonyms: { request: 'summary', text: 'summary', task: 'summary', message: 'summary' },
  input: z.strictObject({
    from: agentField.describe('The agent that hands over'),
    to: agentField.describe('The agent that takes over'),
    summary: lineField.describe('What is handed over'),
    inbox: z.boolean().optional().describe('Also add an open request to shared-context.md'),
    project: projectField,
  }),
  output: loggedSchema.extend({ request: z.string().optional() }),

  async run({ from, to, summary, inbox = false }, context) {
    const facts = await (await context.state()).facts();
    const source = await loggedAs(from, context, 'from');
    const target = await loggedAs(to, context, 'to');
    const written = await facts.logHandoff({ from: source, to: target, text: summary, inbox });
    const traced = written.added
      ? await facts.trace(source, `HANDOFF→${target}`, summary)
      : { files: [], notes: [] };
    return {
      outcome: written.added ? ('created' as const) : ('unchanged' as const),
      id: written.id,
      ...(written.request === undefined ? {} : { request: written.request }),
      text: `${source} → ${target}: ${summary}`,
      files: [...written.files, ...traced.files],
      notes: traced.notes,
    };
  },
  // The request in the inbox is done with it, by either id.
  render: (data) => ({
    ...logged('handoff', data),
    steps:
      data.id === undefined || data.id === ''
        ? []
        : [{ operation: 'complete_handoff', args: { id: data.id }, why: t`When it is done` }],
  }),
});

export const completeHandoff = defineOperation({
  name: 'complete_handoff',
  title: 'Mark a handoff or a request as done',
  description: 'Mark a handoff (H-…) or a request between agents (R-…) as done, by its exact id.',
  effect: 'write',
  behind: { manage_project: 'complete_handoff' },
  command: 'log handoff-done',
  positional: ['id'],
  input: z.strictObject({
    id: z
      .string()
      .regex(/^[HR]-[0-9a-f]{8,12}$/, 'Ids look like H-1a2b3c4d or R-1a2b3c4d.')
      .describe('Exact id; the section "agents" of the project context lists the open ones'),
    project: projectField,
  }),
  output: loggedSchema,

  async run({ id }, context) {
    const facts = await (await context.state()).facts();
    const { text, files, changed } = await facts.completeHandoff(id);
    return { outcome: changed ? ('updated' as const) : ('unchanged' as const), id, text, files, notes: [] };
  },
  render: ({ outcome, id, text, files }) => ({
    body: lines(
      `${outcome === 'updated' ? t`Marked as done` : t`Already done`}: ${id ?? ''}, ${text}`,
      files.length === 0 ? undefined : `In ${files.join(', ')}`,
    ),
  }),
});

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
      .array(textUpTo(2_000))
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

  async run({ workspace, text, type, by, fields }, context) {
    const state = await context.state();
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
