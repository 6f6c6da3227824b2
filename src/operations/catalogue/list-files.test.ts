import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writeFiles } from '../../../tests/support/folders.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { listFiles } from './records.ts';
import { listResources } from '../client/resources.ts';

interface File {
  relativePath: string;
  fullPath?: string;
  source: string;
}

describe('list_files', () => {
  it('says where each file lies and whose it is, in the order of the paths', async () => {
    const session = await openSession(afterAll);
    await writeFiles(session.folder, {
      '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.12.0\nmodules:\n  - name: bmm\n',
      '_bmad/bmm/own.md': 'Mine.\n',
    });
    const files = (await session.ok(listFiles)).data['files'] as File[];
    const own = join(session.folder, '_bmad', 'bmm', 'own.md');
    expect(files).toContainEqual({
      relativePath: 'bmm/own.md',
      fullPath: own,
      source: 'project',
      mimeType: 'text/markdown',
    });
    expect(files.map(({ relativePath }) => relativePath)).toEqual(
      files.map(({ relativePath }) => relativePath).sort(),
    );
    expect(new Set(files.map(({ source }) => source))).toEqual(new Set(['project', 'package', 'generated']));
    for (const { fullPath, source } of files) {
      if (source === 'generated') expect(fullPath).toBeUndefined();
      else await expect(readFile(fullPath ?? '')).resolves.toBeInstanceOf(Buffer);
    }
  });

  it('has every file that is a resource', async () => {
    const session = await openSession(afterAll);
    const files = (await session.ok(listFiles)).data['files'] as File[];
    const { data } = await session.ok(listResources);
    const first = (data['items'] as { uri: string; name: string }[])
      // What a project remembers and says about itself is a resource, and no file of the content.
      .filter(({ uri }) => /^bmad:\/\/(?!(?:memory|project|runs|tasks|contracts)(?:\/|$))/.test(uri))
      .map(({ name }) => name);
    expect(first.length).toBeGreaterThan(10);
    expect(files.map(({ relativePath }) => relativePath)).toEqual(expect.arrayContaining(first));
  });
});
