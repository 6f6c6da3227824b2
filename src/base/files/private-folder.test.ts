import { chmod, chown, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { madePrivate } from './private-folder.ts';

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
});
