import { readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { KeptByStamp } from './file-stamps.ts';

it('reads a file again when it was written, replaced or set back in time, and only then', async () => {
  const file = join(await temporaryFolder(onTestFinished), 'config.yaml');
  const kept = new KeptByStamp<string>();
  let reads = 0;
  const read = (): Promise<string | undefined> =>
    kept.read(file, async () => {
      reads += 1;
      return readFile(file, 'utf8');
    });
  /** Reads until the file is old enough to be kept. */
  const settled = async (): Promise<void> => {
    await expect
      .poll(async () => {
        const before = reads;
        await read();
        return reads - before;
      })
      .toBe(0);
  };

  expect(await read()).toBeUndefined();
  await writeFile(file, 'one');
  // What was only just written may be written again within the same moment of the disk's clock.
  for (const text of ['one', 'two', 'six']) {
    await writeFile(file, text);
    expect(await read()).toBe(text);
  }
  await settled();
  await writeFile(file, 'ten');
  await utimes(file, 0, 0);
  expect(await read()).toBe('ten');
  await settled();
  await writeFile(`${file}.new`, 'new');
  await utimes(`${file}.new`, 0, 0);
  await rename(`${file}.new`, file);
  expect(await read()).toBe('new');
  await rm(file);
  expect(await read()).toBeUndefined();
});
