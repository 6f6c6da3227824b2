import * as z from 'zod';
import { intBetween, meta, PERSONAL, settingMeta, text } from './setting-meta.ts';

/** What git sources there are, and how they are looked after. */
export const gitSettings = {
  git: z
    .array(text)
    .default([])
    .describe(
      'Git repositories with BMAD content: git+https://host/org/repo.git#ref:/subpath. Sources from all configuration layers are used, in order.',
    )
    .register(
      settingMeta,
      meta('source', 'Git source of BMAD content (repeatable)', {
        gathers: true,
        bare: String.raw`^(?:git\+|[\w.-]+@[\w.-]+:(?!//))`,
      }),
    ),
  gitRefresh: intBetween(0, 100_000)
    .default(0)
    .describe(
      'How often a running server checks git sources for changes. 0: only when you run "bmad sources update".',
    )
    .register(settingMeta, meta('minutes', 'How often to check git sources', PERSONAL)),
  gitApproval: z
    .enum(['ask', 'auto'])
    .default('ask')
    .describe(
      'What to do when a git source changes: ask (serve it after "bmad sources approve") or auto (serve it immediately, unless a tag was moved or history was rewritten).',
    )
    .register(settingMeta, meta('ask|auto', 'Approval of changed git sources', PERSONAL)),
  gitTimeoutMs: intBetween(1_000, 3_600_000)
    .default(60_000)
    .describe('Time limit for one git step, such as fetching a repository.')
    .register(settingMeta, meta('ms', 'Time limit for git', PERSONAL)),
};
