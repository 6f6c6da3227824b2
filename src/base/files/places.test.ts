import { mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { linkFolder, writeFiles } from '../../../tests/support/folders.ts';
import { Places } from './places.ts';

/** A folder whose times are long past, as the clocks of file systems go. */
async function settledFolder(): Promise<string> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, { 'a/one.md': 'one', 'a/two.md': 'two', 'b/': '', 'c/d/e.md': 'e' });
  await expect
    .poll(async () => {
      const places = new Places();
      for (const path of ['', 'a', 'a/one.md', 'a/two.md', 'b', 'c', 'c/d', 'c/d/e.md'])
        places.look(join(folder, path));
      return places.unchanged();
    })
    .toBe(true);
  return folder;
}

async function changedBy(
  look: (places: Places, at: (path: string) => string) => void,
  edit: (at: (path: string) => string) => Promise<unknown>,
): Promise<string[]> {
  const folder = await settledFolder();
  const places = new Places();
  const at = (path: string): string => join(folder, path);
  look(places, at);
  expect(await places.changed()).toEqual([]);
  await edit(at);
  return (await places.changed()).map((path) => path.slice(folder.length + 1));
}

describe('places', () => {
  it('know what was written, replaced, added, moved and removed', async () => {
    const all = (places: Places, at: (path: string) => string): void => {
      for (const path of ['a', 'a/one.md', 'a/two.md', 'b', 'c/d', 'c/d/e.md']) places.look(at(path));
    };
    expect(await changedBy(all, (at) => writeFile(at('a/one.md'), 'eno'))).toEqual(['a/one.md']);
    expect(await changedBy(all, (at) => writeFile(at('b/new.md'), ''))).toEqual(['b']);
    expect(await changedBy(all, (at) => rm(at('a/two.md')))).toEqual(['a', 'a/two.md']);
    expect(await changedBy(all, (at) => rename(at('a/two.md'), at('a/one.md')))).toEqual([
      'a',
      'a/one.md',
      'a/two.md',
    ]);
    expect(await changedBy(all, (at) => rename(at('c'), at('f')))).toEqual(['c/d', 'c/d/e.md']);
    expect(await changedBy(all, (at) => writeFile(at('c/d/other.md'), ''))).toEqual(['c/d']);
  });

  it('know what is there that was missing, however deep', async () => {
    const deep = (places: Places, at: (path: string) => string): void => {
      places.find(at('b/x/y/z.md'));
      places.look(at('b/x/y/w.md'));
    };
    expect(await changedBy(deep, (at) => mkdir(at('b/x')))).toEqual(['b/x']);
    const listed = (places: Places, at: (path: string) => string): void => {
      places.look(at('b'));
      places.look(at('b/x'));
      expect(places.size, 'the folder tells of what comes').toBe(1);
    };
    expect(await changedBy(listed, (at) => mkdir(at('b/x')))).toEqual(['b']);
    const found = (places: Places, at: (path: string) => string): void => {
      places.find(at('b'));
      places.look(at('b/x'));
    };
    expect(await changedBy(found, (at) => mkdir(at('b/x')))).toEqual(['b/x']);
  });

  it('follow links, to a folder and on the way', async () => {
    const through = (places: Places, at: (path: string) => string): void => {
      places.look(at('link'));
      places.look(at('link/one.md'));
    };
    const folder = await settledFolder();
    await linkFolder(join(folder, 'a'), join(folder, 'link'));
    const places = new Places();
    through(places, (path) => join(folder, path));
    expect(await places.unchanged()).toBe(true);
    await rm(join(folder, 'link'));
    await symlink(join(folder, 'c'), join(folder, 'link'), 'junction');
    expect(await places.changed()).toEqual([join(folder, 'link'), join(folder, 'link/one.md')]);
  });

  it('do not mind what changes in a folder that was only found', async () => {
    const find = (places: Places, at: (path: string) => string): void => void places.find(at('a'));
    expect(await changedBy(find, (at) => writeFile(at('a/new.md'), ''))).toEqual([]);
    expect(await changedBy(find, (at) => rename(at('a'), at('z')))).toEqual(['a']);
    const both = (places: Places, at: (path: string) => string): void => {
      places.find(at('a'));
      places.look(at('a'));
    };
    expect(await changedBy(both, (at) => writeFile(at('a/new.md'), ''))).toEqual(['a']);
  });

  it('do not trust a time that is not over yet, nor one that was set', async () => {
    const folder = await settledFolder();
    const file = join(folder, 'a/one.md');
    await writeFile(file, 'ONE');
    await utimes(file, 0, 0);
    const places = new Places();
    places.look(file);
    expect(await places.unchanged(), 'it may change in the same tick').toBe(false);
    await expect
      .poll(async () => {
        const later = new Places();
        later.look(file);
        return later.unchanged();
      })
      .toBe(true);
  });

  it('are looked at once for all who ask together, and never before they ask', async () => {
    const folder = await settledFolder();
    const places = new Places();
    places.look(join(folder, 'a/one.md'));
    const [first, second] = [places.unchanged(), places.unchanged()];
    expect(first).toBe(second);
    await writeFile(join(folder, 'a/one.md'), 'other');
    expect(await places.unchanged()).toBe(false);
  });
});

describe('a change of this moment', () => {
  it('is waited for where there are many places, so that what is read then counts the next time', async () => {
    const folder = await settledFolder();
    const file = join(folder, 'a/one.md');
    const read = async (fromPlaces: number, text: string): Promise<boolean> => {
      const [before, after] = [new Places(), new Places()];
      before.look(file);
      await writeFile(file, text);
      expect(await before.changed()).toEqual([file]);
      await before.settle(fromPlaces);
      after.look(file);
      return after.unchanged();
    };
    expect(await read(2, 'longer than before')).toBe(false);
    expect(await read(1, 'longer than before and again')).toBe(true);
  });
});
