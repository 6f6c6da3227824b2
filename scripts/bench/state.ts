import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { branchFile, kitState } from '../../tests/support/run-project.ts';
import { callTool } from './call-tool.ts';
import { withClient } from './client.ts';
import { cleanEnvironment, type Contender, type ToolCall } from './contenders.ts';
import { percentile } from './statistics.ts';

/** What much state costs, each measured in a project of its own. */
export interface StateGrowth {
  what: 'memories' | 'runs' | 'tasks';
  count: number;
  operation: string;
  firstMs: number;
  p50Ms: number;
  p95Ms: number;
}

type Say = (line: string) => void;

const CALLS = 40;
const RUNS = '_bmad-output/.runs/main';
const WORDS =
  'queue cache harbour schema payment retry index worker ledger tenant region shard token budget'.split(' ');

export async function measureState(
  ours: Contender,
  scratch: string,
  sizes: StateSizes,
  say: Say,
): Promise<StateGrowth[]> {
  const measured: StateGrowth[] = [];
  for (const count of sizes.memories) {
    say(`${count} memories`);
    const place = await placeFor(scratch, `memories-${count}`);
    await seedMemories(ours.args[0] ?? '', place, count);
    const recall = (round: number): ToolCall =>
      projectCall('recall_structured', { query: sentence(round, 4) }, '');
    measured.push({ what: 'memories', count, operation: 'recall', ...(await series(ours, place, recall)) });
  }
  for (const count of sizes.runs) {
    say(`${count} runs`);
    const place = await placeFor(scratch, `runs-${count}`);
    await seedRuns(place.folder, count);
    const open = (): ToolCall =>
      projectCall('manage_project', { action: 'run_open', args: { workflow: 'prd' } }, 'run');
    const status = (round: number): ToolCall =>
      projectCall('get_workflow_status', { run_id: runId(round * 7) }, runId(round * 7));
    measured.push({ what: 'runs', count, operation: 'run_open', ...(await series(ours, place, open)) });
    measured.push({
      what: 'runs',
      count,
      operation: 'status of one',
      ...(await series(ours, place, status)),
    });
  }
  return measured;
}

export interface StateSizes {
  memories: readonly number[];
  runs: readonly number[];
}

export const STATE_SIZES: StateSizes = { memories: [1_000, 10_000, 100_000], runs: [100, 1_000, 10_000] };

interface Place {
  folder: string;
  home: string;
}

async function placeFor(scratch: string, name: string): Promise<Place> {
  const [folder, home] = [join(scratch, name), join(scratch, `${name}-home`)];
  await mkdir(folder);
  await mkdir(home);
  return { folder, home };
}

function projectCall(name: string, args: Record<string, unknown>, expected: string): ToolCall {
  return { name, arguments: args, expected };
}

async function series(
  ours: Contender,
  { folder, home }: Place,
  call: (round: number) => ToolCall,
): Promise<Pick<StateGrowth, 'firstMs' | 'p50Ms' | 'p95Ms'>> {
  const program = {
    ...ours,
    args: [...ours.args, '--toolsets', 'project,memory'],
    folder,
    env: cleanEnvironment(home),
  };
  return withClient(program, async (client) => {
    await client.start();
    const times: number[] = [];
    for (let round = 0; round <= CALLS; round++)
      times.push((await callTool(client, call(round))).milliseconds);
    const [first = 0, ...later] = times;
    return { firstMs: first, p50Ms: percentile(later, 50), p95Ms: percentile(later, 95) };
  });
}

function sentence(seed: number, length: number): string {
  return Array.from({ length }, (_, index) => WORDS[(seed * 7 + index * (seed + 3)) % WORDS.length]).join(
    ' ',
  );
}

/** Through the command line, as a user brings memories from elsewhere. */
export async function seedMemories(server: string, { folder, home }: Place, count: number): Promise<void> {
  const file = join(home, 'memories.jsonl');
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      type: 'decisions',
      agent: 'architect',
      text: `Decision ${index}: ${sentence(index, 12)}, item ${index * 31}.`,
    }),
  );
  await writeFile(file, `${lines.join('\n')}\n`);
  const program = server.replace('bmad-mcp-server.cjs', 'bmad.cjs');
  const env = { ...cleanEnvironment(home), BMAD_MAX_FILE_BYTES: '100000000' };
  const { status, stderr } = spawnSync(process.execPath, [program, 'memory', 'import', file], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The memories could not be imported:\n${stderr}`);
}

const runId = (index: number): string =>
  `prd-202601${String((index % 28) + 1).padStart(2, '0')}-${100_000 + index}`;

export async function seedRuns(folder: string, count: number): Promise<void> {
  await mkdir(join(folder, '_bmad/_memory'), { recursive: true });
  await mkdir(join(folder, RUNS), { recursive: true });
  await writeFile(
    join(folder, '_bmad/_memory/config.yaml'),
    'output_folder: "{project-root}/_bmad-output"\n',
  );
  await writeFile(join(folder, RUNS, 'branch.json'), branchFile('main'));
  for (let index = 0; index < count; index++) {
    const place = join(folder, RUNS, runId(index));
    await mkdir(place);
    await writeFile(
      join(place, 'state.json'),
      kitState({ run_id: runId(index), status: 'completed', artefacts_produced: [] }),
    );
  }
}
