import { runWatched } from '../../src/base/process/process-watched.ts';

/** A process that runs a program which never ends, and tells who that is: to be killed without warning. */
const cwd = process.argv[2] ?? '/';
await runWatched(
  'bash',
  ['-c', `trap '' TERM HUP; sleep 600 & echo "pid $$ pid $!"; wait; while :; do sleep 1; done`],
  {
    cwd,
    env: { PATH: process.env['PATH'] ?? '' },
    timeoutMs: 600_000,
    onOutput: (chunk) => process.stdout.write(chunk),
  },
);
