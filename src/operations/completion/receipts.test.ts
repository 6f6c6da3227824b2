import { rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import {
  commitAll,
  contractSession,
  editReceipts,
  KIT_LIKE_SCRIPT,
  PASSING_PROJECT,
  SCRIPT_PATH,
  withReceipt,
} from '../../../tests/support/contract-project.ts';
import type { Session } from '../../../tests/support/operations.ts';
import { listReceipts, runCompletionContract, verifyReceipts } from './completion.ts';

/** A project whose contract has passed. */
async function passed(git = true): Promise<Session> {
  const session = await contractSession(onTestFinished, PASSING_PROJECT);
  if (git) await commitAll(session.folder);
  expect((await session.ok(runCompletionContract)).data['status']).toBe('PASS');
  return session;
}

describe('verify_receipts', () => {
  it('proves what has passed and is still the same', async () => {
    const session = await passed();
    const { data, answer, failed } = await session.ok(verifyReceipts);
    expect(data).toMatchObject({ proven: true, chain: 'whole', receipts: 1, tree: 'same', contract: 'same' });
    expect(failed).toBe(false);
    expect(answer.body).toMatch(/^Proven/);
    expect(answer.note).toMatch(/^Receipts are chained, not signed; they are in [^\n]+\.$/);
  });

  it('proves nothing before the first run', async () => {
    const session = await contractSession(onTestFinished, PASSING_PROJECT);
    const { data, failed } = await session.ok(verifyReceipts);
    expect(data).toMatchObject({ proven: false, chain: 'empty', receipts: 0, tree: 'unknown' });
    expect(failed).toBe(true);
  });

  it.each([true, false])('names the files that are different since (git: %s)', async (git) => {
    const session = await passed(git);
    await writeFile(join(session.folder, 'main.go'), 'package main \n');
    await writeFile(join(session.folder, 'new.go'), '');
    await unlink(join(session.folder, 'docs/plan.md'));
    const { data } = await session.ok(verifyReceipts);
    expect(data).toMatchObject({
      proven: false,
      chain: 'whole',
      tree: 'changed',
      changes: [
        { path: 'docs/plan.md', change: 'removed' },
        { path: 'main.go', change: 'changed' },
        { path: 'new.go', change: 'added' },
      ],
    });
    await rm(join(session.folder, '_bmad-output/.receipts/trees'), { recursive: true });
    expect((await session.ok(verifyReceipts)).data).toMatchObject({
      tree: 'changed',
      changes: [],
      changes_known: false,
    });
  });

  it('does not count what agents write while they work, and what git ignores', async () => {
    const session = await passed();
    await writeFile(join(session.folder, '_bmad-output/notes.md'), 'more notes\n');
    await writeFile(join(session.folder, '_bmad/_memory/decisions-log.md'), '- [2026-01-01] X\n');
    expect((await session.ok(verifyReceipts)).data).toMatchObject({ proven: true, tree: 'same' });
  });

  it('sees another script, and a run that failed since on the same files', async () => {
    const session = await passed();
    await writeFile(join(session.folder, SCRIPT_PATH), `${KIT_LIKE_SCRIPT}\n# more\n`);
    expect((await session.ok(verifyReceipts)).data).toMatchObject({
      proven: false,
      contract: 'changed',
      changes: [{ path: SCRIPT_PATH, change: 'changed' }],
    });
    const flaky = await contractSession(onTestFinished, {
      [SCRIPT_PATH]: `test -e "_bmad-output/fail.txt" && exit 1; echo "CC PASS — [go] — 2026-01-01 00:00:00"`,
      '_bmad-output/x.txt': '',
    });
    await flaky.ok(runCompletionContract);
    await writeFile(join(flaky.folder, '_bmad-output/fail.txt'), '');
    await flaky.ok(runCompletionContract);
    expect((await flaky.ok(verifyReceipts)).data).toMatchObject({
      proven: false,
      tree: 'same',
      notes: [expect.stringContaining('cc-000002')],
    });
  });

  it('counts an earlier PASS on the very files that are here again', async () => {
    const session = await passed();
    const main = join(session.folder, 'main.go');
    await writeFile(main, 'package other\n');
    const changed = await session.ok(verifyReceipts);
    expect(changed.answer.steps).toMatchObject([{ operation: 'run_completion_contract' }]);
    await session.ok(runCompletionContract);
    expect((await session.ok(verifyReceipts)).data).toMatchObject({ proven: true });
    await writeFile(main, 'package main\n');
    const { data, answer } = await session.ok(verifyReceipts);
    expect(data).toMatchObject({ proven: true, tree: 'same', passed_here: 'cc-000001', changes: [] });
    expect(answer.body).toContain('Files: cc-000001 passed with exactly these files');
    expect(answer.note).not.toContain('run_completion_contract');
  });

  it('says that the files as they are now have failed, where they are not those that passed', async () => {
    const session = await passed();
    await writeFile(join(session.folder, '.verify/go'), 'go test ./...|tests FAILED\n');
    await session.ok(runCompletionContract);
    const { data, answer } = await session.ok(verifyReceipts);
    expect(data).toMatchObject({ proven: false, tree: 'changed' });
    expect(answer.body).toContain('The current files failed (cc-000002)');
    expect(answer.body).not.toContain('same files');
  });

  it('takes a PASS of a part for that part only, also after a FAIL of the whole', async () => {
    const session = await contractSession(onTestFinished, {
      ...PASSING_PROJECT,
      '.verify/go': 'go test ./...|tests FAILED\n',
      '.verify/shell': 'shellcheck|OK\n',
      'docs/.verify/shell': 'shellcheck|OK\n',
    });
    const run = async (input: object, status: string): Promise<void> => {
      expect((await session.ok(runCompletionContract, input)).data['status']).toBe(status);
    };
    await run({}, 'FAIL');
    await run({ working_dir: 'docs' }, 'PASS');
    await run({ stack: 'shell' }, 'PASS');
    const { data, answer, failed } = await session.ok(verifyReceipts);
    expect(failed).toBe(true);
    expect(data).toMatchObject({
      proven: false,
      proven_for: [
        { working_dir: 'docs', stack: 'auto', receipt: 'cc-000002' },
        { working_dir: '.', stack: 'shell', receipt: 'cc-000003' },
      ],
      notes: [expect.stringContaining('the whole project (cc-000001)')],
    });
    expect(answer.body).toMatch(
      /^NOT proven for the whole project, only for docs \(cc-000002\); stack shell \(cc-000003\)\./,
    );
    await writeFile(join(session.folder, '.verify/go'), 'go test ./...|OK\n');
    expect((await session.ok(verifyReceipts)).data).toMatchObject({ proven: false, proven_for: [] });
    await run({}, 'PASS');
    expect((await session.ok(verifyReceipts)).data).toMatchObject({ proven: true, proven_for: [] });
  });

  it('takes the proof of the whole back when a part fails since, until that part passes', async () => {
    const session = await contractSession(onTestFinished, {
      [SCRIPT_PATH]: `test -e "$PWD/../_bmad-output/fail.txt" && exit 1; echo "CC PASS — [go] — 2026-01-01 00:00:00"`,
      '_bmad-output/x.txt': '',
      'docs/plan.md': '',
    });
    const flag = join(session.folder, '_bmad-output/fail.txt');
    await session.ok(runCompletionContract);
    await writeFile(flag, '');
    await session.ok(runCompletionContract, { working_dir: 'docs' });
    expect((await session.ok(verifyReceipts)).data).toMatchObject({
      proven: false,
      notes: [expect.stringContaining('since failed for docs (cc-000002)')],
    });
    await rm(flag);
    await session.ok(runCompletionContract, { working_dir: 'docs' });
    expect((await session.ok(verifyReceipts)).data).toMatchObject({ proven: true, notes: [] });
  });

  it('finds one flipped byte and says where', async () => {
    const session = await passed();
    await session.ok(runCompletionContract);
    await editReceipts(session.folder, ([first = '', ...more]) => [
      first.replace('go test', 'go!test'),
      ...more,
    ]);
    const { data, failed } = await session.ok(verifyReceipts);
    expect(data).toMatchObject({
      proven: false,
      chain: 'broken',
      problems: [{ kind: 'changed', message: expect.stringContaining('cc-000001') }],
    });
    expect(failed).toBe(true);
  });

  it('finds receipts that were removed, and goes on with the chain after that', async () => {
    const session = await passed();
    await session.ok(runCompletionContract);
    await session.ok(runCompletionContract);
    const problems = async () => (await session.ok(verifyReceipts)).data['problems'];
    let whole: readonly string[] = [];
    await editReceipts(session.folder, (lines) => (whole = lines).toSpliced(1, 1));
    expect(await problems()).toMatchObject([
      { kind: 'removed', message: expect.stringContaining('cc-000003 follows number 2') },
    ]);
    await editReceipts(session.folder, () => whole);
    expect(await problems()).toEqual([]);
    await editReceipts(session.folder, (lines) => lines.slice(0, 2));
    expect(await problems()).toMatchObject([
      { kind: 'removed', message: expect.stringContaining('number 3') },
    ]);
    await editReceipts(session.folder, () => []);
    expect(await problems()).toMatchObject([
      { kind: 'removed', message: expect.stringContaining('3 receipts are missing') },
    ]);
    const { data } = await session.ok(runCompletionContract);
    expect(data['receipt']).toMatchObject({ id: 'cc-000004' });
    expect(await problems()).toMatchObject([
      { kind: 'removed', message: expect.stringContaining('cc-000004 follows number 3') },
    ]);
  });

  it('refuses receipts that are a link to elsewhere', async () => {
    const elsewhere = await temporaryFolder(onTestFinished);
    const session = await contractSession(onTestFinished, PASSING_PROJECT);
    await symlink(elsewhere, join(session.folder, '_bmad-output/.receipts'));
    expect((await session.fail(verifyReceipts)).code).toBe('forbidden');
    expect((await session.fail(runCompletionContract)).code).toBe('forbidden');
  });

  it('calls a receipt of a later version newer, and never gives its number again (R-11)', async () => {
    const session = await passed();
    await editReceipts(session.folder, ([line = '']) => [
      line,
      withReceipt(line, (receipt) => ({ ...receipt, version: 99, seq: 2, id: 'cc-000002', shape: 'new' })),
    ]);
    const { data } = await session.ok(runCompletionContract);
    expect(data['receipt']).toMatchObject({ id: 'cc-000003' });
    expect((await session.ok(verifyReceipts)).data['problems']).toEqual([
      {
        kind: 'newer',
        message: expect.stringContaining('was written by a newer version of this server') as string,
      },
    ]);
  });

  it('keeps the receipts of a project without BMAD with the user', async () => {
    const session = await contractSession(onTestFinished, {
      'package.json': JSON.stringify({ scripts: { test: 'node -e 0' } }),
    });
    const { data } = await session.ok(runCompletionContract);
    expect(data).toMatchObject({ status: 'PASS', contract: { kind: 'builtin' } });
    expect((await session.ok(verifyReceipts)).data).toMatchObject({ proven: true, receipts: 1 });
    const { file } = data['receipt'] as { file: string };
    expect(file).toContain(join('.home', '.local', 'state'));
  });
});

describe('list_receipts', () => {
  it('lists the newest first, and what is wrong with the others', async () => {
    const session = await passed();
    await writeFile(join(session.folder, '.verify/go'), 'go test ./...|tests FAILED\n');
    await session.ok(runCompletionContract);
    const { data, answer } = await session.ok(listReceipts);
    expect(data).toMatchObject({
      total: 2,
      items: [
        { id: 'cc-000002', status: 'FAIL', dirty: true },
        { id: 'cc-000001', status: 'PASS', dirty: false },
      ],
      problems: [],
    });
    expect(answer.body.split('\n')).toHaveLength(2);
    expect((await session.ok(listReceipts, { limit: 1 })).data['items']).toHaveLength(1);
  });
});
