import { describe, expect, it, onTestFinished } from 'vitest';
import { branchFile, kitState } from '../../../tests/support/run-project.ts';
import { runSession } from '../../../tests/support/run-session.ts';
import { next } from '../project/next.ts';
import { runCheckpoint, runFinish } from './run-progress.ts';
import { saveSession } from './save-session.ts';

const RUNS = '_bmad-output/.runs';

type Actions = { what: string; why: string; action?: { name: string; args: object } }[];

describe('next, with runs', () => {
  it('resumes the newest open run before anything else', async () => {
    const session = await runSession(onTestFinished);
    const run_id = await session.open('prd', { total_steps: 2 });
    await session.ok(runCheckpoint, { run_id, step: 1 });
    const { data, answer } = await session.ok(next);
    expect((data['actions'] as Actions)[0]).toMatchObject({
      what: `Resume run ${run_id}`,
      why: 'it is running, 1 of 2 steps; also open: dev-story-20260227-143022',
      action: { name: 'run_resume', args: { run_id } },
    });
    expect(answer.body).toContain(`1. Resume run ${run_id}: it is running`);
    expect(answer.steps?.[0]).toEqual({
      operation: 'run_resume',
      args: { run_id },
      why: `Resume run ${run_id}`,
    });
    await session.ok(runCheckpoint, { run_id, step: 2 });
    expect(((await session.ok(next)).data['actions'] as Actions)[0]).toMatchObject({
      what: `End run ${run_id}`,
      action: { name: 'run_finish', args: { run_id } },
    });
    await session.ok(runFinish, { run_id });
    expect(((await session.ok(next)).data['actions'] as Actions)[0]?.what).toBe(
      'Resume run dev-story-20260227-143022',
    );
  });

  it('counts a run as a beginning, and tells of hand-offs and the last session (M-47)', async () => {
    const session = await runSession(onTestFinished, {
      files: {
        [`${RUNS}/main/dev-story-20260227-143022/state.json`]: kitState({ steps_completed: [1, 2, 3, 4] }),
        '_bmad/_memory/shared-context.md': '# Shared context\n',
        '_bmad/_memory/handoff-log.md':
          '| 2026-02-28 10:00 | dev → qa | valider le panier | ⏳ |\n| 2026-02-28 11:00 | qa → dev | relire | ✅ |\n',
      },
    });
    await session.ok(saveSession, { agent: 'dev', work: ['cart'], next: 'finish the checkout' });
    const { data, answer } = await session.ok(next);
    const phases = data['phases'] as { phase: string; state: string; evidence: { file: string }[] }[];
    expect(phases.at(-1)).toMatchObject({
      phase: 'implementation',
      state: 'in progress',
      evidence: [{ file: `${RUNS}/main/dev-story-20260227-143022/state.json`, says: 'running' }],
    });
    expect(answer.body).toContain('implementation in progress');
    expect(answer.body).toContain('it is running, 4 of 8 steps');
    expect(answer.body).toMatch(/Open H-\w+: dev → qa: valider le panier/);
    expect(answer.body).not.toContain('relire');
    expect(answer.body).toMatch(/Last session, dev, [\d-]+.*: next finish the checkout/);
  });

  it('passes over what was put away, and a failure whose workflow was begun anew', async () => {
    const state = (run_id: string, status: string, day: number): string =>
      kitState({ run_id, status, last_checkpoint: `2026-03-0${day}T00:00:00Z`, artefacts_produced: [] });
    const files = {
      [`${RUNS}/main/r-1/state.json`]: state('r-1', 'failed', 1),
      [`${RUNS}/main/r-2/state.json`]: state('r-2', 'completed', 2),
      [`${RUNS}/gone/branch.json`]: branchFile('gone', { status: 'merged' }),
      [`${RUNS}/gone/r-3/state.json`]: state('r-3', 'running', 3),
      [`${RUNS}/archive/old-20260101/r-4/state.json`]: state('r-4', 'running', 4),
    };
    const session = await runSession(onTestFinished, { files });
    expect(JSON.stringify((await session.ok(next)).data['actions'])).not.toContain('Resume run');
    const side = await runSession(onTestFinished, {
      files: { ...files, [`${RUNS}/side/r-5/state.json`]: state('r-5', 'failed', 1) },
    });
    expect(((await side.ok(next)).data['actions'] as Actions)[0]).toMatchObject({
      what: 'Resume run r-5',
      action: { name: 'run_resume', args: { run_id: 'r-5', branch: 'side' } },
    });
  });
});
