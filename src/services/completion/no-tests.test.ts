import { describe, expect, it } from 'vitest';
import { TestTally } from './no-tests.ts';

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
