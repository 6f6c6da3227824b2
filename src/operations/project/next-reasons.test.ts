import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { EPICS, impl, ledger, out, plain, TEXT, two } from '../../../tests/support/progress-trees/pieces.ts';
import { FINDINGS, spec } from '../../../tests/support/progress-trees/reviews.ts';
import { activate } from '../activation/activate.ts';
import { execute } from '../execute.ts';
import { next } from './next.ts';
import { reconcileLedgers } from './ledgers.ts';

async function answers(files: Readonly<Record<string, string>>) {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, files);
  const context = await contextIn(folder);
  return async (operation: Parameters<typeof execute>[0], input: Record<string, unknown> = {}) => {
    const outcome = await execute(operation, input, context, testCall());
    if (!outcome.ok) throw outcome.error;
    return outcome.answer.body;
  };
}
const nextIn = async (files: Readonly<Record<string, string>>): Promise<string> =>
  (await answers(files))(next);

const inReview = ledger({ ...two, '1-1-setup': 'review' });

describe('next says why', () => {
  it('a review that is only noted in the file of a story proves nothing', async () => {
    const ask = await answers({
      [`${impl}/sprint-status.yaml`]: inReview,
      [`${impl}/spec-1-1-setup.md`]: spec('done', FINDINGS),
    });
    expect(await ask(next)).toContain('Review story 1-1-setup');
    expect(await ask(reconcileLedgers)).not.toContain('1-1-setup');
  });

  it('findings of a review are no tasks of the story', async () => {
    const tasks = '\n## Tasks / Subtasks\n\n- [x] One\n- [ ] Two\n';
    const found =
      '\n### Review Follow-ups (AI)\n\n- [x] [AI-Review] Close the file\n- [ ] [AI-Review] Name it\n';
    const body = await nextIn({
      [`${impl}/sprint-status.yaml`]: ledger({ ...two, '1-1-setup': 'in-progress' }),
      [`${impl}/1-1-setup.md`]: `# Story 1.1: Setup\n\nStatus: in-progress\n${tasks}${found}\n## Dev Notes\n\n${TEXT}`,
    });
    expect(body).toContain('1 of 2 tasks done');
  });

  it('a build that has reviewed itself still waits for the review that the ledger counts', async () => {
    const body = await nextIn({
      [`${impl}/sprint-status.yaml`]: inReview,
      [`${impl}/spec-1-1-setup.md`]: spec('done'),
    });
    expect(body).toContain('Review story 1-1-setup');
    expect(body).toContain(
      'its build has checked its own work, but only a separate code review sets the ledger to done',
    );
  });

  it('epics are written with the workflow that is for them', async () => {
    const epics = await nextIn({ [`${out}/prd.md`]: plain, [`${out}/architecture.md`]: plain });
    expect(epics).toContain('Write the epics and stories');
    expect(epics).toContain('Where a text leads to bmad-spec instead, that is for work without epics');
  });

  it('a brief stays a draft until somebody says otherwise', async () => {
    const brief = (word: string): Record<string, string> => ({
      [`${out}/briefs/brief-shop-2026-01-05/brief.md`]: `---\ntitle: Shop\nstatus: ${word}\n---\n\n${TEXT}`,
    });
    const draft = await nextIn(brief('draft'));
    expect(draft).toContain('write status: final there');
    // What is left is one word: the workflow is only for those who want to go on writing.
    expect(draft).toContain(
      '   Only if its text is not finished: bmad {operation:"execute", workflow:"product-brief"}',
    );
    expect(await nextIn(brief('final'))).not.toContain('status: final');
  });

  it('help is sent to it', async () => {
    const ask = await answers({ [`${out}/epics.md`]: EPICS });
    expect(await ask(activate, { name: 'bmad-help' })).toContain(
      'To see where the project stands by its files, and what comes next: bmad {operation:"next"}.',
    );
  });
});
