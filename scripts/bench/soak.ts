import { existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { callTool, withClient, type Client, type ToolCall } from './client.ts';
import { bmadCall, cleanEnvironment } from './contenders.ts';
import { editAgent, writeProject, madeWords } from './made-project.ts';
import { residentMebibytes } from './system.ts';
import { table } from './figures.ts';

/**
 * Whether one server stays as large as it was: `npm run bench:soak -- [calls] [an edit every so many calls]`. It is called and its
 * project edited again and again, every edit has to be in the next answer, and what it holds is noted on the way.
 */
const calls = Number(process.argv[2] ?? 100_000);
const editEvery = Number(process.argv[3] ?? 10);
const WORKFLOWS = 50;
const AGENTS = WORKFLOWS / 10;
const SAMPLES = 40;
/** Texts that are remembered again and again: a store that grows would be no leak. */
const TEXTS = 300;
/** What the second half may add, as a share of what there was at its middle. */
const TOLERATED = 0.05;

interface Sample {
  calls: number;
  rssMiB: number;
  heapMiB: number;
  handles: number;
}

const remember = (round: number): ToolCall => ({
  name: 'remember_structured',
  arguments: {
    type: 'decisions',
    agent: 'architect',
    text: `Part ${round % TEXTS}: ${madeWords(round % TEXTS, 9)}.`,
  },
  expected: 'id ',
});
const recall = (round: number): ToolCall => ({
  name: 'recall_structured',
  arguments: { query: madeWords(round, 3) },
  expected: '',
});
const agent = (round: number): string => `agent-${(round % AGENTS) * 10}`;

/** A turn of twenty calls, most of them of the kind that hosts make most. */
const TURN: readonly ((round: number) => ToolCall)[] = [
  ...Array.from({ length: 6 }, () => () => bmadCall({ operation: 'list', query: 'workflows' }, 'wf-0000')),
  ...Array.from(
    { length: 5 },
    () => (round: number) => bmadCall({ operation: 'read', agent: agent(round) }, 'Nina'),
  ),
  ...Array.from(
    { length: 4 },
    () => (round: number) =>
      bmadCall({ operation: 'execute', agent: agent(round), message: `Go ${round}` }, 'Nina'),
  ),
  ...Array.from(
    { length: 2 },
    () => (round: number) =>
      bmadCall({ operation: 'search', query: `something with the ${madeWords(round, 1)}` }, ''),
  ),
  recall,
  remember,
  () => bmadCall({ operation: 'next' }, ''),
];

/** Runs in the server: collects what is garbage when it gets the signal, and writes down what is left. */
const REPORTER = `process.on('SIGUSR2', () => {
  globalThis.gc();
  const { writeFileSync, renameSync } = require('node:fs');
  const file = process.env.SOAK_FILE;
  writeFileSync(file + '.part', String(process.memoryUsage().heapUsed));
  renameSync(file + '.part', file);
});`;

async function sample(client: Client, file: string, done: number): Promise<Sample> {
  process.kill(client.pid, 'SIGUSR2');
  while (!existsSync(file)) await setTimeout(5);
  const heapMiB = Number(await readFile(file, 'utf8')) / 1024 ** 2;
  await rm(file);
  const handles = readdirSync(`/proc/${client.pid}/fd`).length;
  return { calls: done, rssMiB: residentMebibytes(client.pid) ?? 0, heapMiB, handles };
}

/** By how much the second half grew, by the straight line that is nearest to its samples. */
function grown(samples: readonly Sample[], of: (one: Sample) => number): { by: number; share: number } {
  const half = samples.slice(Math.floor(samples.length / 2));
  const [xs, ys] = [half.map((one) => one.calls), half.map(of)];
  const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(xs), mean(ys)];
  const slope =
    xs.reduce((sum, at, index) => sum + (at - x) * ((ys[index] ?? 0) - y), 0) /
    xs.reduce((sum, at) => sum + (at - x) ** 2, 0);
  const by = slope * ((xs.at(-1) ?? 0) - (xs[0] ?? 0));
  return { by, share: by / y };
}

async function soak(client: Client, folder: string, file: string): Promise<Sample[]> {
  await client.start();
  const samples: Sample[] = [];
  let edits = 0;
  for (let done = 1; done <= calls; done += 1) {
    if (done % editEvery === 0) {
      edits += 1;
      const mark = `Edited for the ${edits}th time`;
      await editAgent(folder, (edits % AGENTS) * 10, mark);
      await callTool(client, bmadCall({ operation: 'list', query: 'agents' }, mark));
    } else {
      const call = TURN[done % TURN.length];
      if (call !== undefined) await callTool(client, call(done));
    }
    if (done % Math.ceil(calls / SAMPLES) !== 0) continue;
    const now = await sample(client, file, done);
    samples.push(now);
    process.stderr.write(
      `soak: ${done} calls, ${edits} edits, RSS ${now.rssMiB.toFixed(1)} MiB, heap ${now.heapMiB.toFixed(1)} MiB, ${now.handles} handles\n`,
    );
  }
  return samples;
}

const scratch = await mkdtemp(join(tmpdir(), 'bmad-soak-'));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
const [folder, home, reporter] = ['project', 'home', 'reporter.cjs'].map((name) => join(scratch, name)) as [
  string,
  string,
  string,
];
const file = join(scratch, 'heap');
await mkdir(home);
await writeFile(reporter, REPORTER);
await writeProject(folder, WORKFLOWS);
const samples = await withClient(
  {
    name: 'our server',
    args: ['--expose-gc', '--require', reporter, resolve('dist/bmad-mcp-server.cjs')],
    folder,
    env: { ...cleanEnvironment(home), SOAK_FILE: file },
  },
  (client) => soak(client, folder, file),
);
const rows = samples.map((one) => [
  String(one.calls),
  one.rssMiB.toFixed(1),
  one.heapMiB.toFixed(1),
  String(one.handles),
]);
process.stdout.write(`${table(['calls', 'RSS, MiB', 'heap after collecting, MiB', 'handles'], rows)}\n\n`);
let isFlat = true;
for (const [name, of] of [
  ['RSS', (one: Sample) => one.rssMiB],
  ['heap', (one: Sample) => one.heapMiB],
  ['handles', (one: Sample) => one.handles],
] as const) {
  const { by, share } = grown(samples, of);
  isFlat &&= share <= TOLERATED;
  process.stdout.write(`${name}: ${by.toFixed(2)} in the second half, ${(100 * share).toFixed(1)} %\n`);
}
process.stdout.write(
  `${isFlat ? 'Flat' : 'Not flat'}: ${calls} calls, ${Math.floor(calls / editEvery)} edits.\n`,
);
process.exitCode = isFlat ? 0 : 1;
