import { execFileSync } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import {
  discardFolder,
  folderBytes,
  modifiedAt,
  newWorkFolder,
  publishFolder,
  readState,
  stateNames,
  writeAtomic,
  writeLink,
  writeNew,
} from './file-state.ts';

let folder: string;

beforeEach(async () => {
  folder = await temporaryFolder((cleanUp) => onTestFinished(cleanUp));
});

describe('a file of ours', () => {
  it('is replaced as a whole, for its user only, and leaves no draft behind', async () => {
    const file = join(folder, 'a/b/file.json');
    await writeAtomic(file, 'one');
    await writeAtomic(file, 'two');
    expect(await readState(file)).toBe('two');
    expect(await readdir(join(folder, 'a/b'))).toEqual(['file.json']);
    expect((await stat(file)).mode & 0o077).toBe(0);
    expect((await stat(join(folder, 'a'))).mode & 0o077).toBe(0);
  });

  it('is whole for whoever reads it while many write it', async () => {
    const file = join(folder, 'file');
    const texts = Array.from({ length: 8 }, (_, index) => String(index).repeat(100_000));
    await writeAtomic(file, texts[0] ?? '');
    const writing = Promise.all(texts.map((text) => writeAtomic(file, text)));
    for (let read = 0; read < 50; read++) expect(texts).toContain(await readFile(file, 'utf8'));
    await writing;
    expect(await readdir(folder)).toEqual(['file']);
  });

  it('that is absent says nothing; one that cannot be read is an error that says so', async () => {
    expect(await readState(join(folder, 'none'))).toBeUndefined();
    await writeFile(join(folder, 'file'), '');
    expect(await readState(join(folder, 'file', 'below'))).toBeUndefined();
    expect(await refusal(() => readState(folder))).toMatchObject({
      code: 'unavailable',
      message: `${folder} cannot be read: it is a folder.`,
      hint: 'Check what is at this path, and remove it or replace it with a regular file.',
    });
    await symlink(join(folder, 'loop'), join(folder, 'loop'));
    expect((await refusal(() => stateNames(join(folder, 'loop')))).message).toContain('cannot be read');
  });

  it('is not read where a project puts something else in its place', async () => {
    await symlink('/dev/zero', join(folder, 'endless'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await writeFile(join(folder, 'huge'), Buffer.alloc(17 * 1024 * 1024));
    for (const name of ['endless', 'pipe', 'huge'])
      expect(await refusal(() => readState(join(folder, name), { follow: true }))).toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(/it is (?:not a regular file|too large)\.$/) as string,
      });
    expect(await refusal(() => readState(join(folder, 'endless')))).toMatchObject({
      code: 'forbidden',
      message: `${join(folder, 'endless')} is a link; it was not followed.`,
    });
  });

  it('keeps its permissions, and the link it is reached by', async () => {
    await writeFile(join(folder, 'real.toml'), 'one', { mode: 0o664 });
    await chmod(join(folder, 'real.toml'), 0o664);
    await symlink('real.toml', join(folder, 'config.toml'));
    await writeAtomic(join(folder, 'config.toml'), 'two');
    expect(await readFile(join(folder, 'real.toml'), 'utf8')).toBe('two');
    expect((await stat(join(folder, 'real.toml'))).mode & 0o777).toBe(0o664);
    expect((await lstat(join(folder, 'config.toml'))).isSymbolicLink()).toBe(true);
  });

  it('cannot be written where a folder is in the way, and keeps what is there', async () => {
    await mkdir(join(folder, 'taken', 'inner'), { recursive: true });
    expect((await refusal(() => writeAtomic(join(folder, 'taken'), 'x'))).message).toContain(
      'cannot be written',
    );
    await writeFile(join(folder, 'file'), 'kept');
    expect((await refusal(() => writeAtomic(join(folder, 'file', 'below'), 'x'))).code).toBe('unavailable');
    expect(await readFile(join(folder, 'file'), 'utf8')).toBe('kept');
    expect((await readdir(folder)).sort()).toEqual(['file', 'taken']);
  });

  it('is made new only once', async () => {
    const file = join(folder, 'new');
    expect(await writeNew(file, Buffer.from('one'))).toBe(true);
    expect(await writeNew(file, Buffer.from('two'))).toBe(false);
    expect(await readFile(file, 'utf8')).toBe('one');
    await writeLink(join(folder, 'link'), 'new');
    expect(await readFile(join(folder, 'link'), 'utf8')).toBe('one');
  });
});

describe('a folder of ours', () => {
  it('is put in its place whole; the first one stays', async () => {
    const work = join(folder, 'work');
    const place = join(folder, 'trees', 'x');
    const drafts = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        const draft = await newWorkFolder(work);
        await writeFiles(draft, { [name]: name });
        return draft;
      }),
    );
    expect(drafts.every((draft) => draft.startsWith(join(work, `${process.pid}-`)))).toBe(true);
    const published = await Promise.all(drafts.map((draft) => publishFolder(draft, place)));
    expect(published.filter(Boolean)).toHaveLength(1);
    expect(await readdir(place)).toEqual([['a', 'b', 'c'][published.indexOf(true)]]);
    expect(await readdir(work)).toEqual([]);
  });

  it('goes away at once, and does not need to be there', async () => {
    await writeFiles(folder, { 'trees/x/deep/file': 'text' });
    await chmod(join(folder, 'trees/x/deep'), 0o700);
    await discardFolder(join(folder, 'trees/x'), join(folder, 'work'));
    await discardFolder(join(folder, 'trees/x'), join(folder, 'work'));
    expect(await readdir(join(folder, 'trees'))).toEqual([]);
    expect(await readdir(join(folder, 'work'))).toEqual([]);
  });

  it('is counted, listed in order, and has a time of change', async () => {
    await writeFiles(folder, { 'x/b': '12345', 'x/a/c': '123' });
    expect(await folderBytes(join(folder, 'x'))).toBe(8);
    expect(await folderBytes(join(folder, 'none'))).toBe(0);
    expect(await stateNames(join(folder, 'x'))).toEqual(['a', 'b']);
    expect(await stateNames(join(folder, 'none'))).toEqual([]);
    expect(await modifiedAt(join(folder, 'x'))).toBeGreaterThan(0);
    expect(await modifiedAt(join(folder, 'none'))).toBeUndefined();
  });
});
