import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { NODES, nodeOf } from '../../tests/support/tools.ts';
import { budgetsOf, type Results } from './budgets.ts';
import { CODE_FILES, measureCode } from './code.ts';
import { measureGrowth, SIZES } from './growth.ts';
import { measureFairness, measureLoad } from './load.ts';
import { measureJourneys } from './journeys.ts';
import { cleanEnvironment, prepareContenders, type Contender } from './contenders.ts';
import { measureStarts, measureWarmCalls } from './measure.ts';
import { textOf, writeDocument } from './report.ts';
import { measureState, STATE_SIZES } from './state.ts';

const HELP = `Measures the built server beside a published peer and a bare server on the same SDK.

Usage: npm run bench -- [flags]

  --starts N   Starts of each contender (default 15; one more is made first and not counted)
  --calls N    Warm calls of each operation and contender (default 300)
  --brisk      Half as many starts, a third of the calls, and of what grows the sizes that budgets are about:
               some ten minutes on two quiet cores
  --quick      Leave out what grows with the size of a project or its state, which takes minutes
  --write      Also write docs/benchmarks.md
  --json FILE  Also write all figures to this file
  --no-build   Measure dist/ as it is, instead of bringing it up to date first
  --help       Print this text

The contenders take turns in a random order, so that other load on the machine hits all of them. The first
run fetches the peer with npm; without it, what is compared with it is not measured. Progress goes to stderr,
the report to stdout. A part that fails is reported, and the others are measured all the same. The exit code is 0
if every budget that was measured holds, 1 if one does not or a part failed, and 2 if the benchmark itself could not run.
`;

const NEWER_NODE = NODES[1];
const root = fileURLToPath(new URL('../..', import.meta.url));

interface Options {
  starts: number;
  calls: number;
  json: string | undefined;
  quick: boolean;
  brisk: boolean;
  write: boolean;
  build: boolean;
}

class UsageError extends Error {}

function optionsFrom(args: string[]): Options | 'help' {
  let values;
  try {
    ({ values } = parseArgs({
      args,
      options: {
        starts: { type: 'string' },
        calls: { type: 'string' },
        json: { type: 'string' },
        quick: { type: 'boolean', default: false },
        brisk: { type: 'boolean', default: false },
        write: { type: 'boolean', default: false },
        'no-build': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }));
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  if (values.help) return 'help';
  return {
    starts: countFrom('--starts', values.starts ?? (values.brisk ? '7' : '15')),
    calls: countFrom('--calls', values.calls ?? (values.brisk ? '100' : '300')),
    json: values.json,
    quick: values.quick,
    brisk: values.brisk,
    write: values.write,
    build: !values['no-build'],
  };
}

function countFrom(flag: string, text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) {
    throw new UsageError(`${flag} takes a whole number from 1, not ${JSON.stringify(text)}.`);
  }
  return count;
}

function say(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}

/** The build's own output goes to stderr, so that stdout holds nothing but the report. */
function bringUpToDate(): void {
  say('bringing the build up to date');
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'ensure.mjs')], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) {
    throw new Error('The build failed (see above). With --no-build, dist/ is measured as it is.');
  }
}

/** A part of the benchmark that could not be measured, and what it said. */
interface Failure {
  part: string;
  reason: string;
}

/** Runs one part after the other: one that fails is reported, and the others are measured all the same. */
class Parts {
  readonly failures: Failure[] = [];
  /** Seconds that each part took. */
  readonly took: [part: string, seconds: number][] = [];

  async measured<T>(part: string, work: () => Promise<T>): Promise<T | undefined> {
    say(part);
    const began = performance.now();
    try {
      return await work();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      say(`${part} could not be measured: ${reason}`);
      this.failures.push({ part, reason });
      return undefined;
    } finally {
      this.took.push([part, Math.round((performance.now() - began) / 1000)]);
    }
  }

  /** The same for several sizes of one thing. */
  async each<S, T>(
    sizes: readonly S[],
    partOf: (size: S) => string,
    work: (size: S) => Promise<T>,
  ): Promise<T[]> {
    const all: T[] = [];
    for (const size of sizes) {
      const one = await this.measured(partOf(size), () => work(size));
      if (one !== undefined) all.push(one);
    }
    return all;
  }
}

async function run({ starts, calls, json, quick, brisk, write, build }: Options): Promise<void> {
  if (build) bringUpToDate();
  const server = join(root, 'dist', 'bmad-mcp-server.cjs');
  if (!existsSync(server)) throw new Error(`There is no ${server}. Run it without --no-build.`);
  const scratch = await mkdtemp(join(tmpdir(), 'bmad-bench-'));
  // Not in a `finally`, which an interrupted run would never come to.
  process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
  const places = {
    root,
    cache: join(root, '.cache', 'bench'),
    empty: join(scratch, 'empty'),
    home: join(scratch, 'home'),
    documents: join(scratch, 'documents'),
  };
  await mkdir(places.empty);
  await mkdir(places.home);
  await mkdir(places.documents);
  const { contenders, ours, peer } = await prepareContenders(places, say);
  const parts = new Parts();
  const results: Results = {
    starts: (await parts.measured('starts', () => measureStarts(contenders, starts, say))) ?? {},
    warm: (await parts.measured('warm calls', () => measureWarmCalls(contenders, calls, say))) ?? {},
    newer: await parts.measured(`Node ${NEWER_NODE}`, () =>
      measureNewer(contenders, join(scratch, 'newer'), Math.ceil(starts / 3), Math.ceil(calls / 3)),
    ),
    context: await parts.measured('journeys', () =>
      measureJourneys(ours, { content: join(root, 'dist', 'content'), root, project: places.documents }),
    ),
    growth: await parts.each(
      quick ? SIZES.slice(0, 2) : brisk ? SIZES.filter((size) => size !== 500) : SIZES,
      (size) => `a project with ${size} workflows`,
      (size) => measureGrowth(ours, scratch, size),
    ),
    state: (
      await parts.each(
        quick ? [] : brisk ? STATE_SIZES.filter(([, count]) => count >= 10_000) : STATE_SIZES,
        ([what, count]) => `${count} ${what}`,
        ([what, count]) => measureState(ours, scratch, what, count),
      )
    ).flat(),
    code: quick
      ? undefined
      : await parts.measured(`${CODE_FILES} files of code`, () => measureCode(ours, scratch, CODE_FILES)),
    fairness: quick
      ? undefined
      : await parts.measured('one caller beside another', () => measureFairness(ours, scratch)),
    load: quick ? undefined : await parts.measured('many callers', () => measureLoad(ours, scratch)),
  };
  const budgets = budgetsOf(results);
  const about = [
    `${availableParallelism()} cores, Node ${process.version}`,
    `Peer: ${peer ?? 'not measured, npm could not fetch it'}`,
    `${starts} starts and ${calls} warm calls of each, in turns`,
    ...parts.failures.map(({ part }) => `Could not be measured this time: ${part}`),
  ];
  process.stdout.write(`# Benchmark\n\n${textOf(about, results, budgets)}`);
  if (write) await writeDocument(join(root, 'docs'), about, results, budgets);
  const { took, failures } = parts;
  if (json !== undefined) {
    await writeFile(
      resolve(json),
      `${JSON.stringify({ about, ...results, budgets, took, failures }, null, 2)}\n`,
    );
  }
  say(`took ${took.map(([part, seconds]) => `${part}: ${seconds} s`).join(', ')}`);
  process.exitCode = failures.length > 0 || budgets.some(({ verdict }) => verdict === 'fail') ? 1 : 0;
}

/** The same contenders on a newer Node, with a home of their own: another Node keeps its state in another way. */
async function measureNewer(
  contenders: readonly Contender[],
  home: string,
  starts: number,
  calls: number,
): Promise<NonNullable<Results['newer']>> {
  const node = await nodeOf(NEWER_NODE);
  await mkdir(home);
  const env = cleanEnvironment(home);
  const newer = contenders.map((contender) => ({ ...contender, node, env }));
  return {
    node: `Node v${NEWER_NODE}`,
    starts: await measureStarts(newer, starts, say),
    warm: await measureWarmCalls(newer, calls, say),
  };
}

// A call that fails beside another one that has failed is no more news than the first.
process.on('unhandledRejection', (error) => say(`also: ${String(error)}`));

try {
  const options = optionsFrom(process.argv.slice(2));
  if (options === 'help') process.stdout.write(HELP);
  else await run(options);
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  if (error instanceof UsageError) process.stderr.write('bench: --help lists the flags.\n');
  process.exitCode = 2;
}
