import * as z from 'zod';
import { loggedAs } from '../catalogue/kept-names.ts';
import { asLines, projectField, textOrLines } from '../fields.ts';
import { agentField, lineField, logged, loggedSchema } from '../project/log-view.ts';
import { defineOperation } from '../operation.ts';

const items = z.array(z.string().trim().min(1).max(2_000)).max(200).optional();

export const saveSession = defineOperation({
  name: 'save_session',
  title: 'Save where a session left off',
  description:
    'Save the state of the session for the next one: session-state.md, and a copy among the session summaries.',
  effect: 'write',
  keeps: true,
  behind: { manage_project: 'save_session' },
  command: 'log session',
  positional: ['agent'],
  synonyms: {
    done: 'work',
    completed: 'work',
    files_changed: 'files',
    changed_files: 'files',
    summary: 'state',
    notes: 'state',
    current_state: 'state',
    next_step: 'next',
    next_steps: 'next',
  },
  examples: ['log session dev --work "Cart page" --work "Its tests" --next "Run them in CI"'],
  input: z.strictObject({
    agent: agentField.describe('The agent whose session it was'),
    work: items.describe('What was done'),
    files: items.describe('Files changed'),
    state: textOrLines(lineField).optional().describe('What works and what does not'),
    next: textOrLines(lineField)
      .optional()
      .describe('What to do next, with the key of its story or the id of its request'),
    handoffs: items.describe('What other agents were asked to do'),
    duration: z.string().trim().min(1).max(60).optional().describe('How long it took'),
    project: projectField,
  }),
  output: loggedSchema,

  async run({ agent, work, files, handoffs, duration, project, ...told }, context) {
    const state = asLines(told.state);
    const facts = await (await context.state(project)).facts();
    const who = await loggedAs(agent, context, project);
    const saved = await facts.saveSession({
      agent: who,
      work: work ?? [],
      files: files ?? [],
      state,
      next: asLines(told.next),
      requests: handoffs ?? [],
      duration,
    });
    const traced = await facts.trace(who, 'CHECKPOINT', work?.join('; ') ?? state ?? saved.nothing);
    return {
      outcome: 'created' as const,
      text: `${who}, ${saved.date}`,
      files: [...saved.files, ...traced.files],
      notes: traced.notes,
    };
  },
  render: (data) => logged('session', data),
});
