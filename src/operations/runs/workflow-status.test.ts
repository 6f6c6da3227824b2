import { describe, expect, it, onTestFinished } from 'vitest';
import { branchFile, kitState } from '../../../tests/support/run-project.ts';
import { runSession } from '../../../tests/support/run-session.ts';
import { runCheckpoint } from './run-operations.ts';
import { getWorkflowStatus } from './workflow-status.ts';

const RUNS = '_bmad-output/.runs';

describe('get_workflow_status', () => {
  it('shows the latest run of the current branch', async () => {
    const session = await runSession(onTestFinished);
    const { data, answer } = await session.ok(getWorkflowStatus);
    expect(data).toMatchObject({
      branch: 'main',
      current_branch: 'main',
      run: {
        run_id: 'dev-story-20260227-143022',
        status: 'running',
        progress: { completed: 3, total: 8, percent: 38 },
        resume_step: 4,
        artefacts: [
          { exists: true, file: `${RUNS}/main/dev-story-20260227-143022/artefacts/step-01-output.md` },
        ],
        problems: [],
      },
      others: [{ run_id: 'architecture-run-001', status: 'completed' }],
    });
    expect(answer.body).toContain('3 of 8 steps (38 %)');
    expect(answer.body).toContain('says branch "explore-graphql"');
    expect(answer.body).not.toContain('Journal');
  });

  it('finds a run in another branch and says where it is', async () => {
    const session = await runSession(onTestFinished, {
      files: {
        [`${RUNS}/side/branch.json`]: branchFile('side'),
        [`${RUNS}/side/prd-1/state.json`]: kitState({ run_id: 'prd-1', session_branch: 'side' }),
      },
    });
    expect((await session.ok(getWorkflowStatus, { run_id: 'prd-1' })).data['hint']).toBe(
      'It is in the session branch side; the current one is main.',
    );
    const wrong = await session.fail(getWorkflowStatus, { run_id: 'prd-1', branch: 'main' });
    expect(wrong).toMatchObject({ code: 'not_found', hint: 'It is in side.' });
    expect((await session.ok(getWorkflowStatus)).data['hint']).toBe('Runs are in: side (1).');
  });

  it('reads archived runs by the name of their folder, and wants to know which of two', async () => {
    const session = await runSession(onTestFinished);
    const branch = 'explore-graphql-20261114';
    const { data } = await session.ok(getWorkflowStatus, { run_id: 'architecture-run-001', branch });
    expect(data['run']).toMatchObject({ archive: branch, branch: 'explore-graphql' });
    expect((await session.ok(getWorkflowStatus, { branch })).data['run']).toMatchObject({ archive: branch });
    const both = await runSession(onTestFinished, {
      files: {
        [`${RUNS}/a/r-1/state.json`]: kitState({ run_id: 'r-1' }),
        [`${RUNS}/b/r-1/state.json`]: kitState({ run_id: 'r-1' }),
      },
    });
    expect(await both.fail(getWorkflowStatus, { run_id: 'r-1' })).toMatchObject({
      code: 'ambiguous',
      hint: 'Name the branch: a, b.',
    });
  });

  it('explains an empty project, and writes nothing into it', async () => {
    const session = await runSession(onTestFinished, { files: {} });
    const { data, answer } = await session.ok(getWorkflowStatus);
    expect(data).toMatchObject({ branch: 'main', others: [], problems: [] });
    expect(answer.steps).toMatchObject([{ operation: 'run_open', open: ['workflow'] }]);
    await expect(session.text('_bmad-output/.runs/main/branch.json')).rejects.toThrow('ENOENT');
  });

  it('refuses ids and branches that are none, and lists those there are', async () => {
    const session = await runSession(onTestFinished);
    for (const run_id of ['../../etc', 'a/b', '..', 'a\\b', '.hidden', 'a\0b'])
      expect((await session.fail(getWorkflowStatus, { run_id })).code).toBe('invalid_input');
    const near = await session.fail(getWorkflowStatus, { run_id: 'dev-story' });
    expect(near).toMatchObject({ code: 'not_found', suggestions: ['dev-story-20260227-143022'] });
    expect(near.hint).toContain('architecture-run-001');
    expect((await session.fail(getWorkflowStatus, { branch: '../x' })).hint).toContain(
      'explore-graphql-20261114',
    );
  });

  it('shows a broken state as broken', async () => {
    const session = await runSession(onTestFinished, {
      files: { [`${RUNS}/main/r-1/state.json`]: '{"a": ' },
    });
    const { data } = await session.ok(getWorkflowStatus);
    expect(data['run']).toMatchObject({ status: 'unknown' });
    expect((data['run'] as { problems: string[] }).problems[0]).toContain(
      'main/r-1/state.json is not valid JSON',
    );
    expect(await session.text(`${RUNS}/main/r-1/state.json`)).toBe('{"a": ');
  });

  it('shows the journal on request', async () => {
    const session = await runSession(onTestFinished);
    const run_id = await session.open('prd');
    await session.ok(runCheckpoint, { run_id, step: 1 });
    const { data, answer } = await session.ok(getWorkflowStatus, { run_id, journal: true });
    expect(data['journal']).toMatchObject([
      { seq: 1, event: 'opened' },
      { seq: 2, event: 'checkpoint', step: 1 },
    ]);
    expect(answer.body).toMatch(/Journal:\n- 1 .* opened\n- 2 .* checkpoint step 1, [0-9a-f]{6}/);
  });
});
