import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commitAll, contractSession, PASSING_PROJECT } from '../../../tests/support/contract-project.ts';
import { listReceipts, verifyReceipts } from './receipts.ts';
import { runCompletionContract } from './run-completion-contract.ts';

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
    .each(['_bmad/_memory/.bmad-memory/.gitignore', 'docs/.gitattributes', '.git/info/exclude'])(
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
});
