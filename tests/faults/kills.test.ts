import { spawn } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { childProgram } from '../support/child-program.ts';
import { onFaultyDisk, type Fault, type FaultKind } from '../support/faulty-disk.ts';
import { MEMORY_WRITERS } from './memory-writers.ts';
import { remake, type Writer } from './scene.ts';
import { STATE_WRITERS } from './state-writers.ts';
import { chosen, problemsAfter, FULL, trialOf } from './trial.ts';
import { WRITERS } from './writers.ts';

/** A process is killed at its n-th change of the disk: before it, in the middle of what it writes, and after it. */

/**
 * How many calls of a write are tried by default, for each kind: each takes a process. After a change is before the next
 * one; `errors.test.ts` tries more of them, in this process.
 */
const MOST: readonly (readonly [FaultKind, number])[] = [
  ['kill', FULL ? 2 : 1],
  ['kill-torn', 1],
  ...(FULL ? ([['kill-after', 1]] as const) : []),
];
const points = { tried: 0, all: 0 };
afterAll(() => {
  process.stdout.write(`Kills: ${points.tried} of ${points.all} fault points tried.\n`);
});

async function killed(writer: Writer, fault: Fault & { folder: string }) {
  const group = MEMORY_WRITERS.includes(writer)
    ? 'memory'
    : STATE_WRITERS.includes(writer)
      ? 'state'
      : 'logs';
  const args = [await childProgram('tests/faults/child.ts'), group, writer.name, JSON.stringify(fault)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let told = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (told += chunk.toString('utf8')));
  const signal = await new Promise((resolve) => void child.once('close', (_, by) => resolve(by)));
  return { told, signal };
}

/** Windows does not say by what a process was ended. */
describe.skipIf(process.platform === 'win32').each(WRITERS)(
  'a process that is killed while it writes $name',
  (writer) => {
    it(
      'leaves the old or the new, and the next one repairs what it left',
      { timeout: FULL ? 3_600_000 : 600_000 },
      async () => {
        const trial = await trialOf(writer, afterAll);
        const { scene, model } = trial;
        const problems: string[] = [];
        for (const [kind, most] of MOST) {
          await remake(scene, model);
          // Counted here, where nothing is killed.
          const counting = { kind, n: Infinity, folder: scene.folder };
          const { calls } = await onFaultyDisk(counting, () => writer.act(scene, 'first'));
          points.all += calls.length;
          for (const n of chosen(calls.length, most)) {
            points.tried += 1;
            await remake(scene, model);
            const { told, signal } = await killed(writer, { kind, n, folder: scene.folder });
            const where = `${kind} at ${n} (${calls[n - 1]})`;
            expect({ told, signal }, where).toEqual({ told: '', signal: 'SIGKILL' });
            const after = await problemsAfter(trial, { acknowledged: false, died: true });
            problems.push(...after.map((problem) => `${where}: ${problem}`));
          }
        }
        expect(problems).toEqual([]);
      },
    );
  },
);
