import { subscribe } from 'node:diagnostics_channel';
import type { ChildProcess } from 'node:child_process';
import { ownProgram } from '../../src/base/files/find-program.ts';
import { runWatched } from '../../src/base/process/process.ts';

/**
 * A process that runs a program which never ends, and tells who that is: to be killed without warning. Told to leave at
 * once, it kills itself as soon as it has said what to run, and tells who would have run it.
 */
const [, , cwd = '/', leaves] = process.argv;
if (leaves !== undefined)
  subscribe('child_process', (message) => {
    const { process: child } = message as { process: ChildProcess };
    child.once('spawn', () =>
      setImmediate(() => {
        process.stdout.write(`pid ${child.pid}\n`);
        process.kill(process.pid, 'SIGKILL');
      }),
    );
  });
/** What is killed later is stubborn; what is left at once must not end of its own because nobody listens. */
const ignored = leaves === undefined ? 'TERM HUP' : 'PIPE';
await runWatched(
  ownProgram('bash'),
  ['-c', `trap '' ${ignored}; sleep 600 & echo "pid $$ pid $!"; wait; while :; do sleep 1; done`],
  {
    cwd,
    env: { PATH: process.env['PATH'] ?? '' },
    timeoutMs: 600_000,
    onOutput: (chunk) => process.stdout.write(chunk),
  },
);
