import { spawn } from 'node:child_process';
import process from 'node:process';

/** Everything that is generated and kept in git. A part that fails does not keep the others from being written. */
const PARTS: readonly (readonly [what: string, ...command: string[]])[] = [
  ['lists of operations', 'tsx', 'scripts/operation-lists.ts'],
  ['formatting', 'oxfmt'],
  ['sizes of the rooms', 'tsx', 'scripts/rooms.ts'],
  ['the build', 'node', 'scripts/ensure.mjs'],
  ['surface snapshots, OpenAPI included', 'vitest', 'run', 'tests/surface', '-u'],
  ['reference, figures and transcripts', 'tsx', 'scripts/docs.ts'],
];

function run([program = '', ...args]: readonly string[]): Promise<boolean> {
  // npm puts node_modules/.bin on the PATH; on Windows only a shell finds the programs in it.
  const child = spawn(program, args, { stdio: 'inherit', shell: process.platform === 'win32' });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
}

const report: string[] = [];
for (const [what, ...command] of PARTS) {
  const good = await run(command);
  report.push(`${good ? 'written' : 'FAILED '}  ${what}`);
  if (!good) process.exitCode = 1;
}
process.stdout.write(`\n${report.join('\n')}\nRead the difference before you commit it.\n`);
