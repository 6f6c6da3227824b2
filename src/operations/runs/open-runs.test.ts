import type { Step } from '../../base/step.ts';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { branchFile, kitState, recentState } from '../../../tests/support/run-project.ts';
import { runSession } from '../../../tests/support/run-session.ts';
import { localDay } from '../../base/text/text.ts';
import { next } from '../project/next.ts';
import { runCheckpoint, runFinish, runResume, saveSession } from './run-operations.ts';

const today = (): string => localDay(new Date());

const RUNS = '_bmad-output/.runs';

type Actions = { what: string; why: string; steps: Step[] }[];

describe('next, with runs', () => {
  it('resumes the newest open run before anything else', async () => {
    const session = await runSession(onTestFinished);
    const run_id = await session.open('prd', { total_steps: 2 });
    await session.ok(runCheckpoint, { run_id, step: 1 });
    const { data, answer } = await session.ok(next);
    expect((data['actions'] as Actions)[0]).toMatchObject({
      what: `Resume run ${run_id}`,
      why: 'it is running, 1 of 2 steps',
      steps: [{ operation: 'run_resume', args: { run_id } }],
    });
    expect(answer.body).toContain(`1. Resume run ${run_id}: it is running`);
    // The call stands right under its step, and only there.
    expect(answer.body).toMatch(new RegExp(`1\\. Resume run ${run_id}.*\\n   \\S+.*${run_id}`));
    expect(answer.steps?.some(({ operation }) => operation === 'run_resume')).toBe(false);
    await session.ok(runCheckpoint, { run_id, step: 2 });
    expect(((await session.ok(next)).data['actions'] as Actions)[0]).toMatchObject({
      what: `End run ${run_id}`,
      steps: [{ operation: 'run_finish', args: { run_id } }],
    });
    await session.ok(runFinish, { run_id });
    // What the kit left months ago, with a workflow that is not here, is no next step.
    const after = await session.ok(next);
    const actions = after.data['actions'] as Actions;
    expect(actions[0]).toMatchObject({
      what: 'Close run dev-story-20260227-143022',
      optional: true,
      steps: [
        { operation: 'run_finish', args: { run_id: 'dev-story-20260227-143022', status: 'abandoned' } },
      ],
    });
    expect(after.answer.body).not.toContain('Resume run');
    expect(after.answer.body).toMatch(/^implementation in progress\n/);
    expect(after.answer.body).toContain(
      '1. Close run dev-story-20260227-143022 (optional): it was last touched on 2026-02-27, and its workflow _bmad/bmm/workflows/4-implementation/dev-story/workflow.yaml is not here; build does its work now\n   manage_project {action:"run_finish", args:{run_id:"dev-story-20260227-143022", status:"abandoned"}}',
    );
    await rm(join(session.folder, RUNS, 'main/dev-story-20260227-143022/artefacts/step-01-output.md'));
    const over = await session.ok(runFinish, { run_id: 'dev-story-20260227-143022', status: 'abandoned' });
    expect(over.answer.body).toMatch(/^Ended dev-story-20260227-143022: abandoned, /);
    expect(over.answer.body).not.toContain('Next:');
    // What its files lack needs nobody any more.
    expect(over.answer.body).not.toContain('The artefact ');
    expect((await session.ok(next)).answer.body).not.toContain('dev-story-20260227');
  });

  it('offers a run last that was left long ago, while the work went on', async () => {
    const long = { last_checkpoint: '2026-02-27T14:41:00Z' };
    const prd = (run_id: string, more = {}): string =>
      kitState({ run_id, workflow: 'bmm/bmad-prd', artefacts_produced: [], ...more });
    const left = { [`${RUNS}/main/r-1/state.json`]: prd('r-1', long) };
    const idle = await runSession(onTestFinished, { files: left });
    const alone = (await idle.ok(next)).data['actions'] as Actions;
    expect(alone[0]?.what).toBe('Resume run r-1');
    const files = {
      ...left,
      [`${RUNS}/main/r-2/state.json`]: prd('r-2', {
        status: 'completed',
        last_checkpoint: '2026-03-20T00:00:00Z',
      }),
      '_bmad/_memory/shared-context.md': '# Shared context\n',
      '_bmad/_memory/handoff-log.md': '| 2026-02-28 10:00 | dev → qa | valider US-042 | ⏳ |\n',
    };
    const session = await runSession(onTestFinished, { files });
    const { data, answer } = await session.ok(next);
    expect((data['actions'] as Actions)[0]?.what).toMatch(/^Settle request H-/);
    expect(answer.body).toMatch(
      /2\. Close run r-1 .*it was last touched on 2026-02-27, and the work continued without it$/m,
    );
    expect(answer.body).toMatch(
      /1\. Settle request H-\w+ \(optional\), dev asks qa, open since 2026-02-28: "valider US-042"$/m,
    );
    // Whoever asks for it gets it.
    const resumed = await session.ok(runResume);
    expect(resumed.answer.body).toMatch(/^Run r-1 is old/);
    expect(resumed.answer.steps?.map(({ operation }) => operation)).toEqual(
      expect.arrayContaining(['execute', 'run_checkpoint', 'run_finish']),
    );
  });

  it('counts a run as a beginning, and tells of hand-offs and the last session (M-47)', async () => {
    const session = await runSession(onTestFinished, {
      files: {
        [`${RUNS}/main/dev-story-20260227-143022/state.json`]: recentState({ steps_completed: [1, 2, 3, 4] }),
        '_bmad/_memory/shared-context.md': '# Shared context\n',
        '_bmad/_memory/handoff-log.md': `| ${today()} 10:00 | dev → qa | valider le panier | ⏳ |\n| ${today()} 11:00 | qa → dev | relire | ✅ |\n`,
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
    expect(answer.body).toMatch(/Settle request H-\w+, dev asks qa: "valider le panier/);
    expect(answer.body).not.toContain('relire');
    expect(answer.body).toMatch(
      /1\. Continue from the last session \(dev, [\d-]+.*\), whose note on the next step says: "finish the checkout/,
    );
  });

  it('passes over what was put away, and a failure whose workflow was begun anew', async () => {
    const state = (run_id: string, status: string, day: number): string =>
      kitState({
        run_id,
        status,
        last_checkpoint: new Date(Date.now() + (day - 9) * 86_400_000).toISOString(),
        artefacts_produced: [],
      });
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
      steps: [{ operation: 'run_resume', args: { run_id: 'r-5', branch: 'side' } }],
    });
  });
});
