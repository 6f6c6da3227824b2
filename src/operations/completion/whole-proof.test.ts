import { appendFile, chmod, mkdir, open, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commitAll, contractSession, PASSING_PROJECT } from '../../../tests/support/contract-project.ts';
import { runCompletionContract, verifyReceipts } from './completion.ts';

describe('a proof', () => {
  it.each([true, false])('reads files of any size, so none changes unseen (git: %s) (X-11)', async (git) => {
    const session = await contractSession(onTestFinished, PASSING_PROJECT);
    const large = join(session.folder, 'data.bin');
    await writeFile(large, '');
    await truncate(large, 52_000_000);
    if (git) await commitAll(session.folder);
    await session.ok(runCompletionContract);
    expect((await session.ok(verifyReceipts)).data).toMatchObject({ proven: true, tree: 'same' });
    const { atime, mtime } = await stat(large);
    const file = await open(large, 'r+');
    await file.write('x', 51_000_000);
    await file.close();
    await utimes(large, atime, mtime);
    const { data, answer } = await session.ok(verifyReceipts);
    expect(data).toMatchObject({ proven: false, changes: [{ path: 'data.bin', change: 'changed' }] });
    expect(answer.body).toMatch(/^NOT proven/);
  });

  it('reads what only .git/info/exclude hides, which no file of the project would tell of (X-11)', async () => {
    const session = await contractSession(onTestFinished, PASSING_PROJECT);
    await commitAll(session.folder);
    await appendFile(join(session.folder, '.git/info/exclude'), 'hook.ts\n');
    await writeFile(join(session.folder, 'hook.ts'), 'a');
    await session.ok(runCompletionContract);
    expect((await session.ok(verifyReceipts)).data).toMatchObject({ proven: true });
    await writeFile(join(session.folder, 'hook.ts'), 'b');
    expect((await session.ok(verifyReceipts)).data).toMatchObject({
      proven: false,
      changes: [{ path: 'hook.ts', change: 'changed' }],
    });
  });

  it('reads the files of a repository inside, which git names as one folder (X-11)', async () => {
    const session = await contractSession(onTestFinished, PASSING_PROJECT);
    const inner = join(session.folder, 'vendor/inner');
    await mkdir(inner, { recursive: true });
    await writeFile(join(inner, 'a.go'), 'package a\n');
    await commitAll(inner);
    await commitAll(session.folder);
    await session.ok(runCompletionContract);
    expect((await session.ok(verifyReceipts)).data).toMatchObject({ proven: true });
    await writeFile(join(inner, 'a.go'), 'package b\n');
    expect((await session.ok(verifyReceipts)).data).toMatchObject({
      proven: false,
      changes: [{ path: 'vendor/inner/a.go', change: 'changed' }],
    });
  });

  it('reads folders with the names of those for keys, and files whose names are not text (X-11)', async () => {
    const session = await contractSession(onTestFinished, PASSING_PROJECT);
    const place = join(session.folder, '.kube/check.js');
    await mkdir(join(session.folder, '.kube'));
    await writeFile(place, 'a');
    await session.ok(runCompletionContract);
    expect((await session.ok(verifyReceipts)).data).toMatchObject({ proven: true });
    await writeFile(place, 'b');
    expect((await session.ok(verifyReceipts)).data).toMatchObject({
      proven: false,
      changes: [{ path: '.kube/check.js', change: 'changed' }],
    });
    if (process.platform !== 'linux') return;
    await writeFile(Buffer.concat([Buffer.from(`${session.folder}/t`), Buffer.from([0xff])]), 'a');
    await session.ok(runCompletionContract);
    expect((await session.ok(verifyReceipts)).data).toMatchObject({ proven: false });
  });

  it.skipIf(process.getuid?.() === 0)('proves nothing while a file cannot be read (X-11)', async () => {
    const session = await contractSession(onTestFinished, PASSING_PROJECT);
    await commitAll(session.folder);
    await chmod(join(session.folder, 'main.go'), 0);
    await session.ok(runCompletionContract);
    const { data, answer } = await session.ok(verifyReceipts);
    expect(data).toMatchObject({ proven: false, tree: 'unknown' });
    expect(answer.body).toContain('1 file could not be read, so nothing is proven.');
  });
});
