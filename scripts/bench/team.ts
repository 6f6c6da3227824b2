import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import pg from 'pg';
import { rememberStructured } from '../../src/operations/memory/remember.ts';
import { recallStructured } from '../../src/operations/memory/recall-structured.ts';
import { execute } from '../../src/operations/execute.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import type { Context } from '../../src/operations/context.ts';
import { stateMigrate, stateMove } from '../../src/operations/project/state-sharing.ts';
import { runCheckpoint, runOpen } from '../../src/operations/runs/run-operations.ts';
import { taskClaim } from '../../src/operations/tasks/task-work.ts';
import { spawnSubagentTask } from '../../src/operations/tasks/tasks.ts';
import { contextIn, testCall } from '../../tests/support/app.ts';
import { KIT_FILES, writeFiles } from '../../tests/support/kit-project.ts';
import { Cluster, postgresPrograms } from '../../tests/support/postgres.ts';
import { mean, percentile, shown } from './figures.ts';

/**
 * The same calls on files and on PostgreSQL, in turns in one run: `npm run bench:team -- [calls] [memories]`. Then a new
 * machine of a team with so many memories, and the move of that project there and back.
 */

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Statements that were sent to the database. */
let statements = 0;
const send = pg.Client.prototype.query;
pg.Client.prototype.query = function counted(this: pg.Client, ...args: never[]) {
  statements += 1;
  return (send as (...given: never[]) => never).apply(this, args);
};

const [calls = 100, memories = 10_000] = process.argv.slice(2).map(Number);

interface Figures {
  wall: number[];
  cpu: number[];
  asked: number[];
}

interface Side {
  name: string;
  context: Context;
  run_id: string;
  times: Map<string, Figures>;
}

async function ok(
  context: Context,
  operation: AnyOperation,
  input: unknown,
): Promise<Record<string, unknown>> {
  const outcome = await execute(operation, input, context, testCall());
  if (!outcome.ok) throw new Error(`${operation.name}: ${outcome.error.text}`);
  return outcome.data;
}

async function timed(side: Side, what: string, operation: AnyOperation, input: unknown): Promise<void> {
  const [began, cpu, before] = [performance.now(), process.cpuUsage(), statements];
  await ok(side.context, operation, input);
  const { user, system } = process.cpuUsage(cpu);
  const found = side.times.get(what) ?? { wall: [], cpu: [], asked: [] };
  side.times.set(what, found);
  found.wall.push(performance.now() - began);
  found.cpu.push((user + system) / 1_000);
  found.asked.push(statements - before);
}

const programs = postgresPrograms();
if (programs === undefined) throw new Error('There is no PostgreSQL here.');
const cluster = await Cluster.start(programs);
const work = await mkdtemp(join(tmpdir(), 'bmad-team-'));

async function machine(name: string, address?: string): Promise<Context> {
  const folder = join(work, name);
  await writeFiles(folder, KIT_FILES);
  const env = { PATH: process.env['PATH'] ?? '', ...(address === undefined ? {} : { BMAD_STATE: address }) };
  return contextIn(folder, { flags: { embedder: 'none' }, env });
}

async function sideOf(name: string, address?: string): Promise<Side> {
  const context = await machine(name, address);
  if (address !== undefined) await ok(context, stateMigrate, {});
  const { run } = (await ok(context, runOpen, { workflow: 'prd' })) as { run: { run_id: string } };
  return { name, context, run_id: run.run_id, times: new Map() };
}

const NOUNS = [
  'orders',
  'invoices',
  'carts',
  'refunds',
  'sessions',
  'prices',
  'stock',
  'taxes',
  'returns',
  'users',
];
const VERBS = ['are kept in', 'are written to', 'are read from', 'never leave', 'come from', 'wait in'];
const sentence = (at: number): string =>
  `All ${NOUNS[at % 10] ?? ''} of shop ${at} ${VERBS[at % 6] ?? ''} the store of region ${at % 97}, since decision ${at % 1_013}`;

async function inTurns(sides: readonly Side[]): Promise<void> {
  for (let at = 0; at < calls; at += 1)
    for (const each of at % 2 === 0 ? sides : sides.toReversed()) {
      const text = sentence(at);
      await timed(each, 'spawn', spawnSubagentTask, {
        agent: 'dev',
        task: `Look into it: ${text}`,
        output_key: `o${at}`,
      });
      await timed(each, 'claim', taskClaim, { worker: 'bench' });
      await timed(each, 'checkpoint', runCheckpoint, {
        run_id: each.run_id,
        step: (at % 7) + 1,
        notes: text,
      });
      await timed(each, 'remember', rememberStructured, { type: 'decisions', agent: 'architect', text });
      await timed(each, 'recall', recallStructured, { query: `${NOUNS[at % 10] ?? ''} region ${at % 97}` });
    }
}

function print(sides: readonly Side[]): void {
  say('| call | where | p50 ms | p95 ms | CPU ms of the server | statements |\n|---|---|---|---|---|---|');
  for (const what of sides[0]?.times.keys() ?? [])
    for (const { name, times } of sides) {
      const { wall, cpu, asked } = times.get(what) ?? { wall: [], cpu: [], asked: [] };
      const figures = [percentile(wall, 50), percentile(wall, 95), mean(cpu), mean(asked)];
      say(`| ${[what, name, ...figures.map(shown)].join(' | ')} |`);
    }
}

/** What a project with many memories costs when it moves, and a machine that has never seen it. */
async function many(): Promise<void> {
  const address = cluster.address(await cluster.database());
  const context = await machine('many');
  const { store } = await openedStore(context);
  for (let from = 0; from < memories; from += 1_000)
    await store(Array.from({ length: 1_000 }, (_, at) => sentence(from + at)));
  await ok(context, stateMigrate, { address });
  const measure = async (what: string, act: () => Promise<unknown>): Promise<void> => {
    const [began, cpu] = [performance.now(), process.cpuUsage()];
    await act();
    const { user, system } = process.cpuUsage(cpu);
    say(`${what}: ${shown(performance.now() - began)} ms, ${shown((user + system) / 1_000)} ms CPU`);
  };
  await measure('move to PostgreSQL', () => ok(context, stateMove, { to: address, apply: true }));
  context.close();
  const fresh = await machine('fresh', address);
  const asked = { query: 'invoices region 13' };
  await measure('first recall of a new machine', () => ok(fresh, recallStructured, asked));
  await measure('the next one', () => ok(fresh, recallStructured, asked));
  await measure('move to files', () => ok(fresh, stateMove, { to: 'files', apply: true }));
  fresh.close();
}

async function openedStore(context: Context) {
  const memory = await context.memory();
  return {
    store: (texts: readonly string[]) =>
      memory.imported(
        texts.map((text) => JSON.stringify({ type: 'decisions', agent: 'architect', text })).join('\n'),
        {},
        { signal: new AbortController().signal, progress: () => undefined },
      ),
  };
}

try {
  const sides = [
    await sideOf('files'),
    await sideOf('PostgreSQL', cluster.address(await cluster.database())),
  ];
  await inTurns(sides);
  print(sides);
  for (const { context } of sides) context.close();
  if (memories > 0) await many();
} finally {
  await cluster.remove();
  await rm(work, { recursive: true, force: true });
}
