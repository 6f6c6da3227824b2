import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { CATEGORIES } from '../../model/failure.ts';
import { loggedAs } from '../catalogue/kept-names.ts';
import { projectField, tagsField } from '../fields.ts';
import { agentField, languageNote, lineField, logged, loggedSchema } from './log-view.ts';
import { defineOperation } from '../operation.ts';

export const logFailure = defineOperation({
  name: 'log_failure',
  title: 'Log a failure',
  description:
    "Record a failure in the project's museum, in its format, so that no one repeats it. Include the lesson and the rule.",
  effect: 'write',
  keeps: true,
  behind: { manage_project: 'log_failure' },
  command: 'log failure',
  positional: ['title'],
  synonyms: {
    failure: 'title',
    summary: 'title',
    description: 'what_happened',
    details: 'what_happened',
    cause: 'root_cause',
    resolution: 'fix',
    prevention: 'rule',
  },
  examples: [
    'log failure "Story closed with red tests" --category CC-FAIL --severity critical --agent dev --rule "No done without a passing contract"',
  ],
  input: z.strictObject({
    title: z.string().trim().min(3).max(300).describe('What went wrong, in a few words'),
    category: z.enum(CATEGORIES).describe(CATEGORIES.join(', ')),
    severity: z
      .enum(['critical', 'important', 'micro'])
      .default('important')
      .describe('critical (work lost or blocked), important (default), micro'),
    agent: agentField.optional().describe('The agent it happened to'),
    what_happened: lineField.optional().describe('The facts'),
    root_cause: lineField.optional().describe('Why it happened'),
    impact: lineField.optional().describe('What it cost'),
    lesson: lineField.optional().describe('What is done differently now'),
    fix: lineField.optional().describe('How it was repaired'),
    rule: lineField.optional().describe('The rule that prevents it'),
    status: z
      .enum(['open', 'resolved', 'wontfix'])
      .default('resolved')
      .describe('resolved (default), open or wontfix'),
    tags: tagsField.optional().describe('Words to find it by'),
    project: projectField,
  }),
  output: loggedSchema,

  async run(input, context, { signal }) {
    const { agent, what_happened: happened, root_cause: cause, tags = [], project, ...told } = input;
    const { title, category, severity } = told;
    const who = agent === undefined ? undefined : await loggedAs(agent, context, project);
    const facts = await (await context.state(project)).facts();
    const failure = { ...told, agent: who, happened, cause, tags };
    const said = [title, happened, cause, told.lesson, told.rule].filter((each) => each !== undefined);
    const language = await facts.otherLanguage(said.join('. '));
    const spoken = language === undefined ? [] : [languageNote(language)];
    if (facts.keepsLines) {
      const memory = await context.memory(project);
      const { outcome, entry, notes } = await memory.remember(
        {
          type: 'failures',
          agent: who ?? 'team',
          text: await facts.failureText(failure),
          tags: [...new Set([severity, ...tags])],
        },
        signal,
      );
      const where = t`Kept as a memory in ${memory.place.folder}: the project has no museum of the kit.`;
      return { outcome, id: entry.id, text: title, files: [], notes: [where, ...notes, ...spoken] };
    }
    const { id, files, added, notes } = await facts.logFailure(failure);
    const traced = added
      ? await facts.trace(who ?? 'team', 'ERROR', `${category} — ${title}`)
      : { files: [], notes: [] };
    return {
      outcome: added ? ('created' as const) : ('unchanged' as const),
      ...(id === undefined ? {} : { id }),
      text: title,
      files: [...files, ...traced.files],
      notes: [...notes, ...traced.notes, ...spoken],
    };
  },
  render: (data) => logged('failure', data),
});
