import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { writeFiles } from '../../tests/support/folders.ts';
import { refusal } from '../../tests/support/thrown.ts';
import { packageSource } from './built-in.ts';

describe('packageSource', () => {
  it.each([
    ['its version', 'installation:\n  version: 6.12.0\n', '6.12.0'],
    ['its version, with CRLF', 'installation:\r\n  version: 6.12.0\r\n', '6.12.0'],
    ['no version', 'modules: []\n', 'of an unknown version'],
  ])('is the content, with %s', async (_, manifest, version) => {
    const root = join(await temporaryFolder(onTestFinished), 'content');
    await writeFiles(root, { '_config/manifest.yaml': manifest, 'bmm/a.md': 'text' });
    const { origin, tree, prepared } = await packageSource(root, 1_000);
    expect(origin).toEqual({
      kind: 'package',
      displayName: `BMAD ${version} (built in)`,
      root,
      priority: 9,
      bmadVersion: version,
    });
    expect(await tree.text('bmm/a.md')).toBe('text');
    expect(await prepared?.()).toBeUndefined();
  });

  it('has what the build prepared beside it', async () => {
    const folder = await temporaryFolder(onTestFinished);
    await writeFiles(folder, { 'content/_config/manifest.yaml': '', 'catalogue.json': '{}' });
    expect(await (await packageSource(join(folder, 'content'), 1_000)).prepared?.()).toBe('{}');
  });

  it('says what to do when the content is missing', async () => {
    const error = await refusal(async () => packageSource(await temporaryFolder(onTestFinished), 1_000));
    expect([error.code, error.text]).toEqual([
      'unavailable',
      'The built-in BMAD content is missing.\n\nReinstall the package, or run "npm run build" in a clone.',
    ]);
  });
});
