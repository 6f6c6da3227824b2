import * as z from 'zod';
import { settingMeta } from './setting-meta.ts';

/** What git sources there are, and how they are looked after. */
export const gitSettings = {
  git: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Git repositories with BMAD content: git+https://host/org/repo.git#ref:/subpath. Sources from all configuration layers are used, in order.',
    )
    .register(settingMeta, {
      env: 'BMAD_GIT',
      flag: '--git',
      placeholder: 'source',
      gathers: true,
      bare: String.raw`^(?:git\+|[\w.-]+@[\w.-]+:(?!//))`,
      summary: 'Git source of BMAD content (repeatable)',
    }),
  gitRefresh: z
    .int()
    .min(0)
    .max(100_000)
    .default(0)
    .describe(
      'How often a running server checks git sources for changes. 0: only when you run "bmad sources update".',
    )
    .register(settingMeta, {
      env: 'BMAD_GIT_REFRESH',
      personal: true,
      flag: '--git-refresh',
      rare: true,
      placeholder: 'minutes',
      summary: 'How often to check git sources',
    }),
  gitApproval: z
    .enum(['ask', 'auto'])
    .default('ask')
    .describe(
      'What to do when a git source changes: ask (serve it after "bmad sources approve") or auto (serve it immediately, unless a tag was moved or history was rewritten).',
    )
    .register(settingMeta, {
      env: 'BMAD_GIT_APPROVAL',
      personal: true,
      flag: '--git-approval',
      rare: true,
      placeholder: 'ask|auto',
      summary: 'Approval of changed git sources',
    }),
  gitTimeoutMs: z
    .int()
    .min(1_000)
    .max(3_600_000)
    .default(60_000)
    .describe('Time limit for one git step, such as fetching a repository.')
    .register(settingMeta, {
      env: 'BMAD_GIT_TIMEOUT_MS',
      personal: true,
      flag: '--git-timeout-ms',
      rare: true,
      placeholder: 'ms',
      summary: 'Time limit for git',
    }),
};
