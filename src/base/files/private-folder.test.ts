import { chmod, chown, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { madePrivate } from './user-cache.ts';

// Windows has other rights.
describe.skipIf(process.platform === 'win32')('a folder for what will be run', () => {
  it('is made for the user alone, and taken again', async () => {
    const folder = join(await temporaryFolder(onTestFinished), 'a/b');
    expect([madePrivate(folder), madePrivate(folder)]).toEqual([true, true]);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  it.each([
    ['others may write to it', 0o777, false],
    ['its group may write to it', 0o770, false],
    ['others may write to it, in turn', 0o1777, false],
    ['others may only read it', 0o755, true],
  ])('that is there already, and %s', async (_, mode, taken) => {
    const folder = join(await temporaryFolder(onTestFinished), 'there');
    await mkdir(folder);
    await chmod(folder, mode);
    expect(madePrivate(folder)).toBe(taken);
  });

  it('is no link, and no file', async () => {
    const root = await temporaryFolder(onTestFinished);
    await mkdir(join(root, 'real'), { mode: 0o700 });
    await symlink('real', join(root, 'link'));
    await writeFile(join(root, 'file'), '');
    expect(['real', 'link', 'file'].map((name) => madePrivate(join(root, name)))).toEqual([
      true,
      false,
      false,
    ]);
  });

  it.skipIf(process.getuid?.() !== 0)('is not another user’s', async () => {
    const folder = await temporaryFolder(onTestFinished);
    await chmod(folder, 0o700);
    expect(madePrivate(folder)).toBe(true);
    await chown(folder, 65_534, 65_534);
    expect(madePrivate(folder)).toBe(false);
  });

  it('cannot be replaced by others, in any folder above it (S-22)', async () => {
    const root = await temporaryFolder(onTestFinished);
    const folder = join(root, 'a/b/c');
    expect(madePrivate(folder)).toBe(true);
    await chmod(join(root, 'a'), 0o777);
    expect(madePrivate(folder)).toBe(false);
    // As in /tmp, where only the owner of a folder may rename it.
    await chmod(join(root, 'a'), 0o1777);
    expect(madePrivate(folder)).toBe(true);
    if (process.getuid?.() !== 0) return;
    await chown(join(root, 'a/b'), 12_345, 12_345);
    expect(madePrivate(folder)).toBe(false);
  });
});
