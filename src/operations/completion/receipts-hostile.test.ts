import { execFileSync } from 'node:child_process';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import {
  allowed,
  commitAll,
  contractSession,
  PASSING_PROJECT,
} from '../../../tests/support/contract-project.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { listReceipts, runCompletionContract, verifyReceipts } from './completion.ts';
import { some } from '../../../tests/support/how-much.ts';

describe('receipts of a project whose author means harm', () => {
  it('sees code that changes in what the project calls its output folder, and no documents (N-06)', async () => {
    const session = await contractSession(onTestFinished, {
      ...PASSING_PROJECT,
      '_bmad/core/config.yaml': 'output_folder: "{project-root}/src"\n',
      'src/cart.go': 'package cart\n',
    });
    await commitAll(session.folder);
    await session.ok(runCompletionContract);
    await writeFile(join(session.folder, 'src/prd.md'), '# Wishes\n');
    expect((await session.ok(verifyReceipts)).data).toMatchObject({ proven: true, tree: 'same' });
    await session.ok(runCompletionContract);
    await writeFile(join(session.folder, 'src/cart.go'), 'package evil\n');
    expect((await session.ok(verifyReceipts)).data).toMatchObject({
      proven: false,
      changes: [{ path: 'src/cart.go', change: 'changed' }],
    });
    await session.ok(runCompletionContract);
    const { data } = await session.ok(listReceipts);
    const dirty = JSON.stringify(data).match(/"dirty":\w+/g);
    expect(dirty?.sort()).toEqual(['"dirty":false', '"dirty":false', '"dirty":true']);
  });

  it
    .skipIf(process.platform === 'win32')
    .each(some(1, ['docs/.gitattributes', '_bmad/_memory/.bmad-memory/.gitignore', '.git/info/exclude']))(
    'is not kept waiting by a pipe in place of %s (N-08)',
    async (path) => {
      const session = await contractSession(onTestFinished, {
        ...PASSING_PROJECT,
        'docs/new.go': 'package docs\n',
      });
      await commitAll(session.folder);
      await mkdir(dirname(join(session.folder, path)), { recursive: true });
      await rm(join(session.folder, path), { force: true });
      execFileSync('mkfifo', [join(session.folder, path)]);
      await writeFile(join(session.folder, 'docs/new.go'), 'package other\n');
      expect((await session.ok(runCompletionContract)).data['status']).toBe('PASS');
      expect((await session.ok(verifyReceipts)).data).toMatchObject({ proven: true, tree: 'same' });
    },
  );

  it.skipIf(process.platform === 'win32').each(some(1, ['true', 'false']))(
    'does not take a git that is slow beside a pipe for a change (trusted by a setting: %s) (N-08)',
    async (trustProject) => {
      const folder = await temporaryFolder(onTestFinished);
      const real = execFileSync('which', ['git']).toString().trim();
      // The first look at the commit is fast and all later ones are slow, so they differ in nothing but time.
      const slow = `case "$*" in *HEAD*) [ ! -e "${folder}/asked" ] || sleep 1; : > "${folder}/asked" ;; esac`;
      await writeFiles(folder, { git: `#!/bin/sh\n${slow}\nexec "${real}" "$@"\n` });
      await chmod(join(folder, 'git'), 0o755);
      const PATH = `${folder}${delimiter}${process.env['PATH'] ?? ''}`;
      const session = await contractSession(onTestFinished, PASSING_PROJECT, {
        env: { PATH },
        flags: { trustProject },
      });
      await commitAll(session.folder);
      if (trustProject === 'false') await allowed(session);
      await mkdir(join(session.folder, 'docs/inner'));
      execFileSync('mkfifo', [join(session.folder, 'docs/inner/.gitignore')]);
      await rm(join(folder, 'asked'), { force: true });
      expect((await session.ok(runCompletionContract)).data['status']).toBe('PASS');
    },
  );
});
