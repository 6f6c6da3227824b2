import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { NODES, nodeOf } from '../tests/support/tools.ts';
import { root } from './bundle.ts';

/**
 * Runs the tests on the other versions of Node, one after the other, and prints one line for each:
 * `test-nodes [VERSION…] [-- ARGUMENTS OF VITEST]`, where a version is the start of one, such as 24.
 */
const args = process.argv.slice(2);
const ours = args.filter((arg) => /^\d+(?:\.\d+)*$/.test(arg));
const forVitest = args.filter((arg) => arg !== '--' && !ours.includes(arg));
const versions = NODES.filter(
  (version) => ours.length === 0 || ours.some((start) => `${version}.`.startsWith(`${start}.`)),
);
if (versions.length === 0) {
  process.stderr.write(`There is ${NODES.join(', ')}.\n`);
  process.exitCode = 2;
}
const logs = join(root, '.cache', 'test-nodes');
await mkdir(logs, { recursive: true });

for (const version of versions) {
  const node = await nodeOf(version);
  const { code, output, seconds } = await tested(node);
  const log = join(logs, `${version}.log`);
  await writeFile(log, output);
  // The last line of a run, see tests/support/closing-line.ts.
  const count = /^\d+ passed, \d+ failed, \d+ skipped$/m.exec(output)?.[0] ?? 'no result';
  const where = code === 0 ? '' : `, exit code ${code}, see ${log}`;
  process.stdout.write(`Node ${version}: ${count} in ${seconds} s${where}\n`);
  if (code !== 0) process.exitCode = 1;
}

async function tested(node: string): Promise<{ code: number | null; output: string; seconds: number }> {
  const started = performance.now();
  const child = spawn(node, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...forVitest], {
    cwd: root,
    env: {
      ...process.env,
      // For tests that start "node" by its name.
      PATH: [dirname(node), process.env['PATH']].join(delimiter),
      NO_COLOR: '1',
      FORCE_COLOR: undefined,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, output, seconds: Math.round((performance.now() - started) / 1_000) };
}
