import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { callTool, withClient, type ToolCall } from './client.ts';
import { bmadCall, cleanEnvironment, type Contender } from './contenders.ts';
import { madeWords, realSentence } from './made-project.ts';
import { runId, seedEverything, seedMemories, seedRuns, seedTasks, type Place } from './seeds.ts';
import { percentile } from './figures.ts';
import { atRest, processorMilliseconds, residentMebibytes } from './system.ts';

/** What one operation costs beside much state. */
export interface StateGrowth {
  what: StateKind;
  count: number;
  operation: string;
  /** At once after the start, while the server still loads what first calls need. */
  firstMs: number;
  /** The first call of a server that has done so, as when a model has thought before it; the others follow it. */
  restedMs: number;
  p50Ms: number;
  p95Ms: number;
  /** Of the server's processors, for the call at rest, and the mean of the others. */
  restedCpuMs: number;
  cpuMs: number;
  /** Of the server after these calls. */
  rssMiB: number | undefined;
}

type StateKind = 'memories' | 'runs' | 'tasks' | 'everything';

export const STATE_SIZES: readonly (readonly [StateKind, number])[] = [
  ['memories', 1_000],
  ['memories', 10_000],
  ['memories', 100_000],
  ['runs', 100],
  ['runs', 1_000],
  ['runs', 10_000],
  ['tasks', 100],
  ['tasks', 1_000],
  ['tasks', 10_000],
  ['everything', 10_000],
];

const CALLS = 40;

const seeds: Record<StateKind, (ours: Contender, place: Place, count: number) => Promise<void>> = {
  memories: (ours, place, count) => seedMemories(ours.args[0] ?? '', place, count),
  runs: (_ours, place, count) => seedRuns(place.folder, count),
  tasks: (ours, place, count) => seedTasks(withTools(ours, place), place, count),
  everything: (_ours, place, count) => seedEverything(place.folder, count),
};

const managed = (action: string, args: Record<string, unknown>, expected: string): ToolCall => ({
  name: 'manage_project',
  arguments: { action, args },
  expected,
});

type Operations = Record<string, (round: number) => ToolCall>;

const operations: Record<StateKind, Operations> = {
  memories: {
    recall: (round) => ({
      name: 'recall_structured',
      arguments: { query: realSentence(round).split(' ').slice(-6).join(' ') },
      expected: 'Decision',
    }),
    remember: (round) => ({
      name: 'remember_structured',
      arguments: {
        type: 'decisions',
        agent: 'architect',
        text: `Part ${round} is new: ${realSentence(round + 5_000)}`,
      },
      expected: 'id ',
    }),
  },
  runs: {
    run_open: () => managed('run_open', { workflow: 'prd' }, 'run'),
    'status of one': (round) => ({
      name: 'get_workflow_status',
      arguments: { run_id: runId(round * 2) },
      expected: runId(round * 2),
    }),
    list_sessions: () => ({ name: 'list_sessions', arguments: {}, expected: '' }),
  },
  tasks: {
    'task claim': () => managed('task_claim', {}, 'claim '),
    'task list': () => managed('task_list', {}, 'task-'),
  },
  /** Runs that are finished, sessions, failures and receipts, all in one project. */
  everything: {
    list_sessions: () => ({ name: 'list_sessions', arguments: {}, expected: 'main' }),
    get_failure_museum: () => ({ name: 'get_failure_museum', arguments: {}, expected: 'failures' }),
    log_failure: (round) =>
      managed(
        'log_failure',
        { title: `Round ${round}: ${madeWords(round, 5)}`, category: 'CC-FAIL', severity: 'important' },
        'Failure',
      ),
    run_completion_contract: () => ({ name: 'run_completion_contract', arguments: {}, expected: 'PASS' }),
    list_receipts: () => managed('list_receipts', {}, 'cc-'),
    next: () => bmadCall({ operation: 'next' }, 'next'),
  },
};

/** Every operation of a kind of state in one project that has so much of it, each in a server of its own. */
export async function measureState(
  ours: Contender,
  scratch: string,
  what: StateKind,
  count: number,
): Promise<StateGrowth[]> {
  const [folder, home] = [join(scratch, `${what}-${count}`), join(scratch, `${what}-${count}-home`)];
  await mkdir(folder);
  await mkdir(home);
  const place = { folder, home };
  await seeds[what](ours, place, count);
  const measured: StateGrowth[] = [];
  for (const [operation, call] of Object.entries(operations[what]))
    measured.push({ what, count, operation, ...(await series(withTools(ours, place), call)) });
  return measured;
}

const withTools = (ours: Contender, { folder, home }: Place): Contender => ({
  ...ours,
  args: [...ours.args, '--toolsets', 'bmad,project,memory', '--trust', 'always'],
  folder,
  env: cleanEnvironment(home),
});

async function series(
  program: Contender,
  call: (round: number) => ToolCall,
): Promise<Omit<StateGrowth, 'what' | 'count' | 'operation'>> {
  const firstMs = await withClient(program, async (client) => {
    await client.start();
    return (await callTool(client, call(CALLS + 1))).milliseconds;
  });
  return withClient(program, async (client) => {
    await client.start();
    await atRest(client);
    const [times, used]: [number[], number[]] = [[], []];
    for (let round = 0; round <= CALLS; round++) {
      const before = processorMilliseconds(client.pid);
      times.push((await callTool(client, call(round))).milliseconds);
      used.push(processorMilliseconds(client.pid) - before);
    }
    const [restedMs = 0, ...later] = times;
    const [restedCpuMs = 0, ...cpu] = used;
    return {
      firstMs,
      restedMs,
      p50Ms: percentile(later, 50),
      p95Ms: percentile(later, 95),
      restedCpuMs,
      cpuMs: cpu.reduce((sum, one) => sum + one, 0) / cpu.length,
      rssMiB: residentMebibytes(client.pid),
    };
  });
}
