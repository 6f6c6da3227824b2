import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fetchAhead } from './fetching.ts';
import { allInstalls } from './installs.ts';
import { scratchFolder } from './scratch.ts';
import { allTools } from './tools.ts';

/** One line for each recommended step that a test has taken. */
export const STEPS_TAKEN = 'steps-taken.txt';

function linesOf(file: string): number {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
}

/**
 * Tests of the programs run the real build; it is made here when it is missing or out of date. All temporary folders are
 * made in one, which goes away at the end: also those that a test leaves behind because it fails or asks too late.
 */
export default function setup(): (() => void) | undefined {
  // Every project of the tests comes by here; the first one does it for all.
  if (process.env['BMAD_TEST_FOLDER'] !== undefined) return undefined;
  execFileSync(process.execPath, ['scripts/ensure.mjs'], { stdio: ['ignore', 'inherit', 'inherit'] });
  const folder = realpathSync(mkdtempSync(join(scratchFolder(), 'bmad-tests-')));
  // Whoever names a part waits only for what it needs.
  if (process.argv.slice(2).every((word) => word === 'run')) fetchAhead([...allInstalls(), ...allTools()]);
  Object.assign(process.env, { BMAD_TEST_FOLDER: folder, TMPDIR: folder, TEMP: folder, TMP: folder });
  return () => {
    const steps = linesOf(join(folder, STEPS_TAKEN));
    if (steps > 0) process.stdout.write(`${steps} recommended steps were taken.\n`);
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    } catch {
      // A program that is still ending may write there; it says nothing about the tests.
    }
  };
}
