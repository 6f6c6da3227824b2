import { mkdirSync, readdirSync } from 'node:fs';
import { mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { linkFolder, writeFiles } from '../../../tests/support/folders.ts';
import { asItIsWritten, afterJump, fileLooks, onPoorDisk } from '../../../tests/support/looked-at.ts';
import { Keeper } from './keeper.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** A folder whose times are long past, as the clocks of file systems go. */
async function settledFolder(): Promise<string> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, { 'a/one.md': 'one', 'a/two.md': 'two', 'b/': '', 'c/d/e.md': 'e' });
  await expect
    .poll(async () => {
      const places = new Keeper();
      for (const path of ['', 'a', 'a/one.md', 'a/two.md', 'b', 'c', 'c/d', 'c/d/e.md'])
        places.look(join(folder, path));
      return places.unchanged();
    })
    .toBe(true);
  return folder;
}

async function changedBy(
  look: (places: Keeper, at: (path: string) => string) => void,
  edit: (at: (path: string) => string) => Promise<unknown>,
): Promise<string[]> {
  const folder = await settledFolder();
  const places = new Keeper();
  const at = (path: string): string => join(folder, path);
  look(places, at);
  expect(await places.changed()).toEqual([]);
  await edit(at);
  return (await places.changed()).map((path) => path.slice(folder.length + 1));
}

describe('places', () => {
  it('know what was written, replaced, added, moved and removed', async () => {
    const all = (places: Keeper, at: (path: string) => string): void => {
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
    const deep = (places: Keeper, at: (path: string) => string): void => {
      places.find(at('b/x/y/z.md'));
      places.look(at('b/x/y/w.md'));
    };
    expect(await changedBy(deep, (at) => mkdir(at('b/x')))).toEqual(['b/x']);
    const listed = (places: Keeper, at: (path: string) => string): void => {
      places.look(at('b'));
      places.look(at('b/x'));
      expect(places.size, 'the folder tells of what comes').toBe(1);
    };
    expect(await changedBy(listed, (at) => mkdir(at('b/x')))).toEqual(['b']);
    const found = (places: Keeper, at: (path: string) => string): void => {
      places.find(at('b'));
      places.look(at('b/x'));
    };
    expect(await changedBy(found, (at) => mkdir(at('b/x')))).toEqual(['b/x']);
  });

  it('follow links, to a folder and on the way', async () => {
    const through = (places: Keeper, at: (path: string) => string): void => {
      places.look(at('link'));
      places.look(at('link/one.md'));
    };
    const folder = await settledFolder();
    await linkFolder(join(folder, 'a'), join(folder, 'link'));
    const places = new Keeper();
    through(places, (path) => join(folder, path));
    expect(await places.unchanged()).toBe(true);
    await rm(join(folder, 'link'));
    await symlink(join(folder, 'c'), join(folder, 'link'), 'junction');
    expect(await places.changed()).toEqual([join(folder, 'link'), join(folder, 'link/one.md')]);
  });

  it('do not mind what changes in a folder that was only found', async () => {
    const find = (places: Keeper, at: (path: string) => string): void => void places.find(at('a'));
    expect(await changedBy(find, (at) => writeFile(at('a/new.md'), ''))).toEqual([]);
    expect(await changedBy(find, (at) => rename(at('a'), at('z')))).toEqual(['a']);
    const both = (places: Keeper, at: (path: string) => string): void => {
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
    const places = new Keeper();
    asItIsWritten(file, () => places.look(file));
    expect(await places.unchanged(), 'it may change in the same tick').toBe(false);
    await expect
      .poll(async () => {
        const later = new Keeper();
        later.look(file);
        return later.unchanged();
      })
      .toBe(true);
  });

  it.each([
    ['back', -3_600_000],
    ['forward', 3_600_000],
  ])('know what was written while the clock has jumped %s, and when it is right again', async (_, ms) => {
    const folder = await settledFolder();
    const [file, other] = [join(folder, 'a/one.md'), join(folder, 'c/d/e.md')];
    const look = (...paths: string[]): Keeper => {
      const places = new Keeper();
      for (const path of paths) places.look(path);
      return places;
    };
    const before = look(file, other);
    const during = await afterJump(ms, async () => {
      expect(await before.changed(), 'the clock alone').toEqual([]);
      await writeFile(file, 'eno');
      expect(await before.changed()).toEqual([file]);
      const young = asItIsWritten(file, () => look(file));
      expect(await young.changed(), 'it may be written again within the same time').toEqual([file]);
      let settled = look(file);
      await expect.poll(() => (settled = look(file)).unchanged()).toBe(true);
      await writeFile(file, 'neo');
      expect(await settled.changed()).toEqual([file]);
      return settled;
    });
    expect(await during.changed()).toEqual([file]);
    await writeFile(other, 'E');
    expect(await before.changed()).toEqual([file, other]);
  });

  it.each([1, 2])(
    'know what was written on a disk without file numbers and with times of %i s',
    async (seconds) => {
      const folder = await settledFolder();
      const at = (path: string): string => join(folder, path);
      await onPoorDisk(seconds, async () => {
        const look = (): Keeper => {
          const places = new Keeper();
          for (const path of ['a', 'a/one.md', 'a/two.md']) places.look(at(path));
          places.look(at('none.md'));
          return places;
        };
        await writeFile(at('a/one.md'), 'ONE');
        expect(await look().unchanged(), 'it may be written again within the same time').toBe(false);
        let places = look();
        await expect.poll(() => (places = look()).unchanged(), { timeout: 20_000 }).toBe(true);
        await writeFile(at('a/one.md'), 'eno');
        await rename(at('c/d/e.md'), at('a/two.md'));
        await writeFile(at('none.md'), '');
        expect(await places.changed()).toEqual(
          expect.arrayContaining([at('a/one.md'), at('a/two.md'), at('none.md')]),
        );
      });
    },
  );

  it('are looked at once for all who ask together, and never before they ask', async () => {
    const folder = await settledFolder();
    const places = new Keeper();
    places.look(join(folder, 'a/one.md'));
    const [first, second] = [places.changed(), places.changed()];
    expect(first).toBe(second);
    await writeFile(join(folder, 'a/one.md'), 'other');
    expect(await places.unchanged()).toBe(false);
  });
});

describe('what is missing', () => {
  const NAMES = Array.from({ length: 40 }, (_, at) => `b/host-${at}`);

  async function missing(): Promise<{ at: (path: string) => string; places: Keeper }> {
    const folder = await settledFolder();
    const at = (path: string): string => join(folder, path);
    const places = new Keeper();
    for (const name of NAMES) places.find(at(name));
    expect(await places.changed()).toEqual([]);
    return { at, places };
  }

  it('is asked of its folder at once, until anything happens there', async () => {
    const { at, places } = await missing();
    const looks = async (): Promise<number> => (await fileLooks(() => places.changed())).count;
    expect(await looks()).toBe(1);
    await writeFile(at('b/other.md'), '');
    expect(await looks(), 'each is looked for once more').toBeGreaterThan(NAMES.length);
    await expect.poll(looks).toBe(1);
    await mkdir(at('b/host-7'));
    expect(await places.changed()).toEqual([at('b/host-7')]);
    expect(await places.changed(), 'until it is dropped').toEqual([at('b/host-7')]);
    await rm(at('b/host-7'), { recursive: true });
    expect(await places.changed()).toEqual([]);
  });

  it('is found in a folder that has come in place of another', async () => {
    const { at, places } = await missing();
    await mkdir(at('new/host-3'), { recursive: true });
    await rename(at('b'), at('old'));
    await rename(at('new'), at('b'));
    expect(await places.changed()).toEqual([at('b/host-3')]);
  });

  it('is looked for behind a link that led nowhere, wherever it leads', async () => {
    const { at, places } = await missing();
    await symlink(at('far'), at('b/link'), 'junction');
    await expect.poll(async () => (await fileLooks(() => places.changed())).count).toBe(1);
    places.find(at('b/link'));
    expect(await places.changed()).toEqual([]);
    expect(await places.changed()).toEqual([]);
    await mkdir(at('far'));
    expect(await places.changed()).toEqual([at('b/link')]);
  });

  it('is looked for again when more is missed in the same folder', async () => {
    const { at, places } = await missing();
    expect(await places.firstUnchanged(2)).toBe(true);
    places.find(at('b/late'));
    await mkdir(at('b/late'));
    await mkdir(at('b/host-1'));
    expect(await places.changed()).toEqual([at('b/host-1'), at('b/late')]);
  });

  it('is found where it was missed and came while thousands of others were being compared', async () => {
    const folder = await settledFolder();
    const at = (path: string): string => join(folder, path);
    const places = new Keeper();
    // More than are compared at once, before the one whose folder is noted.
    for (let count = 0; count < 3_000; count += 1) places.find(at(`c/host-${count}`));
    places.find(at('b/first'));
    const comparing = places.changed();
    await turn();
    await turn();
    places.find(at('b/late'));
    mkdirSync(at('b/late'));
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
    expect(await comparing, 'the one that was missed before').toEqual([]);
    expect(await places.changed()).toEqual([at('b/late')]);
  });
});

describe('a folder that was listed', () => {
  async function afterEdit(
    what: 'all' | 'folders',
    edit: (at: (path: string) => string) => Promise<unknown>,
    more: (places: Keeper, at: (path: string) => string) => void = () => undefined,
  ): Promise<string[]> {
    return changedBy((places, at) => {
      places.look(at('a'));
      places.listed(at('a'), readdirSync(at('a'), { withFileTypes: true }), what);
      more(places, at);
    }, edit);
  }
  const swap = async (at: (path: string) => string): Promise<void> => {
    await writeFile(at('a/one.md~'), 'new');
    await rename(at('a/one.md~'), at('a/one.md'));
  };

  it('is as it was while it has the same names, whatever its time', async () => {
    expect(await afterEdit('all', swap)).toEqual([]);
    expect(await afterEdit('all', async (at) => utimes(at('a'), 5, 5))).toEqual([]);
    expect(await afterEdit('folders', (at) => writeFile(at('a/new.md'), ''))).toEqual([]);
    expect(await afterEdit('all', (at) => writeFile(at('a/new.md'), ''))).toEqual(['a']);
    expect(await afterEdit('folders', (at) => mkdir(at('a/new')))).toEqual(['a']);
    const other = async (at: (path: string) => string): Promise<void> => {
      await rm(at('a/one.md'));
      await symlink(at('c/d/e.md'), at('a/one.md'));
    };
    expect(await afterEdit('all', other), 'a link in place of a file').toEqual(['a']);
  });

  it('tells of what was missing in it only where all of its names count', async () => {
    const missing = (places: Keeper, at: (path: string) => string): void => void places.find(at('a/none.md'));
    const comes = (at: (path: string) => string): Promise<void> => writeFile(at('a/none.md'), '');
    expect(await afterEdit('all', comes, missing)).toEqual(['a']);
    expect(await afterEdit('folders', comes, missing)).toEqual(['a/none.md']);
    const before = await changedBy((places, at) => {
      places.look(at('a'));
      missing(places, at);
      places.listed(at('a'), readdirSync(at('a'), { withFileTypes: true }), 'folders');
    }, comes);
    expect(before).toEqual(['a']);
  });

  it('counts as changed where two have found different names in it', async () => {
    const folder = await settledFolder();
    const [at, places] = [join(folder, 'a'), new Keeper()];
    places.look(at);
    places.listed(at, readdirSync(at, { withFileTypes: true }), 'all');
    await writeFile(join(at, 'new.md'), '');
    places.look(at);
    places.listed(at, readdirSync(at, { withFileTypes: true }), 'all');
    expect(await places.changed()).toEqual([at]);
  });
});

describe('what has changed', () => {
  it('is named until it is dropped, and counts again when somebody looks at it', async () => {
    const folder = await settledFolder();
    const [one, two] = ['a/one.md', 'a/two.md'].map((path) => join(folder, path)) as [string, string];
    const places = new Keeper();
    for (const path of [one, two]) places.look(path);
    await writeFile(one, 'other');
    expect(await places.changed()).toEqual([one]);
    expect(await places.changed()).toEqual([one]);
    places.drop([one]);
    expect(await places.changed()).toEqual([]);
    await expect
      .poll(async () => {
        places.drop([one]);
        places.look(one);
        return places.unchanged();
      })
      .toBe(true);
    await writeFile(one, 'again');
    expect(await places.changed()).toEqual([one]);
  });

  it('is named, and the rest taken over, when places are adopted', async () => {
    const folder = await settledFolder();
    const paths = ['a', 'a/one.md', 'a/two.md', 'c/d'].map((path) => join(folder, path));
    const before = new Keeper();
    for (const path of paths) before.look(path);
    const stamps = before.stampsOf(paths) ?? new Float64Array();
    await writeFile(join(folder, 'a/two.md'), 'other');
    const after = new Keeper();
    expect(await after.adopt(paths, stamps)).toEqual([join(folder, 'a/two.md')]);
    expect([after.size, await after.changed()]).toEqual([3, []]);
  });
});
