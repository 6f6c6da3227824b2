import { say, t } from '../../base/text/message.ts';
import type { WatchedResult } from '../../base/process/process.ts';
import { Failures, TestTally } from './runners.ts';

/** The three answers of a contract. Only the first lets anybody say that something is done. */
export type Status = 'PASS' | 'FAIL' | 'NOT_VERIFIED';

export interface Step {
  stack: string;
  command: string;
  /** Nothing when it has no result: it was skipped, or the run ended in the middle of it. */
  ok?: boolean;
  /** Its result does not count for the verdict. */
  advisory?: true;
  exit_code?: number;
  duration_ms?: number;
}

/** The last line of the script that counts, with a date or a time: test output may hold the same words. */
const VERDICT = /CC (PASS|FAIL) — \[([^[\]]*)\] — \d{4}-\d\d-\d\d/;
const STACK = /^▶ Stack : (.+)$/;
const COMMAND = /^▶ (.+)$/;
const RESULT = /^ {2}→ (.+)$/;
const NO_STACK = /Aucun stack détecté/;
const UNKNOWN_STACK = /Stack '[^']*' non reconnu/;
const NOT_FOUND = /(?:^|[:\s])([\w.-]+): (?:command )?not found$/;

const MOST_STEPS = 200;
const LONGEST_COMMAND = 300;

export interface ReadVerdict {
  verdict: 'PASS' | 'FAIL' | undefined;
  stacks: string[];
  steps: Step[];
  /** Whether it speaks as the kit's script does, which names each stack before its commands. */
  kitForm: boolean;
  noStack: boolean;
  /** Stacks whose test runners found no tests, and these runners. */
  untested: { stack: string; runners: string }[];
  toolsMissing: string[];
}

/** Reads the lines of the kit's script as they come. */
export class VerdictReader {
  private verdict: { word: 'PASS' | 'FAIL'; stacks: string[] } | undefined;
  private readonly headers: string[] = [];
  private readonly steps: Step[] = [];
  /** The command whose result is still to come; suites of tests look like commands and do not replace it. */
  private pending: Step | undefined;
  private noStack = false;
  /** One for each stack; the first for what comes before any. */
  private readonly tallies: { stack: string; tests: TestTally }[] = [{ stack: '', tests: new TestTally() }];
  private readonly toolsMissing = new Set<string>();
  readonly failures = new Failures();

  /** Takes one line; answers whether it says how far the run has come. */
  line(line: string, from: 'stdout' | 'stderr'): boolean {
    const verdict = from === 'stdout' ? VERDICT.exec(line) : null;
    if (verdict !== null) {
      const stacks = (verdict[2] ?? '').split(',').map((name) => name.trim());
      this.verdict = { word: verdict[1] as 'PASS' | 'FAIL', stacks: stacks.filter((name) => name !== '') };
      return true;
    }
    this.failures.line(line, from);
    // What the script and the tools say about themselves is short; data that tests print may be long.
    if (line.length > LONGEST_COMMAND * 2) return false;
    if (NO_STACK.test(line) || UNKNOWN_STACK.test(line)) this.noStack = true;
    this.tallies.at(-1)?.tests.line(line);
    const tool = NOT_FOUND.exec(line)?.[1];
    if (tool !== undefined && this.toolsMissing.size < 20) this.toolsMissing.add(tool);
    return from === 'stdout' && this.step(line);
  }

  /** From here on, what test runners say is about this stack. */
  begin(stack: string): TestTally {
    const tests = new TestTally();
    this.tallies.push({ stack, tests });
    return tests;
  }

  /** How many tests there were, in the words of the runners: `600 tests, 600 pass`. */
  get counts(): string {
    const sums = new Map<string, number>();
    for (const [word, count] of this.tallies.flatMap(({ tests }) => [...tests.counts]))
      sums.set(word, (sums.get(word) ?? 0) + count);
    return [...sums].flatMap(([word, count]) => (count === 0 ? [] : [`${count} ${word}`])).join(', ');
  }

  get read(): ReadVerdict {
    const open = this.pending === undefined ? [] : [this.pending];
    return {
      verdict: this.verdict?.word,
      stacks: this.verdict?.stacks ?? this.headers,
      steps: [...this.steps, ...open].slice(0, MOST_STEPS),
      kitForm: this.headers.length > 0,
      noStack: this.noStack,
      untested: this.tallies.flatMap(({ stack, tests: { untested: runners } }) =>
        runners === undefined ? [] : [{ stack, runners }],
      ),
      toolsMissing: [...this.toolsMissing],
    };
  }

  private step(line: string): boolean {
    const stack = STACK.exec(line)?.[1];
    if (stack !== undefined) {
      this.settle();
      const name = /^[\w-]+/.exec(stack.toLowerCase())?.[0] ?? stack;
      if (this.headers.length < MOST_STEPS) {
        this.headers.push(name);
        this.begin(name);
      }
      return true;
    }
    const command = COMMAND.exec(line)?.[1];
    if (command !== undefined) {
      this.pending ??= { stack: this.headers.at(-1) ?? '', command: command.slice(0, LONGEST_COMMAND) };
      return true;
    }
    const result = RESULT.exec(line)?.[1];
    if (result === undefined || this.headers.length === 0) return false;
    const step = this.pending ?? {
      stack: this.headers.at(-1) ?? '',
      command: result.slice(0, LONGEST_COMMAND),
    };
    this.pending = step;
    const ok = /\bOK\b/.test(result);
    step.ok = ok;
    if (!ok && !/FAILED|\berrors?\b/.test(result)) step.advisory = true;
    this.settle();
    return true;
  }

  private settle(): void {
    if (this.pending !== undefined && this.steps.length < MOST_STEPS) this.steps.push(this.pending);
    this.pending = undefined;
  }
}

export interface Ending extends WatchedResult {
  timeoutMs: number;
}

export interface Judgement {
  status: Status;
  /** In a sentence, why it is this and not another. */
  reason: string;
  hints: string[];
}

/** What a run of the script is worth: exit code and verdict have to agree, and something must have been run. */
export function judge(read: ReadVerdict, ending: Ending, stack?: string): Judgement {
  const { status, reason } = statusOf(read, ending, stack);
  return { status, reason, hints: hintsFor(read, ending, status, stack) };
}

function statusOf(
  read: ReadVerdict,
  { code, signal, timedOut, timeoutMs }: Ending,
  stack: string | undefined,
): Omit<Judgement, 'hints'> {
  const failed = (reason: string) => ({ status: 'FAIL' as const, reason });
  const open = (reason: string) => ({ status: 'NOT_VERIFIED' as const, reason });
  if (timedOut) return failed(`It did not finish within ${timeoutMs / 1_000} s and was stopped.`);
  if (code === undefined) return failed(`It was killed by ${signal ?? 'a signal'}.`);
  if (code !== 0)
    return failed(
      read.verdict === undefined
        ? `It ended with exit code ${code} before its verdict.`
        : read.verdict === 'PASS'
          ? `It printed PASS but ended with exit code ${code}, so it failed.`
          : `Its verdict is FAIL, its exit code ${code}.`,
    );
  if (read.verdict === 'FAIL') return failed('Its verdict is FAIL.');
  if (read.verdict === undefined)
    return open(
      read.noStack
        ? stack === undefined
          ? 'The script found no stack to verify and ran nothing.'
          : `The script found no files of the stack ${stack} here and ran nothing.`
        : 'The script ended without a verdict line (CC PASS or CC FAIL).',
    );
  if (read.kitForm && !read.steps.some(({ ok }) => ok !== undefined))
    return open('The script says PASS but ran no command: the tools it looks for are missing.');
  const [first] = read.untested;
  if (first !== undefined && read.stacks.length <= read.untested.length)
    return open(`The script says PASS, but nothing was tested: ${first.runners} found no tests.`);
  return { status: 'PASS', reason: 'Its verdict is PASS, its exit code 0.' };
}

/** Who reads that nothing was tested has to know what would change it. */
export const ADD_TESTS = 'Nothing was tested: add tests, or check where the test command looks for them.';

export const MORE_TIME =
  'To allow more time, raise contract_timeout_ms (BMAD_CONTRACT_TIMEOUT_MS). A test runner in watch mode never ends.';

/** What is known to go wrong with the kit's script, where this run shows signs of it. */
function hintsFor(
  read: ReadVerdict,
  { code, timedOut }: Ending,
  status: Status,
  named: string | undefined,
): string[] {
  const hints: string[] = [];
  const ran = new Set(read.steps.filter(({ ok }) => ok !== undefined).map(({ stack }) => stack));
  const idle = read.kitForm ? read.stacks.filter((stack) => !ran.has(stack)) : [];
  if (read.noStack)
    hints.push(
      named === undefined
        ? t`The script exits with code 0 when it finds no stack. Name one with "stack", or a folder with "working_dir".`
        : t`The script exits with code 0 when it finds no stack. Omit "stack" to have it look for others, or name the folder of the code with "working_dir".`,
    );
  if (!timedOut && idle.length > 0 && read.verdict !== undefined)
    hints.push(t`No command was run for ${idle.join(', ')}, so it was not checked: install its tools.`);
  if (status === 'PASS' && !read.kitForm)
    hints.push(t`The script does not list its commands, so only its own verdict is known.`);
  if (status === 'PASS')
    for (const { stack, runners } of read.untested)
      hints.push(t`${stack === '' ? '' : `${stack}: `}${runners} found no tests.`);
  if (status === 'NOT_VERIFIED' && read.untested.length > 0) hints.push(say(ADD_TESTS));
  if (status === 'FAIL' && read.untested.some(({ runners }) => runners.includes('pytest')))
    hints.push(t`pytest exits with code 5 when there are no tests, and the script treats that as a failure.`);
  if (read.verdict === 'PASS' && code !== 0 && !timedOut)
    hints.push(t`PASS was printed, but the exit code decides: a test may have printed it.`);
  if (read.toolsMissing.length > 0 && status !== 'PASS')
    hints.push(t`Not found on the script's PATH: ${read.toolsMissing.join(', ')}.`);
  if (timedOut) hints.push(say(MORE_TIME));
  return hints;
}
