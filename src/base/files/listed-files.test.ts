import { link, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { fileStamps } from './file-stamps.ts';
import { ListedFiles } from './listed-files.ts';

const PATHS = ['a.ts', 'src/b.ts', 'src/c.ts', 'src/deep/d.ts'];

/** A project whose files are watched, and what its owner does to ask for the list again. */
async function watched(more: Record<string, string> = {}) {
  const root = await temporaryFolder(afterAll);
  await writeFiles(root, { ...Object.fromEntries(PATHS.map((path) => [path, 'one'])), ...more });
  const listed = new ListedFiles(root);
  onTestFinished(() => listed.close());
  const mark = join(root, 'ignored-rules');
  const look = async (): Promise<number[] | undefined> => {
    const apart: number[] = [];
    const vouch = await listed.follow(PATHS, Date.now(), [mark]);
    await fileStamps(root, PATHS, undefined, apart);
    await vouch(apart);
    return listed.changed();
  };
  // What has just been written might be written again at the same time.
  const settle = async (): Promise<void> => {
    await expect.poll(look, { interval: 10 }).toBeDefined();
  };
  await settle();
  return { listed, settle, mark, at: (path: string) => join(root, path) };
}

describe.skipIf(process.platform !== 'linux')('files of a list', () => {
  it('are named when they were written, and nothing is when nothing was', async () => {
    const { listed, at } = await watched();
    expect(await listed.changed()).toEqual([]);
    await writeFile(at('src/deep/d.ts'), 'two');
    expect(await listed.changed()).toEqual([3]);
    await writeFile(at('src/b.ts'), 'two');
    expect(await listed.changed()).toEqual([1, 2]);
    expect(await listed.changed()).toEqual([]);
  });

  it('are listed again when one comes or goes, once when they are replaced as they are saved', async () => {
    const { listed, settle, at } = await watched();
    const save = async (): Promise<void> => {
      await writeFile(at('src/b.ts~'), 'two');
      await rename(at('src/b.ts~'), at('src/b.ts'));
    };
    await save();
    expect(await listed.changed()).toBeUndefined();
    await settle();
    await save();
    expect(await listed.changed()).toEqual([1, 2]);
    const changes: [change: () => Promise<unknown>, back: () => Promise<unknown>][] = [
      [() => writeFile(at('src/new.ts'), ''), () => rm(at('src/new.ts'))],
      [() => mkdir(at('src/deep/folder')), async () => undefined],
      [() => rename(at('src/deep'), at('src/other')), () => rename(at('src/other'), at('src/deep'))],
      [() => rename(at('src/c.ts'), at('src/C.ts')), () => rename(at('src/C.ts'), at('src/c.ts'))],
    ];
    for (const [change, back] of changes) {
      await change();
      expect(await listed.changed()).toBeUndefined();
      await back();
      await settle();
    }
  });

  it('are listed again when what decides about the list changes, known or not', async () => {
    const { listed, settle, mark, at } = await watched({ 'src/.gitignore': '*\n' });
    await writeFile(mark, 'x');
    expect(await listed.changed()).toBeUndefined();
    await settle();
    await writeFile(at('src/.gitignore'), '!b.ts\n');
    expect(await listed.changed()).toBeUndefined();
  });

  it('are looked at each time where another name leads to them, and all of them after a flood', async () => {
    const { listed, settle, at } = await watched();
    const elsewhere = join(await temporaryFolder(afterAll), 'other-name');
    await link(at('a.ts'), elsewhere);
    await settle();
    expect(await listed.changed()).toEqual([0]);
    for (let count = 0; count < 100; count++) await writeFile(at('a.ts'), String(count));
    expect(await listed.changed()).toBeUndefined();
    listed.close();
    expect(await listed.changed()).toBeUndefined();
  });
});
