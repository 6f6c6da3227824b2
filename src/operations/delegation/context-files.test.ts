import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import { contextFiles } from './context-files.ts';

describe('files that a caller names', () => {
  it('lose their passwords, also those that look like words (S-16)', async () => {
    const root = await temporaryFolder(onTestFinished);
    await writeFiles(root, { 'deploy/db.yml': 'user: shop\npass: kornblume\nsmtp_pass: amsel\n' });
    expect(await contextFiles(root, ['deploy/db.yml'], String)).toEqual([
      { path: 'deploy/db.yml', text: 'user: shop\npass: ***\nsmtp_pass: ***\n' },
    ]);
  });

  it.each(['.git/config', 'sub/.git/HEAD', '.ssh/known_hosts', '.aws/config', './.git/../.git/config'])(
    'are never those of a folder for keys and passwords: %s',
    async (name) => {
      const root = await temporaryFolder(onTestFinished);
      await writeFiles(root, {
        '.git/config': 'url = https://ada:hunter2@example.org/shop.git\n',
        'sub/.git/HEAD': 'ref: x\n',
        '.ssh/known_hosts': 'x\n',
        '.aws/config': 'x\n',
      });
      const error = await refusal(() => contextFiles(root, [name], (text) => text));
      expect(error).toMatchObject({ code: 'forbidden' });
      expect(error.message).toContain('contains secrets');
    },
  );
});
