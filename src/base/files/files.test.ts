import { execFile } from 'node:child_process';
import { chmod, mkdir, open, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import * as files from './files.ts';
import { Keeper } from './keeper.ts';

const { pathExists, realFolder } = files;

const run = promisify(execFile);
const LIMIT = 1_000;

let folder: string;
let root: string;

/** A root with a file and a folder in it, next to things that must never be read. */
beforeEach(async () => {
  folder = await temporaryFolder(onTestFinished);
  root = join(folder, 'bmad');
  await mkdir(join(root, 'sub'), { recursive: true });
  await mkdir(join(folder, 'bmad-private'));
  await writeFile(join(root, 'file.md'), 'inside');
  await writeFile(join(root, 'sub', 'deep.md'), 'deep inside');
  await writeFile(join(folder, 'secret.md'), 'outside');
  await writeFile(join(folder, 'bmad-private', 'secret.md'), 'next door');
});

/** Where places are noted, what no link leads to is read another way: it has to come to the same. */
async function bothWays<T>(way: (rules?: files.InsideRules) => Promise<T>): Promise<T> {
  const noted = way({ seen: new Keeper() });
  const [plain, seen] = await Promise.allSettled([way(), noted]);
  const outcome = (of: PromiseSettledResult<T>): unknown =>
    of.status === 'fulfilled' ? of.value : String(of.reason);
  expect(outcome(seen)).toEqual(outcome(plain));
  return noted;
}

const readInside = (from: string, path: string, most: number): Promise<Buffer> =>
  bothWays((rules) => files.readInside(from, path, most, rules));

const listInside = (from: string, path: string): Promise<files.FolderEntry[]> =>
  bothWays((rules) => files.listInside(from, path, rules));

async function read(path: string, from = root): Promise<string> {
  return (await readInside(from, path, LIMIT)).toString('utf8');
}

async function refused(path: string): Promise<[string, string]> {
  const error = await refusal(() => readInside(root, path, LIMIT));
  expect(error.text).not.toContain(folder);
  return [error.code, error.message];
}

function cannotBeRead(path: string, reason: string): [string, string] {
  return ['forbidden', `"${path}" cannot be read: ${reason}.`];
}

describe('readInside', () => {
  it('reads files, also empty ones and those with any bytes', async () => {
    const bytes = Buffer.from([0, 255, 254, 10, 13, 0]);
    await writeFile(join(root, 'bytes.bin'), bytes);
    await writeFile(join(root, 'empty'), '');
    expect(await read('file.md')).toBe('inside');
    expect(await read('sub/deep.md')).toBe('deep inside');
    expect(await readInside(root, 'bytes.bin', LIMIT)).toEqual(bytes);
    expect(await read('empty')).toBe('');
  });

  it('follows links that stay inside', async () => {
    await symlink('sub', join(root, 'folder-link'));
    await symlink(join(root, 'file.md'), join(root, 'file-link'));
    expect(await read('folder-link/deep.md')).toBe('deep inside');
    expect(await read('file-link')).toBe('inside');
  });

  it('takes a root that is itself a link', async () => {
    await symlink(root, join(folder, 'root-link'));
    expect(await read('file.md', join(folder, 'root-link'))).toBe('inside');
    expect(await read('sub/deep.md', join(folder, 'root-link'))).toBe('deep inside');
    expect(await read('sub/deep.md', join(folder, 'root-link', '/'))).toBe('deep inside');
    expect(await read('sub/deep.md', join(root, '/'))).toBe('deep inside');
  });

  it('reads what a link leads to now, and nothing that it has come to lead out to', async () => {
    const seen = new Keeper();
    const now = async (path: string): Promise<string> =>
      String(await files.readInside(root, path, LIMIT, { seen }).catch((error: unknown) => error));
    expect(await now('sub/deep.md')).toBe('deep inside');
    await rename(join(root, 'sub'), join(root, 'other'));
    await symlink('other', join(root, 'sub'));
    expect(await now('sub/deep.md')).toBe('deep inside');
    await rm(join(root, 'sub'));
    await symlink('../bmad-private', join(root, 'sub'));
    expect(await now('sub/secret.md')).toContain('points outside');
    await rename(root, join(folder, 'moved'));
    await symlink('bmad-private', root);
    expect(await now('secret.md')).toBe('next door');
    const rules = { seen, within: join(folder, 'bmad') };
    expect((await refusal(() => files.readInside(root, 'secret.md', LIMIT, rules))).code).toBe('forbidden');
  });

  it('takes the root of the disk for a root', async () => {
    expect(await read(join(root, 'file.md').slice(1), '/')).toBe('inside');
  });

  it.each([
    ['a link to a file', 'link', '../secret.md', 'link'],
    ['an absolute link', 'link', '/etc/passwd', 'link'],
    ['a link to a folder', 'link', '..', 'link/secret.md'],
    ['a link to the folder next door whose name begins alike', 'link', '../bmad-private', 'link/secret.md'],
    ['a link in a chain of links', 'link', 'sub/../../secret.md', 'link'],
  ])('refuses %s outside', async (_, name, target, path) => {
    await symlink(target, join(root, name));
    expect(await refused(path)).toEqual([
      'forbidden',
      `"${path}" is a link that points outside the BMAD content.`,
    ]);
  });

  it.each(['../secret.md', '../bmad-private/secret.md', 'sub/../../secret.md', '..'])(
    'refuses %s, should a caller ever hand it in',
    async (path) => {
      expect((await refused(path))[0]).toBe('forbidden');
    },
  );

  it('refuses links that lead in a circle', async () => {
    await symlink('b', join(root, 'a'));
    await symlink('a', join(root, 'b'));
    await symlink('self', join(root, 'self'));
    expect(await refused('a')).toEqual(cannotBeRead('a', 'it is a link that points to itself'));
    expect(await refused('self')).toEqual(cannotBeRead('self', 'it is a link that points to itself'));
  });

  it('refuses a pipe without waiting for somebody to write into it', async () => {
    await run('mkfifo', [join(root, 'pipe')]);
    await symlink('pipe', join(root, 'pipe-link'));
    expect(await refused('pipe')).toEqual(['forbidden', '"pipe" is not a regular file.']);
    expect(await refused('pipe-link')).toEqual(['forbidden', '"pipe-link" is not a regular file.']);
  });

  it('refuses a socket', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(root, 'socket'), resolve));
    onTestFinished(() => void server.close());
    expect(await refused('socket')).toEqual([
      'forbidden',
      '"socket" cannot be read: it is not a regular file.',
    ]);
  });

  it('refuses a folder where a file is expected', async () => {
    expect(await refused('sub')).toEqual(['forbidden', '"sub" is a folder, not a file.']);
    expect((await refused(''))[0]).toBe('forbidden');
  });

  it.each(['missing.md', 'missing/file.md', 'file.md/below', 'sub/missing.md'])(
    'knows no %s',
    async (path) => {
      expect(await refused(path)).toEqual(['not_found', `There is no file "${path}".`]);
    },
  );

  it('takes a link to nothing, and a root that is gone, for a missing file', async () => {
    await symlink('nowhere', join(root, 'dangling'));
    expect((await refused('dangling'))[0]).toBe('not_found');
    expect((await refusal(() => readInside(join(folder, 'gone'), 'file.md', LIMIT))).code).toBe('not_found');
  });

  it('refuses names the disk cannot have', async () => {
    expect((await refused('a\0b'))[0]).toBe('forbidden');
    expect(await refused('n'.repeat(300))).toEqual([
      'forbidden',
      `"${'n'.repeat(120)}…" cannot be read: its name is too long.`,
    ]);
  });

  it('reads up to the limit and not a byte beyond', async () => {
    await writeFile(join(root, 'full'), 'x'.repeat(LIMIT));
    await writeFile(join(root, 'over'), 'x'.repeat(LIMIT + 1));
    expect((await read('full')).length).toBe(LIMIT);
    expect(await refused('over')).toEqual(['too_large', '"over" is 1001 bytes long; the limit is 1000.']);
  });

  it('refuses a huge file before reading it', async () => {
    const handle = await open(join(root, 'huge'), 'w');
    await handle.truncate(1_000_000_000);
    await handle.close();
    const before = process.memoryUsage().arrayBuffers;
    expect(await refused('huge')).toEqual([
      'too_large',
      '"huge" is 1000000000 bytes long; the limit is 1000.',
    ]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100_000_000);
  });

  it('says when permission is denied', async ({ skip }) => {
    skip(process.getuid?.() === 0, 'root reads every file, whatever its mode');
    await chmod(join(root, 'file.md'), 0);
    await chmod(join(root, 'sub'), 0);
    expect(await refused('file.md')).toEqual(cannotBeRead('file.md', 'permission denied'));
    expect(await refused('sub/deep.md')).toEqual(cannotBeRead('sub/deep.md', 'permission denied'));
    await chmod(join(root, 'sub'), 0o700);
  });
});

describe('listInside', () => {
  it('lists files and folders in a fixed order', async () => {
    for (const name of ['b', 'B', 'a10', 'a2', 'é', '-x', '.hidden']) await writeFile(join(root, name), '');
    expect(await listInside(root, '')).toEqual([
      { name: '-x', kind: 'file' },
      { name: '.hidden', kind: 'file' },
      { name: 'B', kind: 'file' },
      { name: 'a10', kind: 'file' },
      { name: 'a2', kind: 'file' },
      { name: 'b', kind: 'file' },
      { name: 'file.md', kind: 'file' },
      { name: 'sub', kind: 'folder' },
      { name: 'é', kind: 'file' },
    ]);
    expect(await listInside(root, 'sub')).toEqual([{ name: 'deep.md', kind: 'file' }]);
  });

  it('takes links for what they lead to and leaves out those that lead out, in a circle or nowhere', async () => {
    await symlink('../file.md', join(root, 'sub', 'file-link'));
    await symlink('..', join(root, 'sub', 'folder-link'));
    await symlink('../../secret.md', join(root, 'sub', 'secret'));
    await symlink('../../bmad-private', join(root, 'sub', 'private'));
    await symlink('/etc', join(root, 'sub', 'etc'));
    await symlink('loop', join(root, 'sub', 'loop'));
    await symlink('nowhere', join(root, 'sub', 'dangling'));
    await run('mkfifo', [join(root, 'sub', 'pipe')]);
    await symlink('pipe', join(root, 'sub', 'pipe-link'));
    expect(await listInside(root, 'sub')).toEqual([
      { name: 'deep.md', kind: 'file' },
      { name: 'file-link', kind: 'file', link: true },
      { name: 'folder-link', kind: 'folder', link: true },
    ]);
  });

  it('lists a root that is a link', async () => {
    await symlink(root, join(folder, 'root-link'));
    expect((await listInside(join(folder, 'root-link'), 'sub')).map(({ name }) => name)).toEqual(['deep.md']);
  });

  it('lists nothing outside, nothing missing, and no file', async () => {
    await symlink('..', join(root, 'out'));
    expect((await refusal(() => listInside(root, 'out'))).code).toBe('forbidden');
    expect((await refusal(() => listInside(root, '..'))).code).toBe('forbidden');
    expect((await refusal(() => listInside(root, 'missing'))).code).toBe('not_found');
    expect((await refusal(() => listInside(root, 'file.md'))).code).toBe('not_found');
  });
});

describe('files of secrets', () => {
  it('are known by where they really are, whatever the root is (X-12)', async () => {
    for (const place of ['.ssh', '.ssh/deep', '.kube', 'repo/.git', 'credentials/app', '.dotfiles'])
      await mkdir(join(folder, place), { recursive: true });
    const kept = ['.ssh/config', '.ssh/deep/notes.txt', '.kube/config', 'repo/.git/config'];
    for (const path of [...kept, 'credentials/app/a.ts', '.dotfiles/setup.sh', '.dotfiles/.dev.vars'])
      await writeFile(join(folder, path), 'x');
    await symlink(join(folder, '.dotfiles/.dev.vars'), join(folder, '.dotfiles/plain.txt'));
    const readIn = (base: string, path: string, rules = {}) =>
      files.readInside(join(folder, base), path, LIMIT, rules).then(String);
    for (const [base, path] of [
      ['.ssh', 'config'],
      ['.ssh/deep', 'notes.txt'],
      ['.kube', 'config'],
      ['repo/.git', 'config'],
      ['.dotfiles', '.dev.vars'],
      ['.dotfiles', 'plain.txt'],
    ] as const) {
      expect((await refusal(() => readIn(base, path))).code).toBe('not_found');
      expect(await readIn(base, path, { secrets: 'mine' })).toBe('x');
    }
    // A folder that only sounds like one, and a hidden one, are as good as any.
    expect(await readIn('credentials/app', 'a.ts')).toBe('x');
    expect(await readIn('.dotfiles', 'setup.sh')).toBe('x');
    expect((await refusal(() => files.listInside(join(folder, '.ssh'), ''))).code).toBe('not_found');
  });
});

describe('realFolder and pathExists', () => {
  it('tell folders, files and nothing apart', async () => {
    await symlink('bmad', join(folder, 'link'));
    expect(await realFolder(join(folder, 'link'))).toBe(root);
    expect(await realFolder(join(root, 'file.md'))).toBeUndefined();
    expect(await realFolder(join(root, 'missing'))).toBeUndefined();
    expect(await realFolder('\0')).toBeUndefined();
    expect(await pathExists(join(root, 'file.md'))).toBe(true);
    expect(await pathExists(join(root, 'missing'))).toBe(false);
  });
});
