import { describe, expect, it } from 'vitest';
import { Failures, TestTally } from './runners.ts';

function tallyOf(output: string): TestTally {
  const tests = new TestTally();
  for (const line of output.split('\n')) tests.line(line);
  return tests;
}

/** What runners print without tests, and with one. */
const SAID: readonly [runner: string, none: string, some: string][] = [
  [
    'node --test',
    'TAP version 13\n1..0\n# tests 0\n# suites 0\n# pass 0\n# fail 0',
    'TAP version 13\n# Subtest: a\nok 1 - a\n1..1\n# tests 1\n# suites 0\n# pass 1',
  ],
  ['node --test', 'ℹ tests 0\nℹ suites 0\nℹ pass 0', '✔ a (0.4ms)\nℹ tests 1\nℹ suites 0\nℹ pass 1'],
  [
    'vitest',
    ' RUN  v4.1.12 /tmp/nt\n\nNo test files found, exiting with code 0\n',
    ' ✓ a.test.ts (1 test) 2ms\n\n Test Files  1 passed (1)\n      Tests  1 passed (1)',
  ],
  [
    'jest',
    'No tests found, exiting with code 0',
    'PASS ./a.test.js\nTest Suites: 1 passed, 1 total\nTests:       1 passed, 1 total',
  ],
  ['mocha', '\n\n  0 passing (1ms)\n', '\n  ✔ a\n\n  1 passing (2ms)\n'],
  [
    'go test',
    '?   \texample.com/x\t[no test files]\n?   \texample.com/x/b\t[no test files]',
    '?   \texample.com/x\t[no test files]\nok  \texample.com/x/b\t0.002s',
  ],
  [
    'go test',
    'testing: warning: no tests to run\nPASS\nok  \texample.com/x\t0.002s [no tests to run]',
    'ok  \texample.com/x\t(cached)',
  ],
  [
    'cargo test',
    '\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed\n\n   Doc-tests x\n\nrunning 0 tests\n',
    '\nrunning 1 test\ntest tests::a ... ok\n\n   Doc-tests x\n\nrunning 0 tests\n',
  ],
  [
    'dotnet test',
    'No test is available in /app/bin/Debug/net8.0/App.dll. Make sure that test discoverer & executors are registered and platform & framework version settings are appropriate and try again.',
    'No test is available in /app/A.dll. Make sure\nPassed!  - Failed:     0, Passed:     1, Skipped:     0, Total:     1, Duration: 5 ms - B.dll (net8.0)',
  ],
  [
    'pytest',
    'collected 0 items\n\n===== no tests ran in 0.01s =====',
    'collected 1 item\n\n===== 1 passed in 0.01s =====',
  ],
];

describe('the words of test runners', () => {
  it.each(SAID)('%s: %j', (runner, none, some) => {
    expect(tallyOf(none).untested).toBe(runner);
    expect(tallyOf(some).untested).toBeUndefined();
    expect(tallyOf(`${none}\n${some}`).untested).toBeUndefined();
    expect(tallyOf(`${some}\n${none}`).untested).toBeUndefined();
  });

  it('are not those that a program prints in the middle of a line, or of another number', () => {
    for (const line of ['I found: No tests found', '10 passing', '# tests 01', 'running 0 tests of 3'])
      expect(tallyOf(line).untested).toBeUndefined();
  });

  it('tell whether the runner fails for it', () => {
    expect(tallyOf('No test files found, exiting with code 1').failedFor).toBe('vitest');
    expect(tallyOf('No tests found, exiting with code 1').failedFor).toBe('jest');
    expect(tallyOf('Error: No test files found: "test"').failedFor).toBe('mocha');
    expect(tallyOf('# tests 0').failedFor).toBeUndefined();
  });
});

/** What runners print about one failing test among others, and what of it has to be told. */
const FAILED: readonly [runner: string, said: string, told: string][] = [
  [
    'node --test, TAP',
    "ok 299 - number 299\nnot ok 300 - number 300\n  ---\n  location: 'a.js:2'\n  error: 'boom'\n  ...\nok 301 - number 301\nnot ok 302 - later # TODO",
    "not ok 300 - number 300\n  ---\n  location: 'a.js:2'\n  error: 'boom'\n  ...",
  ],
  [
    'node --test, spec',
    '✔ number 299 (0.1ms)\n✖ number 300 (0.2ms)\n✔ number 301 (0.1ms)\nℹ fail 1\n\n✖ failing tests:\n\ntest at a.js:2:25\n✖ number 300 (0.2ms)\n  Error: boom\n      at a.js:2:66\n',
    '✖ number 300 (0.2ms)\n  Error: boom\n      at a.js:2:66',
  ],
  [
    'vitest',
    ' ❯ a.test.ts (2 tests | 1 failed) 5ms\n   ✓ number 299 1ms\n   × number 300 3ms\n     → boom\n\n⎯⎯ Failed Tests 1 ⎯⎯\n\n FAIL  a.test.ts > number 300\nError: boom\n ❯ a.test.ts:2:9\n⎯⎯[1/1]⎯⎯\n\n      Tests  1 failed | 1 passed (2)',
    '   × number 300 3ms\n     → boom\n FAIL  a.test.ts > number 300\nError: boom\n ❯ a.test.ts:2:9',
  ],
  [
    'jest',
    'FAIL ./a.test.js\n  ✓ number 299 (1 ms)\n  ✕ number 300 (1 ms)\n\n  ● number 300\n\n    boom\n\n      1 | x\n\nTests:       1 failed, 1 passed, 2 total',
    'FAIL ./a.test.js\n  ✕ number 300 (1 ms)\n  ● number 300\n\n    boom\n\n      1 | x',
  ],
  [
    'mocha',
    '  1) a list of a test\n  ✔ number 299\n  1) number 300\n\n  1 passing (3ms)\n  1 failing\n\n  1) number 300:\n     Error: boom\n      at a.js:2\n\n',
    '  1) number 300:\n     Error: boom\n      at a.js:2',
  ],
  [
    'pytest',
    'a.py .F\n=== FAILURES ===\n______ test_n[300] ______\n\n    def test_n(n):\n>       raise ValueError("boom")\nE       ValueError: boom\n\na.py:3: ValueError\n=== short test summary info ===\nFAILED a.py::test_n[300] - ValueError: boom\n=== 1 failed, 1 passed in 0.1s ===',
    '______ test_n[300] ______\nE       ValueError: boom\nFAILED a.py::test_n[300] - ValueError: boom',
  ],
  [
    'unittest',
    `${'='.repeat(70)}\nERROR: test_300 (a.Case)\n${'-'.repeat(70)}\nTraceback (most recent call last):\nValueError: boom\n\n${'-'.repeat(70)}\nRan 2 tests in 0.1s`,
    `ERROR: test_300 (a.Case)\n${'-'.repeat(70)}\nTraceback (most recent call last):\nValueError: boom\n\n${'-'.repeat(70)}`,
  ],
  [
    'go test',
    '--- FAIL: TestMany (0.00s)\n    --- FAIL: TestMany/300 (0.00s)\n        a_test.go:9: boom\nFAIL\nFAIL\texample.com/x\t0.002s\nok  \texample.com/y\t0.002s',
    '--- FAIL: TestMany (0.00s)\n    --- FAIL: TestMany/300 (0.00s)\n        a_test.go:9: boom\nFAIL\texample.com/x\t0.002s',
  ],
  [
    'cargo test',
    "test n299 ... ok\ntest n300 ... FAILED\n\nfailures:\n\n---- n300 stdout ----\nthread 'n300' panicked at src/lib.rs:3:5:\nboom\n\nfailures:\n    n300\n",
    "test n300 ... FAILED\n---- n300 stdout ----\nthread 'n300' panicked at src/lib.rs:3:5:\nboom",
  ],
  [
    'dotnet test',
    '  Passed N299 [1 ms]\n  Failed N300 [2 ms]\n  Error Message:\n   boom\n\nFailed!  - Failed:     1, Passed:     1',
    '  Failed N300 [2 ms]\n  Error Message:\n   boom',
  ],
  [
    'surefire',
    '[ERROR] x.CaseTest.n300 -- Time elapsed: 0.01 s <<< ERROR!\njava.lang.RuntimeException: boom\n\tat x.CaseTest.n300(CaseTest.java:9)\n',
    '[ERROR] x.CaseTest.n300 -- Time elapsed: 0.01 s <<< ERROR!\njava.lang.RuntimeException: boom',
  ],
  [
    'gradle',
    'CaseTest > n299() PASSED\nCaseTest > n300() FAILED\n    java.lang.RuntimeException: boom\n\n2 tests completed, 1 failed',
    'CaseTest > n300() FAILED\n    java.lang.RuntimeException: boom',
  ],
  [
    'tsc',
    "src/a.ts(3,5): error TS2322: Type 'boom'.\nFound 1 error.",
    "src/a.ts(3,5): error TS2322: Type 'boom'.",
  ],
];

function failuresOf(output: string): Failures {
  const failures = new Failures();
  for (const line of output.split('\n')) failures.line(line, 'stdout');
  return failures;
}

describe('failures', () => {
  it.each(FAILED)('are told in the words of %s', (_runner, said, told) => {
    expect(failuresOf(said).told(5_000)).toBe(told);
  });

  it('are told apart though they have one name, and though the other stream speaks in between', () => {
    const failures = new Failures();
    for (const line of ['not ok 1 - works', "  error: 'first'", 'not ok 1 - works'])
      failures.line(line, 'stdout');
    failures.line('a warning', 'stderr');
    failures.line("  error: 'second'", 'stdout');
    expect(failures.told(1_000)).toBe(
      "not ok 1 - works\n  error: 'first'\nnot ok 1 - works\n  error: 'second'",
    );
  });

  it('are told by name where there are many, and counted where there are more', () => {
    const said = Array.from({ length: 600 }, (_, test) => `not ok ${test} - number ${test}\n  error: 'boom'`);
    const told = failuresOf(said.join('\n')).told(3_000);
    expect(told.length).toBeLessThan(3_030);
    expect(told).toContain("not ok 0 - number 0\n  error: 'boom'\n");
    expect(told).toContain('not ok 70 - number 70\nnot ok 71 - number 71\n');
    const named = told.match(/^not ok/gm)?.length ?? 0;
    expect(told).toContain(`[… ${600 - named} more …]`);
  });
});

describe('the counts of tests', () => {
  it.each([
    ['# tests 600\n# suites 0\n# pass 599\n# fail 1\n# skipped 0', { tests: 600, pass: 599, fail: 1 }],
    ['      Tests  1 failed | 2 passed (3)', { failed: 1, passed: 2 }],
    [
      'test result: ok. 5 passed; 0 failed; 2 ignored\ntest result: ok. 1 passed; 0 failed',
      { passed: 6, failed: 0, ignored: 2 },
    ],
    ['=== 3 passed, 1 skipped in 0.1s ===', { passed: 3, skipped: 1 }],
    ['Passed!  - Failed:     0, Passed:     3, Skipped:     0', { failed: 0, passed: 3, skipped: 0 }],
  ])('are those of the runner: %j', (said, counts) => {
    expect(Object.fromEntries(tallyOf(said).counts)).toEqual(counts);
  });
});
