import { afterAll, describe, expect, it } from 'vitest';
import { writeFiles } from '../../../tests/support/folders.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { ledger, TEXT } from '../../../tests/support/progress-trees/pieces.ts';
import { FINDINGS, spec } from '../../../tests/support/progress-trees/reviews.ts';
import { next } from './next.ts';
import { reconcileLedgers } from './ledgers.ts';

const IMPL = '_bmad-output/implementation-artifacts';
const LEDGER = `${IMPL}/sprint-status.yaml`;

interface Data {
  ledgers: { changes: { key: string; from?: string; to: string }[] }[];
}

async function project(files: Readonly<Record<string, string>>) {
  const session = await openSession(afterAll);
  await writeFiles(session.folder, files);
  const run = async (input = {}): Promise<Data> =>
    (await session.ok(reconcileLedgers, input)).data as unknown as Data;
  return { ...session, run };
}

const changesOf = ({ ledgers }: Data): string[] =>
  ledgers.flatMap(({ changes }) => changes.map(({ key, from, to }) => `${key}: ${from ?? 'none'} > ${to}`));

describe('what has been reviewed', () => {
  it('is all that reconcile closes, and is told apart in the counts (M-50)', async () => {
    const rows = {
      'epic-1': 'in-progress',
      '1-1-setup': 'review',
      '1-2-login': 'in-progress',
      '1-3-cart': 'review',
      '1-4-pay': 'done',
      'epic-1-retrospective': 'optional',
    };
    const { run, ok } = await project({
      [LEDGER]: ledger(rows),
      [`${IMPL}/spec-1-1-setup.md`]: spec('done'),
      [`${IMPL}/spec-1-2-login.md`]: spec('done'),
      [`${IMPL}/spec-1-3-cart.md`]: spec('done', FINDINGS),
      [`${IMPL}/spec-1-4-pay.md`]: spec('done'),
      [`${IMPL}/spec-1-5-mail.md`]: spec('done'),
    });
    const before = await ok(next);
    expect(before.data['totals']).toEqual({
      stories: 5,
      done: 1,
      waiting_for_review: 4,
      done_without_review: 1,
    });
    expect(before.answer.body).toContain(
      '1 of 5 stories done (1 without a review on file), 0 proven, 4 waiting for review',
    );
    const done = await run({ apply: true });
    expect(changesOf(done)).toEqual(['1-2-login: in-progress > review', '1-5-mail: none > review']);
    const after = await ok(next, { detail: 'full' });
    expect(after.data['drift']).toEqual([]);
    expect(after.answer.body).toContain('Review story 1-1-setup');
    expect(changesOf(await run())).toEqual([]);
  });
});

describe('a story that a model marks done and that is not', () => {
  it('is not counted, and the one answer says what to decide (M-50)', async () => {
    const { ok, run } = await project({
      [LEDGER]: ledger({ 'epic-1': 'in-progress', '1-1-setup': 'done', '1-2-login': 'backlog' }),
      [`${IMPL}/1-1-setup.md`]:
        '# Story 1.1: Setup\n\nStatus: in-progress\n\n## Tasks\n\n- [x] One\n- [ ] Two\n',
    });
    const { answer } = await ok(next);
    expect(answer.body).toContain('0 of 2 stories done');
    expect(answer.body).toContain(
      'Decide whether story 1-1-setup is done: the ledger says done and its file in-progress\n   Set both to what is right: manage_project {action:"story_status", args:{story:"1-1-setup", status:"…"}}',
    );
    expect(changesOf(await run({ apply: true }))).toEqual([]);
  });
});

describe('a retrospective', () => {
  it('is not offered once it is written, in the form of any version (M-61)', async () => {
    const rows = { 'epic-1': 'done', '1-1-setup': 'done', 'epic-1-retrospective': 'optional' };
    const held = {
      plain: `# Retrospective\n\n${TEXT}`,
      dated: `---\nepic: 1\ndate: 2026-01-01\n---\n\n# Retrospective\n\n${TEXT}`,
      judged: `---\nepic: 1\nverdict: accepted\n---\n\n# Retrospective\n\n${TEXT}`,
    };
    const begun = `---\nepic: 1\nverdict: accepted | rejected\n---\n\n# Retrospective\n\n${TEXT}`;
    const { ok, folder } = await project({ [LEDGER]: ledger(rows) });
    const body = async (text: string): Promise<string> => {
      await writeFiles(folder, { [`${IMPL}/epic-1-retro-2026-01-01.md`]: text });
      return (await ok(next, { detail: 'full' })).answer.body;
    };
    for (const text of Object.values(held)) expect(await body(text)).not.toContain('Hold the retrospective');
    expect(await body(begun)).toContain('Hold the retrospective for epic 1 (optional)');
    expect(await body(begun)).toContain('All stories are done, and not proven; what follows is optional.');
  });
});
