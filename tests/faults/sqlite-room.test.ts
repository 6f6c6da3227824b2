import { rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { BmadError } from '../../src/base/errors.ts';
import { smallDisk } from '../support/disks.ts';
import { memory, uuid } from '../memory/places.ts';
import { openLines } from '../memory/processes.ts';
import { FULL } from './trial.ts';

/**
 * SQLite writes with calls of its own, which nothing here can count. On a real disk with room for so many blocks and no
 * more, the call fails that would take one more.
 */

const BLOCK = 4_096;
const MOST_BLOCKS = 64;
const LONG = 'Much more of it is needed here. '.repeat(1_000);

it(
  'lines and their index keep what they have on a disk that is full after any number of blocks',
  { timeout: FULL ? 1_200_000 : 600_000 },
  async (context) => {
    const refused: number[] = [];
    for (let blocks = 0; blocks <= MOST_BLOCKS; blocks += FULL ? 1 : 4) {
      // One each time: the driver may hold a file that was closed and removed, and with it the room it takes.
      const folder = await smallDisk(2_048, onTestFinished);
      if (folder === undefined) return context.skip('this user may not mount file systems here');
      const store = await openLines('sqlite', folder);
      await store.upsert([memory('before', 'Giraffes were remembered while there was room')]);
      const ballast = join(folder, 'ballast');
      await writeFile(ballast, Buffer.alloc(4_000_000)).catch(() => undefined);
      await truncate(ballast, Math.max(0, (await stat(ballast)).size - blocks * BLOCK));
      const error: unknown = await store.upsert([memory('first', LONG)]).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error !== undefined) {
        expect(error).toBeInstanceOf(BmadError);
        refused.push(blocks);
      }
      // Whoever opens it while the disk is still full finds the same as whoever has it open.
      const other = await openLines('sqlite', folder);
      for (const each of [store, other]) {
        const found = await each.get({ type: 'decisions', id: uuid('first') });
        expect([blocks, found?.text]).toEqual([blocks, error === undefined ? LONG : undefined]);
        expect(await each.get({ type: 'decisions', id: uuid('before') })).toBeDefined();
      }
      await other.close();
      await rm(ballast);
      await store.upsert([memory('second', LONG)]);
      await store.close();
      const last = await openLines('sqlite', folder);
      expect(await last.count({})).toBe(error === undefined ? 3 : 2);
      expect(await last.health()).toMatchObject({ engine: 'sqlite', degraded: false, notes: [] });
      await last.close();
    }
    // Both must have happened, or nothing was tried.
    expect(refused.length).toBeGreaterThan(2);
    expect(refused).not.toContain(MOST_BLOCKS);
    process.stdout.write(`Full disks under SQLite: refused with ${refused.join(', ')} blocks.\n`);
  },
);
