import { afterAll, describe, expect, it } from 'vitest';
import { contractSession } from '../../../tests/support/contract-project.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { ledger, plain, v4Story } from '../../../tests/support/progress-trees/pieces.ts';
import { spec } from '../../../tests/support/progress-trees/reviews.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { runCompletionContract } from '../completion/run-completion-contract.ts';

import { bmad } from '../unified/bmad.ts';
import { getProjectContext } from './get-project-context.ts';
import { next } from './next.ts';

const IMPL = '_bmad-output/implementation-artifacts';
const PACKAGE = '{ "name": "tally", "scripts": { "test": "node --test" } }\n';
const waiting = { flags: { trustProject: 'false' } };

/** A project of version 4 whose only story is done, reviewed and has passed its gate. */
const finished4 = {
  'package.json': PACKAGE,
  '.bmad-core/core-config.yaml': 'qa:\n  qaLocation: docs/qa\ndevStoryLocation: docs/stories\n',
  'docs/prd.md': `${plain}\n## Epic 1 Base\n\n### Story 1.1 Setup\n`,
  'docs/architecture.md': plain,
  'docs/stories/1.1.setup.md': v4Story('1.1', 'Done'),
  'docs/qa/gates/1.1-setup.yml': 'schema: 1\nstory: "1.1"\ngate: PASS\n',
};

describe.skipIf(process.platform === 'win32')('next, where everything is built', () => {
  it('has proving it as the step that is left, with who does what', async () => {
    const { ok, folder } = await contractSession(afterAll, finished4, waiting);
    const { answer } = await ok(next);
    expect(answer.body).toContain('1 of 1 story done, 0 proven');
    expect(answer.body).not.toContain('Nothing left to do');
    expect(answer.body).toMatch(
      /1\. Prove what is done: built and reviewed, not proven: the user has to allow the completion contract \(it runs [^)]*npm[^)]*\): tell them, then call it/,
    );
    expect(answer.body).toContain(`   The user runs: trust {folder:"${folder}"}\n   Then call: `);
    // Said once: under the step.
    expect(answer.steps?.some(({ operation }) => operation === 'trust')).toBe(false);
  });

  it('does not call it proven where nothing can prove it', async () => {
    const { 'package.json': _, ...bare } = finished4;
    const { answer } = await (await contractSession(afterAll, bare, waiting)).ok(next);
    expect(answer.body).toContain('Nothing left to do: everything planned is done, and not proven.');
  });

  it('puts it before what is optional, and says what the files show', async () => {
    const { ok } = await contractSession(
      afterAll,
      {
        'package.json': PACKAGE,
        [`${IMPL}/sprint-status.yaml`]: ledger({
          'epic-1': 'in-progress',
          '1-1-setup': 'done',
          'epic-1-retrospective': 'optional',
        }),
        [`${IMPL}/spec-1-1-setup.md`]: spec('done'),
      },
      waiting,
    );
    const { answer } = await ok(next);
    expect(answer.body).toContain(
      '1. Bring the ledgers up to date: the files show 1 change missing from the ledgers: epic-1 → done\n   manage_project {action:"reconcile_ledgers"}\n2. Prove what is done: ',
    );
    expect(answer.body).toMatch(/\n3\. Hold the retrospective for epic 1 \(optional\)/);
    expect(answer.body).not.toContain('prove 1');
  });

  it('is asked for by a contract that may not run, which names what it would run', async () => {
    const { fail } = await contractSession(afterAll, finished4, waiting);
    const error = await fail(runCompletionContract);
    expect(error.message).toContain('NOT_VERIFIED');
    expect(error.hint).toMatch(/It would run: .*npm/);
    expect(error.hint).toContain('Until PASS, what is done counts as done, unproven.');
  });
});

describe('next, before anything is built', () => {
  it('goes by what the user wants: something small goes straight to code', async () => {
    const { ok } = await openSession(afterAll);
    const wish = 'I want a small command line tool that counts words';
    const { answer, data } = await ok(bmad, { operation: 'next', message: wish });
    expect(answer.body).toMatch(/\n1\. Build something small right away: what is wanted is small: one story/);
    expect(answer.body).toContain(`{operation:"execute", workflow:"build", message:"${wish}"}`);
    expect(answer.body).toContain('2. Write a product brief (optional): ');
    expect(answer.note).not.toContain('Not used');
    expect(data['result']).toMatchObject({
      actions: [{ use: 'build', optional: false }, { optional: true }, {}, {}],
    });
    // Without a wish both ways say what they are for.
    const plainly = (await ok(next)).answer.body;
    expect(plainly).toContain('1. Write a product brief: ');
    expect(plainly).toContain('some 30 calls before code');
    expect(plainly).toContain('for one small change: it goes straight to code, without documents');
  });

  it('says of a document without a status what is known, and begins no phase with a part of another', async () => {
    const { ok, folder } = await openSession(afterAll);
    await writeFiles(folder, {
      '.bmad-core/core-config.yaml': 'prd:\n  prdFile: docs/prd.md\n',
      'docs/prd.md': finished4['docs/prd.md'],
    });
    const { body } = (await ok(next)).answer;
    expect(body).toContain('planning complete · solutioning not started');
    expect(body).toContain('the PRD exists and has content (docs/prd.md:3); this comes next');
    expect(body).not.toContain('the PRD is complete');
  });
});

describe('get_project_context', () => {
  it('has the stories and what QA said of them', async () => {
    const { ok, folder } = await openSession(afterAll);
    await writeFiles(folder, finished4);
    const { body } = (await ok(getProjectContext)).answer;
    expect(body).toMatch(
      /## Stories\n1 of 1 done .*\n- 1\.1: Done \(docs\/stories\/1\.1\.setup\.md:\d+\), gate PASS \(docs\/qa\/gates\/1\.1-setup\.yml:3\)/,
    );
  });
});
