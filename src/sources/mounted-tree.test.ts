import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { linkFolder, writeFiles } from '../../tests/support/folders.ts';
import { refusal } from '../../tests/support/thrown.ts';
import { mountedTree, folderTree, type Tree } from './tree.ts';

/** An install as BMAD leaves it: its own folder, two skills elsewhere, and one mounted inside another. */
async function install(): Promise<{ folder: string; tree: Tree }> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, {
    'bmad/top.md': 'top',
    'bmad/bmm/a.md': 'a',
    'bmad/x/hidden.md': 'hidden by what is mounted over it',
    'skill/SKILL.md': 'skill',
    'skill/inner/covered.md': 'covered',
    'other/SKILL.md': 'other',
    'inner/deep/one.md': 'one',
    'over/x.md': 'over',
    'secret.md': 'secret',
  });
  const open = (path: string): Tree => folderTree(join(folder, path), 1_000);
  const tree = mountedTree(join(folder, 'bmad'), [
    { at: '', tree: open('bmad') },
    { at: '.claude/skills/bmad-x', tree: open('skill') },
    { at: '.agents/skills/bmad-y', tree: open('other') },
    { at: '.claude/skills/bmad-x/inner', tree: open('inner') },
    { at: 'x', tree: open('over') },
  ]);
  return { folder, tree };
}

const ALL = [
  '.agents/skills/bmad-y/SKILL.md',
  '.claude/skills/bmad-x/SKILL.md',
  '.claude/skills/bmad-x/inner/deep/one.md',
  'bmm/a.md',
  'top.md',
  'x/x.md',
];

describe('several folders as one tree', async () => {
  const { folder, tree } = await install();

  it.each([
    ['top.md', 'top', 'bmad/top.md'],
    ['bmm/a.md', 'a', 'bmad/bmm/a.md'],
    ['.claude/skills/bmad-x/SKILL.md', 'skill', 'skill/SKILL.md'],
    ['.agents/skills/bmad-y/SKILL.md', 'other', 'other/SKILL.md'],
    ['.claude/skills/bmad-x/inner/deep/one.md', 'one', 'inner/deep/one.md'],
    ['x/x.md', 'over', 'over/x.md'],
  ])('reads %s from where it lies', async (path, text, place) => {
    expect(await tree.text(path)).toBe(text);
    expect((await tree.read(path)).toString()).toBe(text);
    expect(tree.place(path)).toBe(join(folder, place));
    await utimes(join(folder, place), 1_000, 3_000);
    expect(await tree.modified(path)).toBe(3_000_000);
  });

  it.each([
    'x/hidden.md',
    '.claude/skills/bmad-x/inner/covered.md',
    '.claude/skills/gone/SKILL.md',
    'gone.md',
  ])('has nothing under %s', async (path) => {
    expect((await refusal(() => tree.read(path))).code).toBe('not_found');
    expect((await refusal(() => tree.text(path))).code).toBe('not_found');
    expect(await tree.modified(path)).toBeUndefined();
  });

  it.each([
    '../secret.md',
    'bmm/../../secret.md',
    '.claude/skills/bmad-x/../secret.md',
    '.claude/skills/bmad-x/../other/SKILL.md',
    '.claude/skills/bmad-x/inner/../bmad/top.md',
    'x/../secret.md',
  ])('lets nothing cross from one folder into another: %s', async (path) => {
    expect((await refusal(() => tree.read(path))).code).toBe('forbidden');
    expect(await tree.modified(path)).toBeUndefined();
  });

  it.each([
    ['', ['.agents', '.claude', 'bmm', 'top.md', 'x']],
    ['.claude', ['skills']],
    ['.claude/skills', ['bmad-x']],
    ['.claude/skills/bmad-x', ['SKILL.md', 'inner']],
    ['.claude/skills/bmad-x/inner', ['deep']],
    ['x', ['x.md']],
    ['bmm', ['a.md']],
  ])('lists %j with what is mounted below it', async (path, names) => {
    const entries = await tree.list(path);
    expect(entries.map(({ name }) => name)).toEqual(names);
    expect(entries.every(({ name, kind }) => kind === (name.endsWith('.md') ? 'file' : 'folder'))).toBe(true);
  });

  it.each(['gone', '.cla', '.claude/skills/bmad', '.agents/skills/bmad-y/inner'])(
    'has no folder %s to list',
    async (path) => {
      expect((await refusal(() => tree.list(path))).code).toBe('not_found');
      expect(await tree.files(path)).toEqual([]);
    },
  );

  it('finds every file once, from any folder on', async () => {
    expect(await tree.files()).toEqual(ALL);
    for (const path of [
      '.claude',
      '.claude/skills/bmad-x',
      '.claude/skills/bmad-x/inner',
      'bmm',
      'x',
      '.agents',
    ]) {
      expect(await tree.files(path), path).toEqual(ALL.filter((file) => file.startsWith(`${path}/`)));
    }
    for (const path of ALL) expect(await tree.read(path), path).toBeInstanceOf(Buffer);
  });

  it('has the root it was given', () => {
    expect(tree.root).toBe(join(folder, 'bmad'));
  });
});

describe('mounts', () => {
  it('without a top have only what is mounted', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, { 'project/.env': 'TOKEN=1', 'project/.claude/skills/bmad-x/SKILL.md': 'x' });
    const project = join(folder, 'project');
    const at = '.claude/skills/bmad-x';
    const tree = mountedTree(project, [{ at, tree: folderTree(join(project, at), 1_000) }]);
    expect(await tree.files()).toEqual([`${at}/SKILL.md`]);
    expect(await tree.list('')).toEqual([{ name: '.claude', kind: 'folder' }]);
    for (const path of ['.env', '', '.claude', '../project/.env']) {
      expect((await refusal(() => tree.read(path))).code, path).toBe('not_found');
    }
    expect((await refusal(() => tree.read(`${at}/../../../.env`))).code).toBe('forbidden');
    expect((await refusal(() => tree.place('.env'))).code).toBe('not_found');
    expect(await tree.modified('.env')).toBeUndefined();
  });

  it('of nothing are an empty tree that has not even a top', async () => {
    const tree = mountedTree('/nowhere', []);
    expect(await tree.files()).toEqual([]);
    expect((await refusal(() => tree.list(''))).code).toBe('not_found');
  });

  it('of one folder at the top are that folder', async () => {
    const only = folderTree(await temporaryFolder(afterAll), 1_000);
    expect(mountedTree(only.root, [{ at: '', tree: only }])).toBe(only);
  });

  it('at the same place give the first of them', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, { 'one/a.md': '1', 'two/a.md': '2', 'two/b.md': '2' });
    const mounts = ['one', 'two'].map((name) => ({ at: 'm', tree: folderTree(join(folder, name), 1_000) }));
    const tree = mountedTree(folder, mounts);
    expect(await tree.files()).toEqual(['m/a.md']);
    expect(await tree.text('m/a.md')).toBe('1');
  });

  it('keep their jails when a folder links to another', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, { 'one/a.md': '1', 'two/b.md': '2' });
    await linkFolder(join(folder, 'two'), join(folder, 'one/link'));
    const mounts = ['one', 'two'].map((at) => ({ at, tree: folderTree(join(folder, at), 1_000) }));
    const tree = mountedTree(folder, mounts);
    expect(await tree.files()).toEqual(['one/a.md', 'two/b.md']);
    expect((await refusal(() => tree.read('one/link/b.md'))).code).toBe('forbidden');
  });
});
