import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { PERSONAL, settingMeta, text } from './setting-meta.ts';

/** Words that stand for a rule instead of a folder. */
const RULES = new Set(['ask', 'always', 'never']);

const isRuleOrFolders = (given: readonly string[]): boolean =>
  given.every((entry) => !RULES.has(entry) && isAbsolute(entry)) ||
  (given.length === 1 && RULES.has(given[0] ?? ''));

/**
 * Whose programs run. Both are personal and binding: a project must not trust itself, and an ignored value could leave more
 * allowed than was meant.
 */
export const trustSettings = {
  trust: z
    .array(text)
    .refine(isRuleOrFolders, 'Use ask, always or never, or absolute paths of folders.')
    .default(['ask'])
    .describe(
      'Whose programs a completion contract may run: ask (a person allows each project once, and again when what it runs changes), always, never, or a list of folders whose projects may.',
    )
    .register(settingMeta, {
      ...PERSONAL,
      binding: true,
      placeholder: 'rule',
      summary: 'Projects whose programs may run',
    }),
  trustProject: z
    .boolean()
    .default(false)
    .describe('Let the programs of this project run without asking, for CI.')
    .register(settingMeta, { ...PERSONAL, binding: true, summary: 'Run this project’s programs unasked' }),
};
