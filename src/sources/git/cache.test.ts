import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { leaveLock, NOBODY } from '../../../tests/support/dead-holder.ts';
import { gitCacheIn, teamRepository, textsIn } from '../../../tests/support/git-cache.ts';
import { makeRepository, type TestRepository } from '../../../tests/support/git-repository.ts';
import { refusal, thrownBy } from '../../../tests/support/thrown.ts';
import { processSpace } from '../../base/files/leftovers.ts';
import { parseGitAddress } from './address.ts';
import type { GitCache } from './cache.ts';

let folder: string;
let cacheFolder: string;

beforeEach(async () => {
  folder = await temporaryFolder((cleanUp) => onTestFinished(cleanUp));
  cacheFolder = join(folder, 'cache');
});

const open = (more: Parameters<typeof gitCacheIn>[1] = {}): GitCache => gitCacheIn(folder, more);

describe('GitCache', () => {
  let team: TestRepository;
  let first: string;
  let second: string;

  beforeEach(async () => {
    ({ team, first, second } = await teamRepository(folder));
  });

  it('takes every form of a ref', async () => {
    const cache = open();
    const text = async (point: string): Promise<string> => {
      const { folder: place } = await cache.refresh(parseGitAddress(`${team.source}${point}`));
      return readFile(join(place, 'agents/ada.md'), 'utf8');
    };
    const forms: [string, string][] = [
      ['', 'two'],
      ['#main', 'two'],
      ['#v1', 'one'],
      ['#v1-annotated', 'one'],
      ['#feature/x-1', 'one'],
      [`#${first}`, 'one'],
      [`#${first.slice(0, 8)}`, 'one'],
      [`#${second}`, 'two'],
    ];
    for (const [point, expected] of forms) expect([point, await text(point)]).toEqual([point, expected]);
    const { folder: sub, files } = await cache.refresh(parseGitAddress(`${team.source}#main:/packs/x`));
    expect([await textsIn(sub), files]).toEqual([{ 'agents/bob.md': 'bob' }, 1]);
    // One repository for all of them, and one copy for each commit and subpath.
    expect(await readdir(join(cacheFolder, 'repositories'))).toHaveLength(1);
    expect(await readdir(join(cacheFolder, 'trees'))).toHaveLength(3);
    expect(await readdir(join(cacheFolder, 'work'))).toEqual([]);
  });

  it('finds a short id and a commit that the host hands out only with its branch', async () => {
    execFileSync('git', ['config', '--unset', 'uploadpack.allowAnySHA1InWant'], { cwd: team.folder });
    execFileSync('git', ['config', 'uploadpack.allowReachableSHA1InWant', 'false'], { cwd: team.folder });
    for (const ref of [first, first.slice(0, 7)]) {
      const cache = open({ folder: join(folder, `cache-${ref.length}`) });
      expect((await cache.refresh(parseGitAddress(`${team.source}#${ref}`))).commit).toBe(first);
    }
  });

  it('finds a tag behind tens of thousands of other refs', async () => {
    const refs = Array.from({ length: 12_000 }, (_, index) => `${first} refs/pull/${index}/head\n`);
    await writeFile(join(team.folder, 'packed-refs'), refs.join(''));
    expect((await open().refresh(parseGitAddress(`${team.source}#v1`))).commit).toBe(first);
  });

  it('says what is missing, with what there is', async () => {
    const cache = open();
    const refused = (point: string) =>
      refusal(() => cache.refresh(parseGitAddress(`${team.source}${point}`)));
    expect(await refused('#v1-anotated')).toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('no branch or tag "v1-anotated"') as string,
      suggestions: expect.arrayContaining(['v1-annotated']) as string[],
    });
    expect(await refused('#main:/no/such')).toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('no folder "no/such"') as string,
    });
    expect(await refused('#deadbeef1')).toMatchObject({ code: 'not_found' });
    const empty = await makeRepository(folder, 'empty');
    expect(await thrownBy(() => cache.refresh(parseGitAddress(empty.source)))).toMatchObject({
      message: expect.stringContaining('is an empty repository') as string,
    });
    const gone = parseGitAddress(`${team.source.replace('team.git', 'gone.git')}#main`);
    expect(await thrownBy(() => cache.refresh(gone))).toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('no such repository') as string,
    });
    expect((await cache.sighting(gone))?.trouble).toContain('no such repository');
    const noGit = open({ env: { PATH: folder } });
    expect(await thrownBy(() => noGit.refresh(parseGitAddress(team.source)))).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('git was not found') as string,
    });
  });

  it('makes a copy again that is damaged', async () => {
    const address = parseGitAddress(team.source);
    const { folder: place, commit } = await open().refresh(address);
    await writeFile(join(place, 'agents/ada.md'), '');
    expect(await open().snapshot(address, commit)).toBeUndefined();
    expect((await open().refresh(address)).folder).toBe(place);
    expect(await readFile(join(place, 'agents/ada.md'), 'utf8')).toBe('two');
    for (const text of ['', 'null', '{}', '{"commit":"x"}']) {
      await writeFile(join(place, '..', 'receipt.json'), text);
      expect(await open().snapshot(address, commit)).toBeUndefined();
      expect((await open().obtain(address, commit)).commit).toBe(commit);
    }
  });

  it('keeps and serves what it has when the remote is gone', async () => {
    const address = parseGitAddress(`${team.source}#main`);
    let time = 1_000_000;
    const cache = open({ now: () => time });
    const { commit } = await cache.refresh(address);
    await rename(team.folder, `${team.folder}.gone`);
    time += 5 * 86_400_000;
    await thrownBy(() => cache.refresh(address));
    expect(await cache.sighting(address)).toMatchObject({
      commit,
      checkedAt: 1_000_000,
      trouble: expect.stringContaining('no such repository') as string,
      troubleAt: time,
    });
    expect((await cache.snapshot(address, commit))?.commit).toBe(commit);
    expect(await cache.obtain(address, commit)).toMatchObject({ commit });
  });

  it('tells a branch that went on from one whose history was rewritten, and a tag that was moved', async () => {
    const main = parseGitAddress(`${team.source}#main`);
    const tag = parseGitAddress(`${team.source}#v1`);
    const cache = open();
    await cache.refresh(main);
    await cache.refresh(tag);
    const third = await team.commit({ 'agents/ada.md': 'three' });
    await cache.refresh(main);
    expect(await cache.relate(main, { commit: second })).toBe('continued');
    await team.git('reset', '--quiet', '--hard', first);
    const forced = await team.commit({ 'agents/ada.md': 'forced' });
    await team.git('tag', '-f', 'v1', forced);
    await team.git('push', '--quiet', '--force', 'origin', 'v1');
    expect((await cache.refresh(main)).commit).toBe(forced);
    expect(await cache.relate(main, { commit: third })).toBe('rewritten');
    expect((await cache.refresh(tag)).commit).toBe(forced);
    expect(await cache.relate(tag, { commit: first, kind: 'tag' })).toBe('moved tag');
  });

  it('recovers from what a killed process leaves behind', async () => {
    const address = parseGitAddress(`${team.source}#main`);
    const cache = open();
    await cache.refresh(address);
    const repository = join(cacheFolder, 'repositories', `${address.repositoryKey}.git`);
    await writeFile(join(repository, 'shallow.lock'), '');
    await writeFile(join(repository, 'packed-refs.lock'), '');
    await writeFile(join(repository, 'objects/pack/tmp_pack_x'), 'half');
    await mkdir(join(cacheFolder, 'work', `${NOBODY}-${processSpace()}-abc`), { recursive: true });
    await leaveLock(join(cacheFolder, 'locks', `${address.repositoryKey}.lock`));
    const third = await team.commit({ 'agents/ada.md': 'three' });
    expect((await cache.refresh(address)).commit).toBe(third);
    expect(await readdir(join(cacheFolder, 'work'))).toEqual([]);
    // A repository that is damaged beyond that is made anew; the copies stay.
    await rm(join(repository, 'objects'), { recursive: true });
    const fourth = await team.commit({ 'agents/ada.md': 'four' });
    expect((await cache.refresh(address)).commit).toBe(fourth);
    expect((await cache.snapshot(address, third))?.commit).toBe(third);
  });

  it('lists what it keeps and clears all but what is in use', async () => {
    const [main, tag] = ['#main', '#v1'].map((point) => parseGitAddress(`${team.source}${point}`)) as [
      ReturnType<typeof parseGitAddress>,
      ReturnType<typeof parseGitAddress>,
    ];
    const cache = open();
    const kept = await cache.refresh(main);
    await cache.refresh(tag);
    expect((await cache.list()).map(({ source, commit }) => [source, commit])).toEqual([
      [main.source, second],
      [tag.source, first],
    ]);
    expect(await cache.clear([{ address: main, commit: second }])).toMatchObject({ copies: 1 });
    expect((await cache.list()).map(({ folder: place }) => place)).toEqual([kept.folder]);
    expect(await cache.clear()).toMatchObject({ copies: 1 });
    expect(await cache.list()).toEqual([]);
    expect((await cache.refresh(main)).commit).toBe(second);
  });

  it('stops when the caller does', async () => {
    const caller = new AbortController();
    const address = parseGitAddress(team.source);
    const work = open().refresh(address, { signal: caller.signal, progress: () => caller.abort() });
    expect(await thrownBy(() => work)).toMatchObject({ name: 'AbortError' });
    expect((await open().refresh(address)).commit).toBe(second);
  });
});
