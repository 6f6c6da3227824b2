import { afterAll, describe, expect, it } from 'vitest';
import { onFaultyDisk, type FaultKind } from '../support/faulty-disk.ts';
import { remake } from './scene.ts';
import { chosen, problemsAfter, FULL, trialOf } from './trial.ts';
import { WRITERS } from './writers.ts';

/** The n-th change of the disk fails, for every n or every second one, and the process that made it goes on. */

const KINDS: readonly FaultKind[] = ['error', 'full', 'short'];
/** How many calls of a long write are tried by default, for each kind. */
const MOST = 3;
const points = { tried: 0, all: 0 };
afterAll(() => {
  process.stdout.write(`Disk errors: ${points.tried} of ${points.all} fault points tried.\n`);
});

describe.each(WRITERS)('a disk that fails under $name', (writer) => {
  it(
    'leaves the old or the new and nothing else, and the next write repairs what there is to repair',
    { timeout: FULL ? 3_600_000 : 600_000 },
    async () => {
      const trial = await trialOf(writer, afterAll);
      const { scene, model } = trial;
      const problems: string[] = [];
      for (const kind of KINDS) {
        const at = async (n: number) => {
          await remake(scene, model);
          return onFaultyDisk({ kind, n, folder: scene.folder }, () => writer.act(scene, 'first'));
        };
        const { calls } = await at(Infinity);
        points.all += calls.length;
        for (const n of chosen(calls.length, writer.slow === true ? MOST : Infinity)) {
          // Where there is no room, the next call fails as well: every second one is enough.
          if (kind !== 'error' && !FULL && writer.slow !== true && n % 2 === 0) continue;
          points.tried += 1;
          const { error, struck } = await at(n);
          const where = `${kind} at ${n} (${calls[n - 1]})`;
          expect(struck, where).toBe(true);
          const after = { acknowledged: error === undefined, error, died: false };
          problems.push(...(await problemsAfter(trial, after)).map((problem) => `${where}: ${problem}`));
        }
      }
      expect(problems).toEqual([]);
    },
  );
});
