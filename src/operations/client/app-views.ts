import * as z from 'zod';
import { oneLine } from '../../base/text/text.ts';
import { present } from '../../base/values.ts';
import { projectField } from '../fields.ts';
import { defineOperation, defineRoute } from '../operation.ts';

/** What hosts show that can show more than text. The text of each answer is whole: models read it, and every other host. */

const whatField = z
  .enum(['agents', 'workflows', 'tasks', 'modules'])
  .optional()
  .describe('What to list: agents, workflows, tasks or modules');
const queryField = z.string().trim().min(1).max(2_000).optional().describe('Words to search for');

export const showBoard = defineRoute({
  name: 'show_board',
  title: 'Show the board',
  description: 'Show the user how far along the project is and the next steps, as a board with buttons.',
  effect: 'read',
  serves: 'apps',
  input: z.strictObject({ project: projectField }),
  output: z.object({}),
  route: ({ project }) => ({ to: 'next', args: present({ project }) }),
});

export const showCatalogue = defineRoute({
  name: 'show_catalogue',
  title: 'Show the catalogue',
  description: 'Show the user the agents and workflows there are, to browse, search and start.',
  effect: 'read',
  serves: 'apps',
  input: z.strictObject({ what: whatField, query: queryField, project: projectField }),
  output: z.object({}),
  route: ({ what, query, project }) => catalogueRoute({ what, query, project }),
});

/** What the app itself reads: the same as data, which only it is shown. */
export const appData = defineRoute({
  name: 'app_data',
  title: 'Data of the app',
  description: 'What the board or the catalogue shows, as JSON.',
  effect: 'read',
  serves: 'apps',
  input: z.strictObject({
    view: z.enum(['board', 'catalogue']).describe('What is shown: board or catalogue'),
    what: whatField,
    query: queryField,
    cursor: z.string().max(2_000).optional().describe('The next part of a list'),
    project: projectField,
  }),
  output: z.object({}),
  route: ({ view, what, query, cursor, project }) =>
    view === 'board'
      ? { to: 'next', args: present({ detail: 'full', project }) }
      : catalogueRoute({ what, query, cursor, project }),
});

function catalogueRoute({ what = 'agents', query, ...rest }: Partial<Record<string, string | undefined>>) {
  return query === undefined
    ? { to: 'list', args: present({ what, ...rest }) }
    : { to: 'search', args: present({ query, ...rest }) };
}

const MOST_EVIDENCE = 10;
const optionField = z.string().trim().min(1).max(300);

export const askDecision = defineOperation({
  name: 'ask_decision',
  title: 'Ask for a decision',
  description:
    'Show the user one question with two to four options, your recommendation and its evidence, and wait for the answer in the conversation. It approves nothing.',
  effect: 'read',
  serves: 'apps',
  input: z.strictObject({
    question: z.string().trim().min(1).max(500).describe('The question, in one sentence'),
    options: z.array(optionField).min(2).max(4).describe('Two to four answers to choose from'),
    recommendation: optionField.optional().describe('The option you recommend, as in options'),
    why: z.string().trim().max(1_000).optional().describe('Why you recommend it'),
    evidence: z
      .array(z.string().trim().min(1).max(300))
      .max(MOST_EVIDENCE)
      .default([])
      .describe('What speaks for it, e.g. "docs/prd.md:12 prices include tax"'),
  }),
  output: z.object({
    question: z.string(),
    options: z.array(z.string()),
    recommendation: z.string().optional(),
    why: z.string().optional(),
    evidence: z.array(z.string()),
  }),
  async run({ question, options, recommendation, why, evidence }) {
    // A recommendation that is no option is words about one.
    const known = options.find((option) => option === recommendation);
    return { question, options, ...present({ recommendation: known, why }), evidence };
  },
  render: ({ question, options, recommendation, why, evidence }) => ({
    body: [
      question,
      '',
      ...options.map(
        (option, index) =>
          `${'ABCD'[index] ?? ''}. ${option}${option === recommendation ? ' (recommended)' : ''}`,
      ),
      ...(why === undefined ? [] : ['', `Why: ${oneLine(why, 1_000)}`]),
      ...(evidence.length === 0 ? [] : ['', ...evidence.map((each) => `- ${oneLine(each, 300)}`)]),
    ].join('\n'),
    note: 'Put this to the user and wait for the answer; do not choose for them. The answer approves nothing: tasks, sources, deliveries and programs are approved by a person with "bmad page" or in a terminal.',
  }),
});
