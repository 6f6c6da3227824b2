import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import { appendLine, removeShared, replaceShared } from './file-shared.ts';

describe('a folder that leads away', () => {
  it('is named by the path that was asked for, not by where it leads', async () => {
    const [root, outside] = [await temporaryFolder(onTestFinished), await temporaryFolder(onTestFinished)];
    await symlink(outside, join(root, 'away'));
    const asked = [
      () => appendLine(root, 'away/log.md', 'a line'),
      () => replaceShared(root, 'away/log.md', 'a text'),
      () => removeShared(root, 'away/log.md'),
    ];
    for (const write of asked) {
      const { reason, message } = await refusal(write);
      expect(reason).toBe('outside');
      expect(message).toContain(join(root, 'away'));
      expect(message).not.toContain(outside);
    }
    expect(await readdir(outside)).toEqual([]);
  });
});

describe('removing a file', () => {
  it('takes the file or the link, never what a link leads to, and never one outside', async () => {
    const [root, outside] = [await temporaryFolder(onTestFinished), await temporaryFolder(onTestFinished)];
    await mkdir(join(root, 'tasks'));
    await writeFile(join(root, 'kept.md'), 'kept');
    await writeFile(join(outside, 'theirs.md'), 'theirs');
    await writeFile(join(root, 'tasks/one.md'), 'one');
    await symlink(join(root, 'kept.md'), join(root, 'tasks/link.md'));
    await symlink(outside, join(root, 'away'));
    for (const name of ['one.md', 'link.md', 'never.md']) await removeShared(root, `tasks/${name}`);
    expect(await readdir(join(root, 'tasks'))).toEqual([]);
    expect(await readFile(join(root, 'kept.md'), 'utf8')).toBe('kept');
    expect((await refusal(() => removeShared(root, 'away/theirs.md'))).code).toBe('forbidden');
    expect((await refusal(() => removeShared(root, '../x'))).code).toBe('forbidden');
    expect(await readFile(join(outside, 'theirs.md'), 'utf8')).toBe('theirs');
  });
});
