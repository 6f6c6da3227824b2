import * as z from 'zod';
import { settingMeta } from './setting-meta.ts';

/** Which tools a host is offered. */
export const toolSettings = {
  toolsets: z
    .array(z.string())
    .default(['bmad', 'project', 'memory'])
    .describe('Tool sets to offer: bmad, workflows, agents, project, memory.')
    .register(settingMeta, {
      env: 'BMAD_TOOLSETS',
      flag: '--toolsets',
      placeholder: 'names',
      summary: 'Tool sets to offer',
      separator: ',',
      binding: true,
      rare: true,
    }),
  tools: z
    .array(z.string())
    .default([])
    .describe('Additional tools to offer by name, whichever set they belong to.')
    .register(settingMeta, {
      env: 'BMAD_TOOLS',
      flag: '--tools',
      placeholder: 'names',
      summary: 'Additional tools to offer',
      separator: ',',
      binding: true,
      rare: true,
    }),
  excludeTools: z
    .array(z.string())
    .default([])
    .describe('Tools never to offer, whatever other settings say; "*" matches any part of a name.')
    .register(settingMeta, {
      env: 'BMAD_EXCLUDE_TOOLS',
      flag: '--exclude-tools',
      placeholder: 'names',
      summary: 'Tools never to offer',
      separator: ',',
      binding: true,
      restricts: true,
      rare: true,
    }),
  readOnly: z
    .boolean()
    .default(false)
    .describe('Refuse all writes, and do not offer tools that write.')
    .register(settingMeta, {
      env: 'BMAD_READ_ONLY',
      flag: '--read-only',
      placeholder: '',
      summary: 'Refuse all writes',
      binding: true,
      restricts: true,
    }),
};
