import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Tests of the programs run the real build; it is made here when it is missing or out of date. All temporary folders are
 * made in one, which goes away at the end: also those that a test leaves behind because it fails or asks too late.
 */
export default function setup(): (() => void) | undefined {
  // Every project of the tests comes by here; the first one does it for all.
  if (process.env['BMAD_TEST_FOLDER'] !== undefined) return undefined;
  execFileSync(process.execPath, ['scripts/ensure.mjs'], { stdio: ['ignore', 'inherit', 'inherit'] });
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bmad-tests-')));
  Object.assign(process.env, { BMAD_TEST_FOLDER: folder, TMPDIR: folder, TEMP: folder, TMP: folder });
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
