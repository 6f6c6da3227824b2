import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { fileLooks } from '../../../tests/support/looked-at.ts';
import { Keeper } from './keeper.ts';
import { type Place, watchFolders, type WatchOptions } from './watch-folders.ts';

const FILES = { 'in/a/one.md': 'one', 'in/a/two.md': 'two', 'in/b/c/three.md': '3', 'out/far.md': 'far' };

interface WatchedPlaces {
  at(path: string): string;
  keeper: Keeper;
  /** Compares everything, and then asks whether the watch answers for it. */
  vouchedAfterAll(): Promise<boolean>;
  /** What a call does that has just come: whether nothing has changed, without a look at more than what no folder tells of. */
  asked(apart?: number): Promise<boolean>;
  follow(): Promise<void>;
  /** The watch hears nothing any more. */
  end(): void;
}

/** The top, and the folder in which something has happened with what is in it. */
const FEW = 6;

/** A folder that is watched below `in`, and places in it that were looked at long after they were made. */
async function watched(
  look: (places: Keeper, at: WatchedPlaces['at']) => void,
  { more, ...options }: WatchOptions & { more?: (at: WatchedPlaces['at']) => void } = {},
): Promise<WatchedPlaces> {
  const top = await temporaryFolder(afterAll);
  const at = (path: string): string => join(top, path);
  await writeFiles(top, FILES);
  more?.(at);
  const folderWatch = watchFolders(() => undefined, options);
  onTestFinished(() => folderWatch.close());
  const watch = { watch: () => folderWatch.watch };
  const folders: Place[] = [{ path: at('in'), deep: true }];
  await folderWatch.follow(folders);
  let keeper = new Keeper(watch);
  // Until the clock of the file system has gone on, they prove nothing.
  await expect
    .poll(async () => {
      keeper = new Keeper(watch);
      look(keeper, at);
      return keeper.unchanged();
    })
    .toBe(true);
  async function asked(most = FEW): Promise<boolean> {
    await turn();
    await turn();
    const { result, count } = await fileLooks(() => keeper.changed());
    return result.length === 0 && count <= most;
  }
  return {
    at,
    keeper,
    async vouchedAfterAll() {
      expect(await keeper.changed()).toEqual([]);
      return asked();
    },
    asked,
    follow: () => folderWatch.follow(folders),
    end: () => folderWatch.close(),
  };
}

const all = (places: Keeper, at: WatchedPlaces['at']): void => {
  for (const path of ['in', 'in/a', 'in/a/one.md', 'in/a/two.md', 'in/b/c', 'in/b/c/three.md'])
    places.look(at(path));
  for (const path of ['in/b', 'in/b/none.md', 'in/none/x.md']) places.find(at(path));
};

const EDITS: Record<string, (at: WatchedPlaces['at']) => void> = {
  'a file is written': (at) => writeFileSync(at('in/a/one.md'), 'other'),
  'its size and time stay': (at) => {
    writeFileSync(at('in/a/one.md'), 'eno');
    utimesSync(at('in/a/one.md'), 1, 1);
  },
  'one is moved over it': (at) => renameSync(at('out/far.md'), at('in/a/one.md')),
  'a file comes': (at) => writeFileSync(at('in/b/c/new.md'), ''),
  'a file comes that was missing': (at) => writeFileSync(at('in/b/none.md'), ''),
  'a folder comes that was missing': (at) => mkdirSync(at('in/none')),
  'a file goes': (at) => rmSync(at('in/a/two.md')),
  'a folder goes': (at) => rmSync(at('in/b'), { recursive: true }),
  'a folder is replaced': (at) => {
    renameSync(at('in/a'), at('away'));
    mkdirSync(at('in/a'));
  },
  'the top is moved': (at) => renameSync(at('in'), at('away')),
};

describe.runIf(process.platform === 'linux')('a watch that answers for places', () => {
  it('does so until anything happens to them, and again after all were compared', async () => {
    for (const [what, edit] of Object.entries(EDITS)) {
      const { at, keeper, vouchedAfterAll, asked } = await watched(all);
      expect(await vouchedAfterAll(), what).toBe(true);
      expect(await asked(), `${what}: nothing yet`).toBe(true);
      edit(at);
      expect(await asked(), what).toBe(false);
      expect(await keeper.changed(), what).not.toEqual([]);
    }
    const { at, vouchedAfterAll, asked } = await watched((places, path) => places.look(path('in/a/one.md')));
    expect(await vouchedAfterAll()).toBe(true);
    writeFileSync(at('in/a/beside.md'), '');
    expect(await asked(), 'something happened in the folder, but not to the place').toBe(true);
    writeFileSync(at('in/b/elsewhere.md'), '');
    expect(await asked(), 'in another folder').toBe(true);
  });

  it('leaves what no folder tells of to be compared: links, files with two names, other places', async () => {
    const more = (at: WatchedPlaces['at']): void => {
      symlinkSync(at('out/far.md'), at('in/a/link.md'));
      symlinkSync(at('out'), at('in/linked'));
      writeFileSync(at('out/shared.md'), 'x');
      linkSync(at('out/shared.md'), at('in/a/shared.md'));
    };
    const edits: Record<string, [place: string, edit: (at: WatchedPlaces['at']) => void]> = {
      link: ['in/a/link.md', (at) => writeFileSync(at('out/far.md'), 'changed')],
      'through a link': ['in/linked/far.md', (at) => writeFileSync(at('out/far.md'), 'changed')],
      'a linked folder': ['in/linked', (at) => writeFileSync(at('out/new.md'), '')],
      'another name': ['in/a/shared.md', (at) => writeFileSync(at('out/shared.md'), 'changed')],
      elsewhere: ['out/far.md', (at) => writeFileSync(at('out/far.md'), 'changed')],
      'missing elsewhere': ['out/none/x.md', (at) => mkdirSync(at('out/none'))],
    };
    for (const [what, [place, edit]] of Object.entries(edits)) {
      const { at, vouchedAfterAll, asked } = await watched(
        (places, path) => {
          all(places, path);
          for (const each of [place, 'out/no.md', 'out/never.md']) places.look(path(each));
        },
        { more },
      );
      expect(await vouchedAfterAll(), what).toBe(true);
      expect(await asked(), what).toBe(true);
      edit(at);
      expect(await asked(), what).toBe(false);
    }
  });

  it('notices that what is above the watched folders leads elsewhere', async () => {
    const { at, vouchedAfterAll, asked } = await watched(all);
    expect(await vouchedAfterAll()).toBe(true);
    const top = at('.');
    const aside = `${top}-aside`;
    onTestFinished(() => rmSync(aside, { recursive: true, force: true }));
    renameSync(top, aside);
    mkdirSync(at('in'), { recursive: true });
    expect(await asked()).toBe(false);
  });

  it('answers for folders and places that come later as soon as they are watched and compared', async () => {
    const { at, keeper, vouchedAfterAll, asked } = await watched((seen, path) =>
      seen.look(path('in/a/one.md')),
    );
    expect(await vouchedAfterAll()).toBe(true);
    keeper.look(at('in/b/c/three.md'));
    expect(await asked(), 'a place that was looked at since').toBe(true);
    writeFileSync(at('in/b/c/three.md'), 'changed');
    expect(await asked()).toBe(false);
    const other = await watched((seen, path) => seen.look(path('in/a/one.md')));
    mkdirSync(other.at('in/new'));
    await other.asked();
    await other.follow();
    expect(await other.asked(), 'there are more folders, which may answer for more').toBe(true);
    // A folder that is not new any more, however fast this machine is.
    onTestFinished(() => void vi.restoreAllMocks());
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
    other.keeper.look(other.at('in/new'));
    expect(await other.asked(), 'nothing happened to it').toBe(true);
    writeFileSync(other.at('in/new/file.md'), '');
    expect(await other.asked(), 'one of them has told').toBe(false);
  });

  it('answers for nothing once it has died', async () => {
    for (const [what, edit] of Object.entries(EDITS)) {
      const { at, vouchedAfterAll, keeper, end } = await watched(all);
      expect(await vouchedAfterAll()).toBe(true);
      end();
      edit(at);
      expect(await keeper.changed(), what).not.toEqual([]);
    }
  });

  it('does not where it may have missed something', async () => {
    const { at, vouchedAfterAll, asked } = await watched(all);
    expect(await vouchedAfterAll()).toBe(true);
    for (let index = 0; index < 70; index += 1) writeFileSync(at(`in/b/${index}.md`), '');
    expect(await asked(), 'so much at once may be more than the system remembers').toBe(false);
    const others = [{ platform: 'darwin' }, { platform: 'win32' }, { polls: true }, { most: 1 }] as const;
    for (const options of others) {
      const other = await watched(all, options);
      expect(await other.vouchedAfterAll(), JSON.stringify(options)).toBe(false);
    }
  });
});
