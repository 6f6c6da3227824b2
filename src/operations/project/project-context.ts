import * as z from 'zod';
import { t } from '../../base/text/message.ts';
import { whereField } from '../fields.ts';
import { lines } from '../answer-text.ts';
import { defineOperation } from '../operation.ts';
import { contextSchema, contextText, moreDecisions, SECTIONS } from './project-context-text.ts';

export type { ContextData } from './project-context-text.ts';

export const getProjectContext = defineOperation({
  name: 'get_project_context',
  title: 'Project context',
  description:
    'Ask what this project is before you work in it: its tech stack, agents, open requests, decisions, architecture and last session.',
  effect: 'read',
  toolset: 'project',
  command: 'project context',
  positional: ['section'],
  examples: ['project context', 'project context decisions'],
  input: z.strictObject({ section: z.enum(SECTIONS).optional(), project: whereField }),
  output: contextSchema,

  async run({ section }, context, call) {
    const { contextData } = await import('./project-context-data.ts');
    return contextData(section ?? 'all', context, call);
  },

  render: (data) => ({
    body: contextText(data, data.section === 'all'),
    steps: moreDecisions(data),
    ...(data.warnings.length === 0 ? {} : { note: lines(data.warnings.map((each) => t`Warning: ${each}`)) }),
  }),
});
