import { cp, mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { type FolderWatch, type Place, watchFolders, type WatchOptions } from './watch-folders.ts';

/** Folders that are watched, and the next time that something moves in them. */
async function watched(
  files: Record<string, string>,
  places: (top: string) => Place[],
  options?: WatchOptions,
) {
  const top = await temporaryFolder(afterAll);
  await writeFiles(top, files);
  let heard = (): void => undefined;
  const watch: FolderWatch = watchFolders(() => heard(), options);
  onTestFinished(() => watch.close());
  await watch.follow(places(top));
  return {
    top,
    watch,
    /** Does something, waits until it is noticed, and then updates the watched folders, as every listener must. */
    async noticed(work: () => Promise<unknown>): Promise<boolean> {
      const moved = new Promise<boolean>((resolve) => {
        heard = () => resolve(true);
      });
      await work();
      const noticed = await moved;
      await watch.follow(places(top));
      return noticed;
    },
  };
}

const deep = (top: string): Place[] => [{ path: top }, { path: join(top, 'in'), deep: true }];

describe.each([
  { how: 'told by the system', options: {} },
  { how: 'looking itself', options: { polls: true, pollMs: 20 } },
])('folders, $how', ({ options }) => {
  it('notice files that are edited, made, renamed over and removed, at any depth', async () => {
    const { top, noticed } = await watched({ 'in/a/b/file.md': 'one' }, deep, options);
    const file = join(top, 'in/a/b/file.md');
    await noticed(() => writeFile(file, 'another'));
    await noticed(async () => {
      await writeFile(`${file}.tmp`, 'saved by an editor');
      await rename(`${file}.tmp`, file);
    });
    await noticed(() => writeFile(join(top, 'in/a/second.md'), 'x'));
    await noticed(() => rm(join(top, 'in/a/second.md')));
    expect(await noticed(() => writeFile(join(top, 'beside.md'), 'x'))).toBe(true);
  });

  it('go on after folders were removed and made again, moved away and replaced', async () => {
    const { top, noticed } = await watched({ 'in/a/b/file.md': 'one' }, deep, options);
    const inner = join(top, 'in/a/b');
    await noticed(() => rm(join(top, 'in'), { recursive: true }));
    await noticed(() => mkdir(inner, { recursive: true }));
    await noticed(() => writeFile(join(inner, 'file.md'), 'two'));
    await noticed(async () => {
      await rename(join(top, 'in'), join(top, 'away'));
      await cp(join(top, 'away'), join(top, 'in'), { recursive: true });
    });
    expect(await noticed(() => writeFile(join(inner, 'file.md'), 'three'))).toBe(true);
  });

  it('are noticed when they appear where nothing was, with nothing above them watched', async () => {
    const absent = (top: string): Place[] => [{ path: join(top, 'x/y'), deep: true }];
    const { top, watch, noticed } = await watched({}, absent, { pollMs: 20, ...options });
    expect(watch.report().polled.filter(({ why }) => why !== 'asked')).toEqual([]);
    await noticed(() => mkdir(join(top, 'x/y/z'), { recursive: true }));
    expect(await noticed(() => writeFile(join(top, 'x/y/z/file.md'), 'x'))).toBe(true);
  });
});

describe('watching', () => {
  it('passes over what git and package managers keep', async () => {
    const { top, watch, noticed } = await watched(
      { 'in/.git/objects/a': 'x', 'in/node_modules/p/index.js': 'x', 'in/a.md': 'x' },
      deep,
    );
    expect(watch.report().folders).toBe(2);
    await writeFile(join(top, 'in/.git/objects/b'), 'x');
    await writeFile(join(top, 'in/node_modules/p/index.js'), 'y');
    expect(await noticed(() => utimes(join(top, 'in/a.md'), 1, 1))).toBe(true);
  });

  // Elsewhere one handle is enough for any number of folders.
  it.runIf(process.platform === 'linux')(
    'looks itself where there are more folders than it may watch, and says so',
    async () => {
      const files = { 'in/a/x': '', 'in/b/x': '', 'in/c/x': '', 'few/x': '' };
      const places = (top: string): Place[] => [
        { path: join(top, 'in'), deep: true },
        { path: join(top, 'few'), deep: true },
      ];
      const { top, watch, noticed } = await watched(files, places, { most: 3, pollMs: 20 });
      expect(watch.report()).toEqual({ folders: 1, polled: [{ path: join(top, 'in'), why: 'many' }] });
      await noticed(() => writeFile(join(top, 'in/c/x'), 'changed'));
      await noticed(() => writeFile(join(top, 'few/x'), 'changed'));
      await noticed(() => rm(join(top, 'in/b'), { recursive: true }));
      await noticed(() => rm(join(top, 'in/c'), { recursive: true }));
      expect(watch.report()).toEqual({ folders: 3, polled: [] });
    },
  );

  it('has no handles left once it is closed', async () => {
    const { watch } = await watched({ 'in/a/x': '' }, deep);
    expect(watch.report().folders).toBeGreaterThan(1);
    watch.close();
    expect(watch.report()).toEqual({ folders: 0, polled: [] });
    await watch.follow([{ path: '/' }]);
    expect(watch.report().folders).toBe(0);
  });
});
