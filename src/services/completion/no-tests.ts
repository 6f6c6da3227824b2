/** How a test runner says that it had nothing to run, and how it says that it had something. */
interface Runner {
  name: string;
  none: RegExp;
  some: RegExp;
  /** How it says that it fails for this very reason, where it does. */
  fails?: RegExp;
}

/**
 * Runners in their own words, a line at a time and without colours. They begin their lines, because tests print whatever
 * they like; and what one suite has run counts for all that came with it.
 */
const RUNNERS: readonly Runner[] = [
  { name: 'node --test', none: /^(?:#|ℹ) tests 0$/, some: /^(?:#|ℹ) tests [1-9]/ },
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
  { name: 'cargo test', none: /^running 0 tests$/, some: /^running [1-9]\d* tests?$/ },
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

/** Listens to what runs for words of test runners. */
export class TestTally {
  readonly #none = new Set<string>();
  #some = false;
  #failing = false;

  line(line: string): void {
    for (const { name, none, some, fails } of RUNNERS) {
      if (some.test(line)) this.#some = true;
      else if (none.test(line)) {
        this.#none.add(name);
        if (fails?.test(line) === true) this.#failing = true;
      }
    }
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
