import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { linkFolder, writeFiles } from '../../tests/support/folders.ts';
import { refusal } from '../../tests/support/thrown.ts';
import { contentPath, contentUri } from '../base/files/paths.ts';
import { folderTree, optionalText, rememberingTree, type Tree } from './tree.ts';

const LIMIT = 1_000;

async function treeOf(files: Record<string, string | Buffer>): Promise<{ folder: string; tree: Tree }> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, files);
  return { folder, tree: folderTree(folder, LIMIT) };
}

describe('the files of a folder', () => {
  it('are sorted by path, from any folder on', async () => {
    const { tree } = await treeOf({
      'b.md': '',
      'a/z.md': '',
      'a/b/c.md': '',
      'a-b.md': '',
      B: '',
      'ä/é': '',
      'e/': '',
    });
    expect(await tree.files()).toEqual(['B', 'a-b.md', 'a/b/c.md', 'a/z.md', 'b.md', 'ä/é']);
    expect(await tree.files('a')).toEqual(['a/b/c.md', 'a/z.md']);
    expect(await tree.files('a/b')).toEqual(['a/b/c.md']);
  });

  it('are none in a file, in an empty folder and in one that is not there', async () => {
    const { tree, folder } = await treeOf({ 'a.md': '', 'e/': '' });
    for (const path of ['a.md', 'e', 'gone', '../..']) expect(await tree.files(path), path).toEqual([]);
    expect(await folderTree(join(folder, 'gone'), LIMIT).files()).toEqual([]);
  });

  it('do not include what a linked folder holds, nor what lies outside', async () => {
    const { tree, folder } = await treeOf({ 'top/a/one.md': '1', 'top/a/two.md': '2', 'secret.md': 's' });
    const inner = folderTree(join(folder, 'top'), LIMIT);
    await linkFolder(join(folder, 'top/a'), join(folder, 'top/linked'));
    await linkFolder(join(folder, 'top'), join(folder, 'top/a/loop'));
    await linkFolder(folder, join(folder, 'top/out'));
    await symlink('a/one.md', join(folder, 'top/link.md'));
    await symlink('../secret.md', join(folder, 'top/leak.md'));
    await symlink('gone.md', join(folder, 'top/dangling.md'));
    expect(await inner.files()).toEqual(['a/one.md', 'a/two.md', 'link.md']);
    // It can still be read by the name of the link, which some files use.
    expect(await inner.text('linked/two.md')).toBe('2');
    expect((await refusal(() => inner.read('leak.md'))).code).toBe('forbidden');
    expect((await refusal(() => inner.read('out/secret.md'))).code).toBe('forbidden');
    expect(await tree.files('top')).toContain('top/leak.md');
  });

  it('may lie 200 folders deep', async () => {
    const deep = Array.from({ length: 200 }, (_, index) => `d${index % 10}`).join('/');
    const { tree } = await treeOf({ [`${deep}/bottom.md`]: 'down here' });
    expect(await tree.files()).toEqual([`${deep}/bottom.md`]);
    expect(await tree.text(`${deep}/bottom.md`)).toBe('down here');
  });

  it('end where no path could name them', async () => {
    const deep = (count: number): string => Array.from({ length: count }, () => 'd').join('/');
    const { tree } = await treeOf({ [`${deep(255)}/last.md`]: '', [`${deep(300)}/beyond.md`]: '' });
    expect(await tree.files()).toEqual([`${deep(255)}/last.md`]);
  });

  const ODD = [
    'a\nb',
    'a b.md',
    '#?.md',
    '%.md',
    "it's [1].md",
    '日本語.md',
    '👩‍💻.md',
    'e\u0301.md',
    '-.md',
    '...md',
    '~',
  ];

  it.skipIf(process.platform === 'win32')('are exactly those that can be asked for by a URI', async () => {
    const refused = [
      'a:b',
      'a\\b',
      '\u001B[2J',
      'dot.',
      'space ',
      'a%2eb',
      '\uFF0E\uFF0E',
      'a\u2215b',
      '\u2028',
    ];
    const { tree } = await treeOf(
      Object.fromEntries(
        [...ODD, ...refused].flatMap((name) => [
          [name, 'x'],
          [`in/${name}.d/f`, 'x'],
          [`f/${name}`, 'x'],
        ]),
      ),
    );
    const all = await tree.files();
    expect(all.filter((path) => !path.includes('/'))).toEqual([...ODD].sort());
    for (const path of all) expect(contentPath(contentUri(path))).toBe(path);
    for (const name of refused) expect(all).not.toContain(`f/${name}`);
  });
});

describe('a tree', () => {
  it('gives bytes as they are, with a mark of UTF-8 and without', async () => {
    const { tree } = await treeOf({ 'bom.md': '\uFEFFx\r\n', bytes: Buffer.from([0, 255, 254]) });
    expect(await tree.text('bom.md')).toBe('\uFEFFx\r\n');
    expect([...(await tree.read('bytes'))]).toEqual([0, 255, 254]);
  });

  it.each([
    ['gone.md', 'not_found'],
    ['a.md/b', 'not_found'],
    ['folder', 'forbidden'],
    ['', 'forbidden'],
    ['..', 'forbidden'],
    ['../../../../../etc/passwd', 'forbidden'],
    ['large', 'too_large'],
  ])('refuses %j as %s', async (path, code) => {
    const { tree } = await treeOf({ 'a.md': '', 'folder/': '', large: 'x'.repeat(LIMIT + 1) });
    const error = await refusal(() => tree.read(path));
    expect(error.code).toBe(code);
    expect((await refusal(() => tree.text(path))).code).toBe(code);
  });

  it('knows places and times, and no time for what is not there or outside', async () => {
    const { tree, folder } = await treeOf({ 'a/b.md': '' });
    await utimes(join(folder, 'a/b.md'), 1_000, 2_000);
    expect(tree.place('a/b.md')).toBe(join(folder, 'a', 'b.md'));
    expect(await tree.modified('a/b.md')).toBe(2_000_000);
    expect(await tree.modified('gone')).toBeUndefined();
    expect(await tree.modified('..')).toBeUndefined();
  });

  it('gives the text of what may be absent, and hides no other trouble', async () => {
    const { tree } = await treeOf({ 'a.md': 'a', 'folder/': '' });
    expect(await optionalText(tree, 'a.md')).toBe('a');
    expect(await optionalText(tree, 'gone.md')).toBeUndefined();
    expect((await refusal(() => optionalText(tree, 'folder'))).code).toBe('forbidden');
  });
});

describe('a tree that remembers', () => {
  it('reads each file once, as bytes or as text', async () => {
    const { tree, folder } = await treeOf({ 'a.md': 'first', 'b.md': 'first' });
    const kept = rememberingTree(tree);
    expect((await kept.read('a.md')).toString()).toBe('first');
    expect(await kept.text('b.md')).toBe('first');
    await writeFiles(folder, { 'a.md': 'second', 'b.md': 'second' });
    expect((await kept.read('a.md')).toString()).toBe('first');
    expect((await kept.read('b.md')).toString()).toBe('first');
    expect(await kept.text('a.md')).toBe('first');
    expect(await tree.text('a.md')).toBe('second');
  });

  it('does not remember a refusal', async () => {
    const { tree, folder } = await treeOf({});
    const kept = rememberingTree(tree);
    expect((await refusal(() => kept.read('a.md'))).code).toBe('not_found');
    await writeFile(join(folder, 'a.md'), 'there now');
    expect((await kept.read('a.md')).toString()).toBe('there now');
  });

  it('reads once for callers that come at the same time', async () => {
    const { tree, folder } = await treeOf({ 'a.md': 'x' });
    let reads = 0;
    const kept = rememberingTree({ ...tree, read: (path) => ((reads += 1), tree.read(path)) });
    const all = await Promise.all(Array.from({ length: 20 }, () => kept.read('a.md')));
    expect([reads, new Set(all).size]).toEqual([1, 1]);
    await rm(join(folder, 'a.md'));
    expect((await kept.read('a.md')).toString()).toBe('x');
  });

  it('lists what is there now', async () => {
    const { tree, folder } = await treeOf({ 'a.md': 'x' });
    const kept = rememberingTree(tree);
    expect(await kept.files()).toEqual(['a.md']);
    await mkdir(join(folder, 'b'));
    expect((await kept.list('')).map(({ name }) => name)).toEqual(['a.md', 'b']);
    expect([kept.root, kept.place('a.md')]).toEqual([folder, join(folder, 'a.md')]);
  });
});

describe('what a tree does not show', async () => {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, {
    '.git/config': 'secret',
    '.GIT/other': 'secret',
    'a/node_modules/x/SKILL.md': 'x',
    'a/one.md': 'one',
    'b/two.md': 'two',
    '.gitignore': '',
    '_memory/.bmad-memory/store.db': 'secret',
    '_memory/.BMAD-MEMORY/other.db': 'secret',
  });
  const all = folderTree(folder, 1_000);
  const some = folderTree(folder, 1_000, { shows: (path) => path === 'a' || path.startsWith('a/') });

  it('is what git and package managers keep, and our own state', async () => {
    expect(await all.files()).toEqual(['.gitignore', 'a/one.md', 'b/two.md']);
    expect((await all.list('a')).map(({ name }) => name)).toEqual(['one.md']);
    for (const path of [
      '.git/config',
      '.GIT/other',
      'a/node_modules/x/SKILL.md',
      '_memory/.bmad-memory/store.db',
      '_memory/.BMAD-MEMORY/other.db',
    ]) {
      expect((await refusal(() => all.read(path))).code).toBe('not_found');
      expect(await all.modified(path)).toBeUndefined();
    }
    expect((await refusal(() => all.list('.git'))).code).toBe('not_found');
  });

  it('is what it is told to leave out', async () => {
    expect(await some.files()).toEqual(['a/one.md']);
    expect((await refusal(() => some.text('b/two.md'))).code).toBe('not_found');
    expect(await some.text('a/one.md')).toBe('one');
  });
});
