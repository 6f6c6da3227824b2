import { say, t } from '../../base/text/message.ts';
import { join } from 'node:path';
import { expected } from '../../base/errors.ts';
import { pathExists, readInside } from '../../base/files/files.ts';
import { isBelow, upwards } from '../../base/files/open-file.ts';
import { allowedByPerson, findForProject } from '../../base/files/find-program.ts';
import { runWatched } from '../../base/process/process.ts';
import {
  hasTestsOf,
  KIT_STACKS,
  kitStackOf,
  listForStacks,
  neededFor,
  STACK_MARKS,
  stacksIn,
  type KitStack,
} from '../../kit/stacks.ts';
import type { OutputKeeper } from './output.ts';
import { PLANS, type Lack, type PlannedCommand, type Surroundings } from './plans.ts';
import { contractEnvironment, type RunRequest, type RunResult } from './run.ts';
import { ADD_TESTS, MORE_TIME, type Status, type Step } from './verdict.ts';

/** Raised whenever the commands change, or what they have to show for a PASS, so that a receipt says what it stands for. */
export const BUILTIN_VERSION = 2;

const FILE_BYTES = 5_000_000;

export type PlanRequest = Pick<RunRequest, 'root' | 'folder' | 'place' | 'stack' | 'env' | 'platform'>;

interface Plan {
  stacks: KitStack[];
  /** What a stack is called here: the kit takes JavaScript for TypeScript. */
  called(stack: string): string;
  commands: PlannedCommand[];
  lacks: Lack[];
}

/** The usual commands of the stacks that are found in a folder. */
export async function planBuiltin(request: PlanRequest): Promise<Plan> {
  const { root, folder, stack } = request;
  const listing = await listForStacks(root, folder);
  const detected = stacksIn(listing);
  const marked = detected.flatMap((each) => kitStackOf(each) ?? []);
  const tested = KIT_STACKS.filter((name) => hasTestsOf(name, listing));
  // Tests alone are enough for who names their stack, and where there is nothing else to go by.
  const found = marked.length === 0 ? tested : marked;
  const stacks =
    stack === undefined ? found : [...new Set([...marked, ...tested])].filter((name) => name === stack);
  const around = surroundings(request, listing);
  const commands: PlannedCommand[] = [];
  const lacks: Lack[] = [];
  for (const name of stacks) {
    const plan = await PLANS[name](around);
    commands.push(...plan.commands);
    lacks.push(...plan.lacks);
  }
  const called = (name: string): string => detected.find((each) => kitStackOf(each) === name)?.name ?? name;
  return { stacks, called, commands, lacks };
}

/** Verifies a folder with the usual commands of its stacks, for projects that have no script of their own. */
export async function runBuiltin(request: RunRequest): Promise<RunResult> {
  const { stack, keeper } = request;
  const { stacks, called, commands, lacks } = await planBuiltin(request);
  if (stacks.length === 0)
    return {
      status: 'NOT_VERIFIED',
      reason:
        stack === undefined
          ? 'The project has no completion script, and no stack was found that the built-in checks know.'
          : `The stack ${stack} was not found: the folder does not have ${neededFor(stack)}.`,
      hints: [
        ...(stack === undefined ? [t`At the top of a folder, the built-in checks look for ${marks()}.`] : []),
        t`Name the code's folder with "working_dir", or write ${request.scriptPath} to define what "done" means.`,
        t`Whichever it is, no program runs before a person has allowed it: tell the user before you add files for this.`,
      ],
      stacks: [],
      steps: [],
      timedOut: false,
    };
  const { steps, timedOut, signal } = await runAll(commands, lacks, request);
  keeper.flush();
  const judged = judgement(steps, lacks, timedOut, request.timeoutMs);
  const idle = stacks.filter(
    (name) => !steps.some((step) => step.stack === name) && !lacks.some((lack) => lack.stack === name),
  );
  const hints = [
    ...lacks.map(({ stack: of, what }) => t`${called(of)}: ${say(what)}`),
    ...idle.map((name) => t`${called(name)}: no command applies to it here, so it was not checked.`),
    ...(timedOut ? [say(MORE_TIME)] : []),
    ...(lacks.some(({ untested }) => untested) ? [say(ADD_TESTS)] : []),
    ...(lacks.length > 0 && stacks.length > 1 && steps.some(({ ok }) => ok === true)
      ? [t`To get a verdict on one stack only, name it with "stack".`]
      : []),
  ];
  return {
    ...judged,
    hints,
    stacks: stacks.map(called),
    steps: steps.map((step) => ({ ...step, stack: called(step.stack) })),
    timedOut,
    ...(signal === undefined ? {} : { signal }),
  };
}

function marks(): string {
  return Object.entries(STACK_MARKS)
    .map(([stack, mark]) => `${say(mark)} (${stack})`)
    .join(', ');
}

async function runAll(
  commands: readonly PlannedCommand[],
  lacks: Lack[],
  request: RunRequest,
): Promise<{ steps: Step[]; timedOut: boolean; signal: string | undefined }> {
  const { keeper, signal } = request;
  const steps: Step[] = [];
  const deadline = performance.now() + request.timeoutMs;
  for (const command of commands) {
    const { stack, shown } = command;
    const started = performance.now();
    keeper.note(`▶ ${shown}`);
    const tests = request.reader.begin(stack);
    const step: Step = { stack, command: shown, ...(command.advisory === true ? { advisory: true } : {}) };
    steps.push(step);
    const tail: string[] = [];
    const {
      code,
      signal: killed,
      timedOut,
    } = await runWatched(allowedByPerson(command.program), command.args, {
      cwd: join(request.place, command.folder ?? '.'),
      env: contractEnvironment(request.env, request.addedEnv, { ...command.env }),
      timeoutMs: Math.max(1, deadline - performance.now()),
      signal,
      onOutput: gather(keeper, tail),
    });
    keeper.flush();
    step.duration_ms = Math.round(performance.now() - started);
    if (timedOut) return { steps, timedOut: true, signal: killed };
    const missing = code === undefined || code === 0 ? undefined : command.missing?.(code, tail.join(''));
    const untested = command.advisory === true ? undefined : code === 0 ? tests.untested : tests.failedFor;
    const lack = missing ?? (untested && `${untested} found no tests.`);
    if (lack !== undefined) lacks.push({ stack, what: lack, ...(untested && { untested: true }) });
    else step.ok = code === 0;
    if (code !== undefined) step.exit_code = code;
    keeper.note(
      `  → ${lack ?? (code === 0 ? 'OK' : `FAILED (${code === undefined ? killed : `exit code ${code}`})`)}`,
    );
  }
  return { steps, timedOut: false, signal: undefined };
}

const TAIL_PIECES = 20;

/** Beside what is kept for the reader: the last pieces, which say why a command could not do its work. */
function gather(keeper: OutputKeeper, tail: string[]): (chunk: Buffer, from: 'stdout' | 'stderr') => void {
  return (chunk, from) => {
    keeper.add(chunk, from);
    tail.push(chunk.toString('utf8'));
    if (tail.length > TAIL_PIECES) tail.shift();
  };
}

/** PASS only if every stack that is here was verified: what could not be is not waved through. */
function judgement(
  steps: readonly Step[],
  lacks: readonly Lack[],
  timedOut: boolean,
  timeoutMs: number,
): { status: Status; reason: string } {
  const counted = steps.filter(({ advisory }) => advisory !== true);
  const failed = counted.filter(({ ok }) => ok === false);
  if (timedOut)
    return {
      status: 'FAIL',
      reason: `${steps.at(-1)?.command ?? 'It'} did not finish within ${timeoutMs / 1_000} s.`,
    };
  if (failed.length > 0)
    return { status: 'FAIL', reason: `Failed: ${failed.map(({ command }) => command).join(', ')}.` };
  const passed = counted.filter(({ ok }) => ok === true);
  if (passed.length === 0)
    return {
      status: 'NOT_VERIFIED',
      reason: lacks.some(({ untested }) => untested)
        ? 'There was no test to run.'
        : 'No required command could be run.',
    };
  if (lacks.length > 0)
    return {
      status: 'NOT_VERIFIED',
      reason: `Some stacks could not be verified: ${lacks.map(({ stack }) => stack).join(', ')}.`,
    };
  return {
    status: 'PASS',
    reason:
      passed.length === 1
        ? 'The one required command passed.'
        : `All ${passed.length} required commands passed.`,
  };
}

function surroundings(
  { root, folder, place, env, platform }: PlanRequest,
  listing: Surroundings['listing'],
): Surroundings {
  return {
    listing,
    platform,
    node: process.execPath,
    program: (name) => findForProject(name, env),
    async text(path) {
      const bytes = await readInside(root, join(folder, path), FILE_BYTES).catch(expected(() => undefined));
      return bytes?.toString('utf8');
    },
    async upwards(path) {
      for (const at of upwards(place).filter((each) => isBelow(root, each)))
        if (await pathExists(join(at, path))) return join(at, path);
      return undefined;
    },
  };
}
