import * as z from 'zod';
import { meta, settingMeta } from './setting-meta.ts';

/** Which tools a host is offered. */
export const toolSettings = {
  toolsets: names(
    ['bmad', 'project', 'memory'],
    'Tool sets to offer: bmad, workflows, agents, project, memory.',
    'Tool sets to offer',
  ),
  tools: names(
    [],
    'Additional tools to offer by name, whichever set they belong to.',
    'Additional tools to offer',
  ),
  excludeTools: names(
    [],
    'Tools never to offer, whatever other settings say, and operations of the tool bmad, such as search; "*" matches any part of a name.',
    'Tools never to offer',
    { restricts: true },
  ),
  prompts: z
    .enum(['auto', 'on', 'off'])
    .default('auto')
    .describe(
      'Prompts for agents and workflows: auto (without those that the host has as skills or commands itself), on or off.',
    )
    .register(settingMeta, meta('mode', 'Prompts: auto, on, off', { rare: true })),
  output: z
    .enum(['text', 'structured'])
    .default('text')
    .describe(
      'What a tool answers with: text, or structured: the same text, and its data for programs (structuredContent, with an outputSchema). Some hosts then show a model the data only.',
    )
    .register(settingMeta, meta('form', 'Answers: text, structured', { rare: true })),
  readOnly: z
    .boolean()
    .default(false)
    .describe('Refuse all writes, and do not offer tools that write.')
    .register(settingMeta, { binding: true, restricts: true, summary: 'Refuse all writes' }),
};

function names(usual: string[], description: string, summary: string, more: { restricts?: true } = {}) {
  return z
    .array(z.string())
    .default(usual)
    .describe(description)
    .register(settingMeta, meta('names', summary, { binding: true, rare: true, separator: ',', ...more }));
}
