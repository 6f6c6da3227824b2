import * as z from 'zod';
import { settingMeta } from './setting-meta.ts';

/** Which tools a host is offered. */
export const toolSettings = {
  toolsets: z
    .array(z.string())
    .default(['bmad', 'project', 'memory'])
    .describe('Tool sets to offer: bmad, workflows, agents, project, memory.')
    .register(settingMeta, {
      binding: true,
      rare: true,
      placeholder: 'names',
      summary: 'Tool sets to offer',
      separator: ',',
    }),
  tools: z
    .array(z.string())
    .default([])
    .describe('Additional tools to offer by name, whichever set they belong to.')
    .register(settingMeta, {
      binding: true,
      rare: true,
      placeholder: 'names',
      summary: 'Additional tools to offer',
      separator: ',',
    }),
  excludeTools: z
    .array(z.string())
    .default([])
    .describe('Tools never to offer, whatever other settings say; "*" matches any part of a name.')
    .register(settingMeta, {
      binding: true,
      restricts: true,
      rare: true,
      placeholder: 'names',
      summary: 'Tools never to offer',
      separator: ',',
    }),
  readOnly: z
    .boolean()
    .default(false)
    .describe('Refuse all writes, and do not offer tools that write.')
    .register(settingMeta, { binding: true, restricts: true, summary: 'Refuse all writes' }),
};
