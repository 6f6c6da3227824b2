import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import {
  bodyOf,
  contractSession,
  editReceipts,
  KIT_LIKE_SCRIPT,
  SCRIPT_PATH,
  withReceipt,
} from '../../../tests/support/contract-project.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { sessionIn, type Session } from '../../../tests/support/operations.ts';
import { type Link, type ReceiptBody, sealed } from '../../services/completion/receipts.ts';
import { listReceipts, runCompletionContract, verifyReceipts } from './completion.ts';

const FILES = {
  [SCRIPT_PATH]: KIT_LIKE_SCRIPT,
  '.verify/go': 'go test ./...|tests OK\n',
  'docs/plan.md': '# Plan\n',
  '_bmad-output/notes.md': 'notes\n',
};

describe('receipts that were not written here (S-08)', () => {
  const outside = { env: { PATH: process.env['PATH'], USER: 'ada' }, flags: { trustProject: 'true' } };

  /** A clone of a project whose receipts say PASS, opened by somebody who has never run its contract. */
  async function cloned(): Promise<{ session: Session; folder: string }> {
    const folder = await temporaryFolder(onTestFinished);
    await writeFiles(folder, { ...FILES, '.verify/go': 'go test ./...|tests FAILED\n' });
    const there = await temporaryFolder(onTestFinished);
    const author = await sessionIn(folder, { ...outside, home: there });
    expect((await author.ok(runCompletionContract)).data['status']).toBe('FAIL');
    await forge(folder, (body) => ({ ...body, status: 'PASS', reason: 'All is well.' }));
    const home = await temporaryFolder(onTestFinished);
    return { folder, session: await sessionIn(folder, { ...outside, home }) };
  }

  /** Writes a chain that is whole in place of the one that is there. */
  async function forge(folder: string, change: (body: ReceiptBody) => ReceiptBody): Promise<void> {
    let last: readonly Link[] = [];
    await editReceipts(folder, (lines) =>
      lines.map((line) =>
        withReceipt(line, (receipt) => {
          const made = sealed(change(bodyOf(receipt)), last);
          last = [made];
          return made;
        }),
      ),
    );
  }

  /** Adds one that follows the others as it should. */
  const addedTo = (folder: string, change: Partial<ReceiptBody>): Promise<void> =>
    editReceipts(folder, (lines) => [
      ...lines,
      withReceipt(lines.at(-1) ?? '', (receipt) => sealed({ ...bodyOf(receipt), ...change }, [receipt])),
    ]);

  it('prove nothing, however whole their chain is, and say who claims what (S-08)', async () => {
    const { session } = await cloned();
    const { data, answer, failed } = await session.ok(verifyReceipts);
    expect(data).toMatchObject({
      proven: false,
      verdict: 'not_proven_here',
      chain: 'whole',
      claimed: { id: 'cc-000001', status: 'PASS', written_here: false, by: `ada@${hostname()}` },
    });
    expect(failed).toBe(true);
    expect(answer.body).toMatch(/^NOT proven here: /);
    expect(answer.body).toContain('The file says: cc-000001 PASS');
    expect(answer.body).toContain(`by "ada@${hostname()}"`);
    expect((await session.ok(listReceipts)).answer.body).toContain('not written here');
  });

  it('prove nothing once a part has been verified here (S-08)', async () => {
    const { session } = await cloned();
    expect((await session.ok(runCompletionContract, { working_dir: 'docs' })).data['status']).toBe(
      'NOT_VERIFIED',
    );
    expect((await session.ok(verifyReceipts)).data).toMatchObject({
      proven: false,
      verdict: 'not_proven_here',
      claimed: { id: 'cc-000001' },
    });
  });

  it('prove nothing where they were added to those that were (S-08)', async () => {
    const session = await contractSession(onTestFinished, {
      ...FILES,
      '.verify/go': 'go test ./...|tests FAILED\n',
    });
    expect((await session.ok(runCompletionContract)).data['status']).toBe('FAIL');
    await addedTo(session.folder, { status: 'PASS' });
    expect((await session.ok(verifyReceipts)).data).toMatchObject({
      proven: false,
      verdict: 'not_proven_here',
      chain: 'whole',
    });
    await writeFile(join(session.folder, '.verify/go'), 'go test ./...|tests OK\n');
    await session.ok(runCompletionContract);
    // It follows the forged one, which makes that one no truer.
    expect((await session.ok(verifyReceipts)).data).toMatchObject({ proven: true, verdict: 'proven' });
  });

  it('still take a proof back that was given here', async () => {
    const session = await contractSession(onTestFinished, FILES);
    await session.ok(runCompletionContract);
    await addedTo(session.folder, { status: 'FAIL', reason: 'It fails.' });
    expect((await session.ok(verifyReceipts)).data).toMatchObject({ proven: false, verdict: 'not_proven' });
  });
});
