import { afterAll, describe, expect, it } from 'vitest';
import { contractSession } from '../../../tests/support/contract-project.ts';
import { ledger, plain } from '../../../tests/support/progress-trees/pieces.ts';
import { spec } from '../../../tests/support/progress-trees/reviews.ts';
import { runOpen } from '../runs/run-open.ts';
import { next } from './next.ts';
import type { Action } from './next-actions.ts';

const IMPL = '_bmad-output/implementation-artifacts';
const PLANS = '_bmad-output/planning-artifacts';
const SMALL = 'a small option --json for tally';
const LARGE = 'accounts for all our customers, with invoices';

const built = {
  'package.json': '{ "name": "tally", "scripts": { "test": "node --test" } }\n',
  [`${IMPL}/spec-tally.md`]: spec('done'),
};
const planned = {
  [`${PLANS}/prd.md`]: plain,
  [`${PLANS}/architecture.md`]: plain,
  [`${PLANS}/epics.md`]: `${plain}\n## Epic 1: Base\n\n### Story 1.1: Setup\n\n### Story 1.2: Names\n`,
};
const finished = {
  ...planned,
  [`${IMPL}/sprint-status.yaml`]: ledger({ 'epic-1': 'done', '1-1-setup': 'done', '1-2-names': 'done' }),
};
const underWay = {
  ...planned,
  [`${IMPL}/sprint-status.yaml`]: ledger({
    'epic-1': 'in-progress',
    '1-1-setup': 'done',
    '1-2-names': 'ready-for-dev',
  }),
};
async function actionsOf(files: Record<string, string>, message?: string) {
  const { ok } = await contractSession(afterAll, files, { flags: { trustProject: 'false' } });
  const { data } = await ok(next, { message });
  return (data['actions'] as Action[]).map(({ what, use, optional, call }) => ({
    what,
    use,
    optional,
    said: call?.['message'],
  }));
}

describe('next with a wish, in a project that has begun', () => {
  it.each([
    ['built with a spec', built],
    ['whose stories are done', finished],
  ])('begins with something small in one %s', async (_, files) => {
    const [first, ...others] = await actionsOf(files, SMALL);
    expect(first).toMatchObject({ what: 'Build what is wanted now', use: 'build', optional: false });
    expect(first?.said).toContain(SMALL);
    expect(others).toEqual(await actionsOf(files));
  });

  it('puts it after what is under way', async () => {
    const [first, second] = await actionsOf(underWay, SMALL);
    expect(first).toMatchObject({ what: 'Build story 1-2-names', optional: false });
    expect(second).toMatchObject({ what: 'Build what is wanted now', optional: true });
  });

  it.each([
    ['whose stories are done', finished],
    ['that is under way', underWay],
  ])('offers to change the plan for something larger, in one %s', async (_, files) => {
    const [added, ...more] = (await actionsOf(files, LARGE)).filter(({ said }) => said === LARGE);
    expect(added).toMatchObject({ use: 'correct-course', optional: true });
    expect(more).toEqual([]);
  });

  it.each(['what is next?', 'continue', 'La suite', 'quick: build story 1.2', ''])(
    'takes %j for no wish',
    async (message) => {
      expect(await actionsOf(finished, message)).toEqual(await actionsOf(finished));
    },
  );

  it('leads to a PRD with something larger where there is only a spec', async () => {
    const actions = await actionsOf(built, LARGE);
    expect(actions[0]).toMatchObject({ what: 'Write the PRD for what is wanted', use: 'prd', said: LARGE });
    expect(actions.filter(({ use }) => use === 'prd')).toHaveLength(1);
  });

  it('carries the words of the user into whatever a project begins with', async () => {
    for (const { said } of await actionsOf({}, LARGE)) expect(said).toContain(LARGE);
    for (const { said } of await actionsOf({}, 'what is next?')) expect(said ?? '').not.toContain('next?');
  });
});

describe('next where a status is no status', () => {
  it('has its correction as a step', async () => {
    const ledgerFile = ledger({ 'epic-1': 'in-progress', '1-1-setup': 'done', '1-2-names': 'finito' });
    const actions = await actionsOf({ ...planned, [`${IMPL}/sprint-status.yaml`]: ledgerFile });
    expect(actions[0]).toMatchObject({ what: 'Correct the status of story 1-2-names', optional: false });
  });
});

describe('next while the first document is being written', () => {
  it('resumes that, offers it no second time, and the rest as an option', async () => {
    const session = await contractSession(afterAll, {}, { flags: { trustProject: 'false' } });
    await session.ok(runOpen, { workflow: 'prd' });
    const { data } = await session.ok(next);
    const [first, ...others] = data['actions'] as Action[];
    expect(first?.what).toMatch(/^Resume run /);
    expect(others.map(({ optional }) => optional)).not.toContain(false);
    expect(others.map(({ use }) => use)).not.toContain('prd');
  });
});
