import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import process from 'node:process';

/**
 * Every check that needs no tests, the longest first; each prints what it has to say when it has ended. The types are
 * checked by the lint, which has them at hand.
 */
const CHECKS: readonly (readonly [script: string, ...args: string[]])[] = [
  ['lint'],
  ['docs', '--check', '--no-transcripts'],
  ['unused'],
  ['french'],
  ['english'],
  ['lists', '--check'],
  ['format', '--check'],
];

function run([script, ...args]: readonly [string, ...string[]]): Promise<boolean> {
  const words = ['run', '--silent', script, ...(args.length === 0 ? [] : ['--', ...args])];
  // On Windows npm is a script, which only a shell starts.
  const child = spawn('npm', words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  const said: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk));
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('close', (code) => {
      process.stdout.write(
        `${code === 0 ? 'passed' : 'FAILED'}  ${script}\n${Buffer.concat(said).toString('utf8')}`,
      );
      resolve(code === 0);
    });
  });
}

const waiting = [...CHECKS];
async function worker(): Promise<void> {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift())
    if (!(await run(check))) process.exitCode = 1;
}
await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, worker));
