import { t } from '../../base/text/message.ts';
/** How a test runner says that it had nothing to run, and how it says that it had something. */
interface Runner {
  name: string;
  none: RegExp;
  some: RegExp;
  /** How it says how many, where that is another line. */
  counts?: RegExp;
  /** How it says that it fails for this very reason, where it does. */
  fails?: RegExp;
}

/**
 * Runners in their own words, a line at a time and without colours. They begin their lines, because tests print whatever
 * they like; and what one suite has run counts for all that came with it.
 */
const RUNNERS: readonly Runner[] = [
  {
    name: 'node --test',
    none: /^(?:#|ℹ) tests 0$/,
    some: /^(?:#|ℹ) tests [1-9]/,
    counts: /^(?:#|ℹ) (?:tests|pass|fail|cancelled|skipped|todo) [1-9]/,
  },
  {
    name: 'vitest',
    none: /^No test files found\b/,
    some: /^ *Tests {2}.*\d (?:passed|failed)/,
    fails: /^No test files found, exiting with code 1$/,
  },
  {
    name: 'jest',
    none: /^No tests found\b/,
    some: /^Tests: .*\d (?:passed|failed)/,
    fails: /^No tests found, exiting with code 1$/,
  },
  {
    name: 'mocha',
    none: /^ *0 passing\b|^Error: No test files found\b/,
    some: /^ *[1-9]\d* (?:passing|failing)\b/,
    fails: /^Error: No test files found\b/,
  },
  {
    name: 'go test',
    none: /^\?\s+\S+\s+\[no test files\]$|^ok\s.*\[no tests to run\]$/,
    some: /^ok\s+\S+\s+(?:\(cached\)|[\d.]+s)(?!.*\[no tests to run\]$)|^--- (?:PASS|FAIL)/,
  },
  {
    name: 'cargo test',
    none: /^running 0 tests$/,
    some: /^running [1-9]\d* tests?$/,
    counts: /^test result: .*\b[1-9]\d* (?:passed|failed)/,
  },
  {
    name: 'dotnet test',
    none: /^\s*No test is available in\b/,
    some: /^\s*(?:Passed|Failed)!\s+- Failed:|^\s*Total tests: [1-9]/,
  },
  {
    name: 'pytest',
    none: /\bno tests (?:ran|collected)\b|\bcollected 0 items\b/,
    some: /\bcollected [1-9]\d* items?\b|(?:^|[ =])[1-9]\d* (?:passed|failed)\b/,
  },
];

/** Nothing that a runner says about itself is shorter: tests may print millions of short lines. */
const SHORTEST_WORDS = 5;

/** Numbers and what they count, in either order: `3 passed`, `# pass 3`, `Passed: 3`. */
const COUNT =
  /\b(\d{1,9}) (passed|failed|skipped|todo|passing|failing|pending|ignored)\b|\b(tests|pass|fail|cancelled|skipped|todo|Passed|Failed|Skipped):? {1,8}(\d{1,9})\b/g;

/** Listens to what runs for words of test runners. */
export class TestTally {
  readonly #none = new Set<string>();
  #some = false;
  #failing = false;
  /** How many tests there were, by the runners' own words. */
  readonly counts = new Map<string, number>();

  line(line: string): void {
    if (line.length < SHORTEST_WORDS) return;
    if (RUNNERS.some(({ some, counts = some }) => counts.test(line))) this.#count(line);
    for (const { name, none, some, fails } of RUNNERS) {
      if (some.test(line)) this.#some = true;
      else if (none.test(line)) {
        this.#none.add(name);
        if (fails?.test(line) === true) this.#failing = true;
      }
    }
  }

  #count(line: string): void {
    for (const [, before, word, name = word ?? '', after = before] of line.matchAll(COUNT))
      this.counts.set(name.toLowerCase(), (this.counts.get(name.toLowerCase()) ?? 0) + Number(after));
  }

  /** The runners that found no tests, where nothing else was tested; nothing where no runner has said so. */
  get untested(): string | undefined {
    return this.#some || this.#none.size === 0 ? undefined : [...this.#none].join(', ');
  }

  /** The same, where it is also why the command failed. */
  get failedFor(): string | undefined {
    return this.#failing ? this.untested : undefined;
  }
}

/** How a runner marks a failure, and which of the lines after the mark are about it; the mark alone where nothing is said. */
interface Mark {
  begins: RegExp;
  /** Lines that are indented deeper than the mark, or all up to one of this form. */
  goesOn?: 'deeper' | RegExp;
  /** It is a mark only after a line of this form: a number with a parenthesis may be anything. */
  after?: RegExp;
}

const MARKS: readonly Mark[] = [
  // TAP: node --test, tap, prove, bats.
  { begins: /^\s*not ok\b(?!.*# (?:todo|skip)\b)/i, goesOn: 'deeper' },
  { begins: /^Bail out!/ },
  // node --test (spec), vitest, jest, bats.
  { begins: /^\s*[✖×✕✗] (?!failing tests:$)/, goesOn: 'deeper' },
  { begins: /^ {2}● (?!Console$)/, goesOn: 'deeper' },
  { begins: /^ FAIL {2}\S/, goesOn: /^⎯/ },
  // A file of jest, a package of go.
  { begins: /^FAIL[ \t]+\S/ },
  // mocha, rspec.
  { begins: /^ {2}\d+\) /, goesOn: 'deeper', after: /^ *\d+ failing$|^Failures:$/ },
  // pytest, unittest.
  { begins: /^(?:FAILED|ERROR) \S+\.py\b/ },
  { begins: /^_{3,} .* _{3,}$/ },
  { begins: /^E {3}/ },
  { begins: /^(?:FAIL|ERROR): \w+ \(/, goesOn: /^={70}$|^Ran \d/ },
  // go.
  { begins: /^\s*--- FAIL: /, goesOn: 'deeper' },
  { begins: /^panic: / },
  // cargo.
  { begins: /^test .* \.\.\. FAILED$/ },
  { begins: /^---- .* stdout ----$/, goesOn: /^(?:---- |failures:$)/ },
  // dotnet, surefire, gradle.
  { begins: /^\s*Failed \S.*\]$/, goesOn: /^\s*(?:Passed|Failed|Skipped)[ !]|^$/ },
  { begins: / <<< (?:FAILURE|ERROR)!$/, goesOn: /^\s*at |^$/ },
  { begins: /^[\w.]+ > .* FAILED$/, goesOn: 'deeper' },
  // The compilers of TypeScript and C#, rustc, go.
  { begins: /(?::| -) error [A-Z]{2,6}\d+: / },
  { begins: /^error(?:\[E\d+\])?: /, goesOn: /^$/ },
  { begins: /^\S+\.go:\d+:\d+: / },
];

const MOST_FAILURES = 500;
const MOST_LINES = 16;
const LONGEST_LINE = 300;

interface Failure {
  mark: Mark;
  depth: number;
  lines: string[];
}

/** Gathers what test runners print about failures, by their own marks and in their own words. */
export class Failures {
  /** By the line of the mark: some runners print it a second time, with more below it. */
  readonly #found = new Map<string, Failure>();
  readonly #open: { stdout?: Failure | undefined; stderr?: Failure | undefined } = {};
  readonly #seen = new Set<Mark>();
  #more = 0;

  line(raw: string, from: 'stdout' | 'stderr'): void {
    const line = raw.length > LONGEST_LINE ? `${raw.slice(0, LONGEST_LINE)}…` : raw;
    const depth = line.search(/\S|$/);
    const mark = this.#markOf(line);
    const open = this.#open[from];
    if (mark !== undefined) return this.#begin({ mark, depth, lines: [line] }, from);
    if (open === undefined) return;
    const { goesOn } = open.mark;
    const belongs =
      goesOn === 'deeper' ? line === '' || depth > open.depth : goesOn !== undefined && !goesOn.test(line);
    if (!belongs) this.#open[from] = undefined;
    else if (open.lines.length < MOST_LINES) open.lines.push(line);
  }

  /** The failures for an answer: the first of them whole, of the others the lines with their names. */
  told(room: number): string {
    const told: string[] = [];
    let left = room;
    let untold = this.#more;
    for (const { lines } of this.#found.values()) {
      const whole = lines.join('\n').trimEnd();
      const text = whole.length + 1 <= left - room / 3 ? whole : (lines[0] ?? '');
      if (text.length + 1 > left) untold += 1;
      else {
        told.push(text);
        left -= text.length + 1;
      }
    }
    if (untold > 0) told.push(t`[… ${untold} more …]`);
    return told.join('\n');
  }

  #markOf(line: string): Mark | undefined {
    if (line.length < SHORTEST_WORDS) return undefined;
    for (const mark of MARKS) {
      if (mark.after?.test(line) === true) this.#seen.add(mark);
      if (mark.begins.test(line) && (mark.after === undefined || this.#seen.has(mark))) return mark;
    }
    return undefined;
  }

  #begin(failure: Failure, from: 'stdout' | 'stderr'): void {
    this.#open[from] = failure;
    const line = failure.lines[0]?.trim() ?? '';
    const known = this.#found.get(line);
    // Two tests of one name are two failures; a name alone is the announcement of what comes later.
    const name = known !== undefined && known.lines.length > 1 ? `${line}\n${this.#found.size}` : line;
    if (this.#found.size < MOST_FAILURES || this.#found.has(name)) this.#found.set(name, failure);
    else this.#more += 1;
  }
}
