import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, testCall } from '../../../tests/support/app.ts';
import {
  commitAll,
  contractSession,
  KIT_LIKE_SCRIPT,
  SCRIPT_PATH,
} from '../../../tests/support/contract-project.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { saidIn, type Session } from '../../../tests/support/operations.ts';
import { plain, v4Story } from '../../../tests/support/progress-trees/pieces.ts';
import { FINDINGS, spec } from '../../../tests/support/progress-trees/reviews.ts';
import { runCompletionContract, verifyReceipts } from '../completion/completion.ts';
import { execute } from '../execute.ts';
import { getProjectContext } from './project-context.ts';
import { next } from './next.ts';

const contract = { [SCRIPT_PATH]: KIT_LIKE_SCRIPT, '.verify/go': 'go test ./...|tests OK\n' };
const finished = {
  ...contract,
  'src/main.go': 'package main\n',
  '.bmad-core/core-config.yaml': 'qa:\n  qaLocation: docs/qa\ndevStoryLocation: docs/stories\n',
  'docs/prd.md': `${plain}\n## Epic 1 Base\n\n### Story 1.1 Setup\n`,
  'docs/architecture.md': plain,
  'docs/stories/1.1.setup.md': v4Story('1.1', 'Done'),
  'docs/qa/gates/1.1-setup.yml': 'schema: 1\nstory: "1.1"\ngate: PASS\n',
};
const OVER = 'Everything planned is done.';
const RUN = 'run_completion_contract {}';

/** A project that has passed just now, in a repository. */
async function passed(files: Readonly<Record<string, string>> = finished): Promise<Session> {
  const session = await contractSession(afterAll, files);
  await commitAll(session.folder);
  expect((await session.ok(runCompletionContract)).data).toMatchObject({ status: 'PASS' });
  return session;
}

describe.skipIf(process.platform === 'win32')('next, after a PASS', () => {
  it('has proving again as the step that is left once a file has changed, committed or not', async () => {
    const { ok, folder } = await passed();
    const proven = (await ok(next)).answer.body;
    expect(proven).toContain(OVER);
    expect(proven).toContain('1 of 1 story done and proven (cc-000001)');
    await writeFiles(folder, { 'src/main.go': 'package main // changed\n' });
    await commitAll(folder);
    const { answer, data } = await ok(next);
    expect((await ok(verifyReceipts)).data).toMatchObject({ proven: false, tree: 'changed' });
    expect(answer.body).not.toContain('Nothing left to do');
    expect(answer.body).not.toMatch(/0 proven|done and proven/);
    expect(answer.body).toMatch(
      /1\. Prove what is done: proven on \d{4}-\d\d-\d\d \(cc-000001\), but files have changed since; run the completion contract \(it runs /,
    );
    expect(answer.body).toContain(RUN);
    expect(data['verification']).toMatchObject({ verdict: 'outdated', receipt: 'cc-000001' });
    // Files that are what they were are as proven as they were.
    await writeFiles(folder, { 'src/main.go': 'package main\n' });
    expect((await ok(next)).answer.body).toContain(OVER);
  });

  it('is known to get_project_context, which says how many stories are done and names each document once', async () => {
    const { ok, folder } = await passed();
    const told = async (): Promise<string> => (await ok(getProjectContext)).answer.body;
    expect(await told()).toContain('1 of 1 done by ledger and files, proven by contract PASS (cc-000001).');
    expect((await told()).split('docs/architecture.md (').length).toBe(2);
    await writeFiles(folder, { 'src/main.go': 'package main // changed\n' });
    expect(await told()).toContain('1 of 1 done by ledger and files, not proven.');
  });

  it('says so for a contract that has changed, in files that git does not see', async () => {
    const { ok, folder } = await passed({ ...finished, '.gitignore': '_bmad/\n' });
    await writeFiles(folder, { [SCRIPT_PATH]: `${KIT_LIKE_SCRIPT}# more\n` });
    expect((await ok(next)).answer.body).toContain(
      '(cc-000001), but the contract has changed since; run the',
    );
  });

  it('asks for the review first, and then for the contract (P2-5)', async () => {
    const { ok, folder } = await passed();
    await writeFiles(folder, {
      'src/main.go': 'package main // more\n',
      'docs/stories/1.2.login.md': v4Story('1.2', 'Ready for Review'),
    });
    const { body } = (await ok(next)).answer;
    expect(body).toContain(': run the contract again after the review.');
    expect(body).toContain('1. Review story 1.2');
  });

  it('says that it is no longer proven where nothing may run any more', async () => {
    const { folder } = await passed();
    await writeFiles(folder, { 'src/new.go': 'package main\n' });
    const context = await contextIn(folder, {
      flags: { trust: 'never' },
      env: { PATH: process.env['PATH'] },
    });
    const outcome = await execute(next, {}, context, testCall());
    if (!outcome.ok) throw outcome.error;
    expect(outcome.answer.body).toContain('Everything planned is done, and no longer proven.');
    expect(outcome.answer.body).toMatch(
      /The project was proven on \S+ \(cc-000001\), but files have changed since: [^(]/,
    );
  });

  it('compares a large project only as far as is quick, and says so', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_100 }, (_, index) => [`src/part${index}.go`, 'package main\n']),
    );
    const { ok, folder } = await passed({ ...finished, ...many });
    const { answer, data } = await ok(next);
    expect(data['verification']).toMatchObject({ verdict: 'PASS', compared: false });
    expect(answer.body).toContain('Whether files have changed since was not compared.');
    expect(answer.body).not.toContain('done and proven');
    expect(answer.body).toContain(OVER);
    expect(saidIn(answer)).toContain('verify_receipts');
    await writeFile(join(folder, 'src/part700.go'), 'package other\n');
    expect((await ok(next)).answer.body).toContain('(cc-000001), but files have changed since; ');
  }, 60_000);
});

describe.skipIf(process.platform === 'win32')('next, of a spec that belongs to no story', () => {
  const at = '_bmad-output/implementation-artifacts/spec-greeting.md';

  it('calls it reviewed only if a review is on file', async () => {
    const body = async (text: string): Promise<string> => {
      const { ok } = await contractSession(afterAll, { ...contract, [at]: text });
      return (await ok(next)).answer.body;
    };
    expect(await body(spec('done'))).toContain('Prove what is done: it is built, but not proven; ');
    expect(await body(spec('done', FINDINGS))).toContain(
      'Prove what is done: it is built and reviewed, but not proven; ',
    );
  });

  it('does not speak of stories once it is proven', async () => {
    const { ok } = await passed({ ...contract, [at]: spec('done') });
    const { body } = (await ok(next)).answer;
    expect(body).toMatch(/everything planned is done/i);
    expect(body).not.toContain('All stories are done');
  });
});
