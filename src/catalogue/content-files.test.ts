import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { writeFiles } from '../../tests/support/folders.ts';
import { originOf } from '../../tests/support/records.ts';
import { refusal } from '../../tests/support/thrown.ts';
import { folderTree, type Source } from '../sources/tree.ts';
import { ContentFiles } from './content-files.ts';

const FILES = {
  'one/bmm/a.md': 'one',
  'one/bmm/only-one.md': 'one',
  'one/bmm/folder/x.md': 'one',
  'two/bmm/a.md': 'two',
  'two/bmm/only-two.md': 'two',
  'two/bmm-more/b.md': 'two',
  'two/bmm/large.md': 'x'.repeat(2_000),
  'two/bmm/folder': 'a file where the other has a folder',
};

/** Two sources over real folders, the stronger first. */
async function twoSources(more: Record<string, string> = {}): Promise<{ folder: string; sources: Source[] }> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, { ...FILES, ...more });
  const sources = ['one', 'two'].map((name, index) => ({
    origin: originOf(index + 1),
    tree: folderTree(join(folder, name), 1_000),
  }));
  return { folder, sources };
}

describe('the files of two sources', async () => {
  const { sources } = await twoSources();
  const [one, two] = sources.map(({ origin }) => origin);
  const content = new ContentFiles(sources);

  it.each([
    ['bmm/a.md', 'one', one],
    ['bmm/only-one.md', 'one', one],
    ['bmm/only-two.md', 'two', two],
    ['bmm-more/b.md', 'two', two],
  ])('give %s from %s, file by file', async (path, text, origin) => {
    const found = await content.read(path);
    expect([found.path, found.bytes.toString()]).toEqual([path, text]);
    expect(found.origin).toBe(origin);
  });

  it('do not fall back where the stronger has the file and refuses it', async () => {
    expect((await refusal(() => content.read('bmm/folder'))).code).toBe('forbidden');
    expect((await refusal(() => content.read('bmm/large.md'))).code).toBe('too_large');
    const over = await twoSources({ 'one/bmm/only-two.md': 'x'.repeat(2_000) });
    const error = await refusal(() => new ContentFiles(over.sources).read('bmm/only-two.md'));
    expect(error.code).toBe('too_large');
  });

  it('say by URI what none of them has', async () => {
    for (const files of [content, new ContentFiles([])]) {
      const error = await refusal(() => files.read('bmm/not here.md'));
      expect([error.code, error.subject]).toEqual(['not_found', 'bmad://bmm/not%20here.md']);
    }
  });

  it('are listed once each, sorted, with where they would be read from', async () => {
    const all = [...(await content.all())].map(([path, origin]) => [path, origin.priority]);
    expect(all).toEqual([
      ['bmm-more/b.md', 2],
      ['bmm/a.md', 1],
      ['bmm/folder', 2],
      ['bmm/folder/x.md', 1],
      ['bmm/large.md', 2],
      ['bmm/only-one.md', 1],
      ['bmm/only-two.md', 2],
    ]);
    expect(await new ContentFiles([]).all()).toEqual(new Map());
  });

  it('are listed from what is known without looking, where it is', async () => {
    const [first] = sources;
    const known = new Map(first === undefined ? [] : [[first, ['bmm/promised.md']]]);
    const paths = [...(await new ContentFiles(sources, known).all()).keys()];
    expect(paths).toContain('bmm/promised.md');
    expect(paths).toContain('bmm/only-two.md');
    expect(paths).not.toContain('bmm/only-one.md');
  });

  it('below a folder are those in it, not in one whose name begins the same', async () => {
    expect(await content.below('bmm')).toEqual([
      'bmm/a.md',
      'bmm/folder',
      'bmm/folder/x.md',
      'bmm/large.md',
      'bmm/only-one.md',
      'bmm/only-two.md',
    ]);
    expect(await content.below('bmm/folder')).toEqual(['bmm/folder/x.md']);
    expect(await content.below('bmm-more')).toEqual(['bmm-more/b.md']);
    for (const folder of ['gone', 'bm', 'bmm/a.md']) expect(await content.below(folder)).toEqual([]);
    expect(await content.below('bmm')).toBe(await content.below('bmm'));
  });

  it('are read as they are now, and listed as they were first', async () => {
    const { folder, sources: changing } = await twoSources();
    const files = new ContentFiles(changing);
    const before = [...(await files.all()).keys()];
    await writeFiles(folder, { 'one/bmm/only-two.md': 'now in one', 'one/bmm/new.md': 'new' });
    expect((await files.read('bmm/only-two.md')).bytes.toString()).toBe('now in one');
    expect((await files.read('bmm/new.md')).bytes.toString()).toBe('new');
    expect([...(await files.all()).keys()]).toEqual(before);
  });
});

describe('the files as one of the sources sees them', async () => {
  const { sources } = await twoSources();
  const [one, two] = sources.map(({ origin }) => origin);
  const walks: string[] = [];
  const counted = sources.map((source) => ({
    ...source,
    tree: {
      ...source.tree,
      files: (path?: string) => {
        walks.push(source.tree.root);
        return source.tree.files(path);
      },
    },
  }));
  const content = new ContentFiles(counted);

  it('are its own first, then those of the others', async () => {
    if (two === undefined || one === undefined) throw new Error('two sources are needed');
    const own = content.preferring(two);
    const texts = ['bmm/a.md', 'bmm/only-one.md', 'bmm/only-two.md'].map(async (path) =>
      (await own.read(path)).bytes.toString(),
    );
    expect(await Promise.all(texts)).toEqual(['two', 'one', 'two']);
    expect((await own.all()).get('bmm/a.md')).toBe(two);
    expect((await content.all()).get('bmm/a.md')).toBe(one);
    expect([...(await own.all()).keys()].sort()).toEqual([...(await content.all()).keys()].sort());
  });

  it('are listed without another walk', async () => {
    await Promise.all(sources.map(({ origin }) => content.preferring(origin).all()));
    expect(walks.toSorted()).toEqual(sources.map(({ tree }) => tree.root).toSorted());
  });

  it('are the same as ever for the first, and for an origin that is not there', () => {
    expect(content.preferring(sources[0]?.origin ?? originOf(1))).toBe(content);
    expect(content.preferring(originOf(7))).toBe(content);
  });
});
