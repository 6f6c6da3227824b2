import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { stampOfPlace, type Listed } from './watch-walk.ts';

const promises = createRequire(import.meta.url)('node:fs/promises') as { readdir: unknown };

let folder: string;
let listed: Listed;
beforeEach(async () => {
  folder = await temporaryFolder(onTestFinished);
  listed = new Map();
  await mkdir(join(folder, 'inner'));
  await writeFile(join(folder, 'inner/one.md'), 'one');
});
afterEach(() => void vi.restoreAllMocks());

const stamp = (): Promise<string> => stampOfPlace({ path: folder, deep: true }, listed);
const isListed = async (): Promise<boolean> => {
  await stamp();
  return listed.size === 2;
};

/** Lists folders in another way for a while. */
function listing(readdir: (...given: unknown[]) => Promise<unknown>): () => void {
  const own = promises.readdir;
  const use = (way: unknown): void => {
    promises.readdir = way;
    syncBuiltinESMExports();
  };
  use(readdir);
  onTestFinished(() => use(own));
  return () => use(own);
}

it('a folder that could not be listed once is listed again', async () => {
  await expect.poll(isListed).toBe(true);
  const before = await stamp();
  listed.clear();
  const again = listing(async () => {
    throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
  });
  expect(await stamp()).not.toBe(before);
  again();
  expect(await stamp()).toBe(before);
});

it('what is known of a folder goes with it', async () => {
  await expect.poll(isListed).toBe(true);
  await rm(join(folder, 'inner'), { recursive: true });
  await stamp();
  expect([...listed.keys()].some((path) => path.endsWith('inner'))).toBe(false);
});

it('a folder that has only just changed is listed again, however long it took to list it', async () => {
  const own = promises.readdir as (...given: unknown[]) => Promise<unknown>;
  const now = Date.now() + 60_000;
  listing(async (...given) => {
    const entries = await own(...given);
    vi.spyOn(Date, 'now').mockReturnValue(now);
    return entries;
  });
  await writeFile(join(folder, 'two.md'), 'two');
  await stampOfPlace({ path: folder }, listed);
  expect(listed.size).toBe(0);
});
