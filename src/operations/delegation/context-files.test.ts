import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import { contextFiles } from './context-files.ts';

describe('files that a caller names', () => {
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
