import * as z from 'zod';
import { settingMeta } from './setting-meta.ts';

/** Which tools a host is offered. */
export const toolSettings = {
  toolsets: z
    .array(z.string())
    .default(['bmad', 'project', 'memory'])
    .describe('Sets of tools that are offered: bmad, workflows, agents, project, memory.')
    .register(settingMeta, {
      env: 'BMAD_TOOLSETS',
      flag: '--toolsets',
      placeholder: 'names',
      summary: 'Sets of tools offered',
      separator: ',',
      binding: true,
      rare: true,
    }),
  tools: z
    .array(z.string())
    .default([])
    .describe('Further tools that are offered, by name, whatever set they belong to.')
    .register(settingMeta, {
      env: 'BMAD_TOOLS',
      flag: '--tools',
      placeholder: 'names',
      summary: 'Further tools offered',
      separator: ',',
      binding: true,
      rare: true,
    }),
  excludeTools: z
    .array(z.string())
    .default([])
    .describe('Tools that are not offered, whatever else says so; "*" stands for any part of a name.')
    .register(settingMeta, {
      env: 'BMAD_EXCLUDE_TOOLS',
      flag: '--exclude-tools',
      placeholder: 'names',
      summary: 'Tools that are not offered',
      separator: ',',
      binding: true,
      restricts: true,
      rare: true,
    }),
  readOnly: z
    .boolean()
    .default(false)
    .describe('Refuse everything that writes, and offer no tool that does.')
    .register(settingMeta, {
      env: 'BMAD_READ_ONLY',
      flag: '--read-only',
      placeholder: '',
      summary: 'Refuse everything that writes',
      binding: true,
      restricts: true,
    }),
};
