import * as z from 'zod';
import { meta, settingMeta } from './setting-meta.ts';

/** Which of the modules that come with the server are shown without being asked for. */
export const moduleSettings = {
  modules: z
    .array(z.string().regex(/^[A-Za-z][\w-]{0,63}$/, 'Use codes of modules, such as tea.'))
    .max(50)
    .default(['core', 'bmm'])
    .describe(
      'Built-in modules that lists and prompts show: core and bmm always, others by code (tea), or "all". The rest is found by name and search; "only" switches it off.',
    )
    .register(settingMeta, meta('codes', 'Built-in modules to show', { rare: true, separator: ',' })),
};
