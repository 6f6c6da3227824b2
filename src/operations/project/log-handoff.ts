import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { loggedAs } from '../catalogue/kept-names.ts';
import { projectField } from '../fields.ts';
import { agentField, lineField, logged, loggedSchema } from './log-view.ts';
import { lines } from '../answer-text.ts';
import { defineOperation } from '../operation.ts';

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

  async run({ from, to, summary, inbox = false, project }, context) {
    const facts = await (await context.state(project)).facts();
    const source = await loggedAs(from, context, project, 'from');
    const target = await loggedAs(to, context, project, 'to');
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

  async run({ id, project }, context) {
    const facts = await (await context.state(project)).facts();
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
