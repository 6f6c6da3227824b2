import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { hasBlockingFile } from './repository.ts';

const pipe = (path: string): void => void execFileSync('mkfifo', [path]);

async function blocks(path: string, make: (path: string) => unknown): Promise<boolean> {
  const root = await temporaryFolder(onTestFinished);
  await mkdir(join(root, dirname(path)), { recursive: true });
  await writeFile(join(root, '.ignore'), 'dist\n');
  await make(join(root, path));
  return hasBlockingFile(root, new AbortController().signal);
}

describe.skipIf(process.platform === 'win32')('what keeps a program waiting that opens it', () => {
  it.each(['.gitignore', 'a/b/c/.rgignore', '.git/info/exclude'])(
    'is a pipe in place of %s',
    async (path) => {
      expect(await blocks(path, pipe)).toBe(true);
    },
  );

  it('is a link to a pipe or to a device without an end', async () => {
    expect(await blocks('.gitignore', (path) => symlink('/dev/zero', path))).toBe(true);
    const linked = async (path: string): Promise<void> => {
      pipe(`${path}-pipe`);
      await symlink(`${path}-pipe`, path);
    };
    expect(await blocks('a/.gitattributes', linked)).toBe(true);
  });

  it('is not the device that is empty, by which files are switched off', async () => {
    expect(await blocks('.gitignore', (path) => symlink('/dev/null', path))).toBe(false);
    expect(await blocks('.git/info/exclude', (path) => symlink('/dev/null', path))).toBe(false);
  });

  it.skipIf(process.getuid?.() !== 0 || process.platform !== 'linux')(
    'is a device in place of a file, but not the one that is empty',
    async () => {
      const device = (minor: string) => (path: string) => execFileSync('mknod', [path, 'c', '1', minor]);
      expect(await blocks('.gitignore', device('5'))).toBe(true);
      expect(await blocks('.gitignore', device('3'))).toBe(false);
    },
  );

  it('passes over pipes that no program opens, and links that lead nowhere', async () => {
    expect(await blocks('a/pipe', pipe)).toBe(false);
    expect(await blocks('.gitignore', (path) => symlink('nowhere', path))).toBe(false);
  });
});
