import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The hosts that tests run, from npm, in exact versions. */
export const HOST_PACKAGES = {
  claudeCode: ['@anthropic-ai/claude-code', '2.1.325'],
  codex: ['@openai/codex', '0.166.0'],
  geminiCli: ['@google/gemini-cli', '0.61.0'],
  opencode: ['opencode-ai', '1.18.18'],
  mcporter: ['mcporter', '0.12.3'],
} as const;

/** The folder that a package of others is kept in. */
export const keptIn = (name: string, version: string): string =>
  join('.cache/tools', `${name.replace('/', '+')}-${version}`);

/**
 * Whether real hosts take part in a run of all tests. They are 1.3 GB on disk, and to fetch them takes longer than most
 * tests: they do where they have been fetched before, or where BMAD_TEST_HOSTS asks for it.
 */
export function hostsTakePart(folder: string, wish = process.env['BMAD_TEST_HOSTS']): boolean {
  if (wish === 'none') return false;
  return (
    wish === 'all' ||
    Object.values(HOST_PACKAGES).every(([name, version]) => existsSync(join(folder, keptIn(name, version))))
  );
}

/** Said at the end of a run without them. */
export const HOSTS_LEFT_OUT =
  'REAL HOSTS WERE NOT TESTED: they are not in .cache/tools. "npm run test:hosts", or BMAD_TEST_HOSTS=all, fetches them (500 MB).';
