import { readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { saidIn } from '../../../tests/support/operations.ts';
import { runSession } from '../../../tests/support/run-session.ts';
import { activate, executeWorkflow } from '../activation/activate.ts';
import { bmad } from '../unified/bmad.ts';
import { runCheckpoint, runFinish, runOpen } from './run-operations.ts';
import { getWorkflowStatus } from './workflow-status.ts';

const RUNS = '_bmad-output/.runs';

describe('run_open', () => {
  it('writes a state that the kit understands, and nothing else beside it', async () => {
    const session = await runSession(onTestFinished);
    const { data, answer } = await session.ok(runOpen, {
      workflow: 'prd',
      total_steps: 3,
      variables: { topic: 'shop' },
    });
    const { run_id: id, folder } = data['run'] as { run_id: string; folder: string };
    expect(id).toMatch(/^bmad-prd-\d{8}-\d{6}-[0-9a-f]{6}$/);
    expect(folder).toBe(`${RUNS}/main/${id}`);
    const state = await session.text(`${folder}/state.json`);
    expect(state).toContain('"status": "running"');
    expect(JSON.parse(state)).toMatchObject({
      run_id: id,
      workflow: 'bmm/bmad-prd',
      session_branch: 'main',
      steps_completed: [],
      current_step: 1,
      total_steps: 3,
      session_variables: { topic: 'shop' },
    });
    expect(await readdir(join(session.folder, folder))).toEqual(['state.json']);
    const { data: status } = await session.ok(getWorkflowStatus, { run_id: id, journal: true });
    expect(status['journal']).toMatchObject([{ seq: 1, event: 'opened' }]);
    expect(saidIn(answer)).toContain(
      `Start it: bmad {operation:"execute", workflow:"bmm/bmad-prd", run_id:"${id}"}`,
    );
    // How a run is kept is said with the workflow.
    expect(saidIn(answer)).not.toContain('run_checkpoint');
    expect(await readdir(join(session.folder, RUNS))).not.toContain('.lock');
  });

  it('gives runs of the same second ids of their own', async () => {
    const session = await runSession(onTestFinished);
    const ids = await Promise.all(Array.from({ length: 5 }, () => session.open('prd')));
    expect(new Set(ids).size).toBe(5);
  });

  it('keeps a project without BMAD clean', async () => {
    const session = await runSession(onTestFinished, { files: {} });
    const run_id = await session.open('prd');
    expect(await readdir(session.folder)).toEqual([]);
    const { data } = await session.ok(getWorkflowStatus);
    expect(data['run']).toMatchObject({ run_id, status: 'running', problems: [] });
    expect((data['run'] as { folder: string }).folder).toContain('.home');
  });

  it('goes to the output folder of a project that has BMAD', async () => {
    const session = await runSession(onTestFinished, {
      files: { '_bmad/core/config.yaml': 'output_folder: results\n' },
    });
    const id = await session.open('prd');
    expect(JSON.parse(await session.text('results/.runs/main/branch.json'))).toMatchObject({
      branch: 'main',
      status: 'active',
    });
    expect(await session.text(`results/.runs/main/${id}/state.json`)).toContain(id);
  });

  it('refuses what is no workflow, no branch, or leads out', async () => {
    const session = await runSession(onTestFinished);
    expect((await session.fail(runOpen, { workflow: 'nothing-like-it' })).code).toBe('not_found');
    expect((await session.fail(runOpen, { workflow: 'prd', branch: 'nowhere' })).code).toBe('not_found');
    expect((await session.fail(runOpen, { workflow: 'prd', branch: '../x' })).code).toBe('invalid_input');
    expect((await session.fail(runOpen, { workflow: 'prd', branch: 'explore-graphql-20261114' })).code).toBe(
      'not_found',
    );
    const linked = await runSession(onTestFinished, { files: { '_bmad/x.md': '' } });
    const outside = await temporaryFolder(onTestFinished);
    await symlink(outside, join(linked.folder, '_bmad-output'));
    expect((await linked.fail(runOpen, { workflow: 'prd' })).code).toBe('forbidden');
    expect(await readdir(outside)).toEqual([]);
  });

  it('keeps no secret', async () => {
    const session = await runSession(onTestFinished);
    const key = `sk-ant-api03-${'a1B2'.repeat(12)}`;
    const run_id = await session.open('prd', {
      variables: { topic: 'caching', api_key: 'plain', nested: { note: `use ${key}` } },
    });
    await session.ok(runCheckpoint, { run_id, step: 1, notes: `called with ${key}` });
    const { data } = await session.ok(getWorkflowStatus, { run_id, journal: true });
    expect(JSON.stringify(data)).not.toContain(key);
    expect(data).toMatchObject({ run: { session_variables: { topic: 'caching', api_key: '***' } } });
  });

  it('writes nothing in read-only mode', async () => {
    const session = await runSession(onTestFinished, { flags: { readOnly: 'true' } });
    expect((await session.fail(runOpen, { workflow: 'prd' })).code).toBe('forbidden');
  });
});

describe('starting a workflow with a run', () => {
  it('says how far it is and how to keep it, and writes nothing', async () => {
    const session = await runSession(onTestFinished);
    const run_id = await session.open('prd', { total_steps: 4 });
    await session.ok(runCheckpoint, { run_id, step: 1, variables: { topic: 'shop' } });
    const journal = async (): Promise<unknown> =>
      (await session.ok(getWorkflowStatus, { run_id, journal: true })).data['journal'];
    const before = await journal();
    for (const [operation, input] of [
      [activate, { name: 'prd', run_id }],
      [executeWorkflow, { workflow_name: 'prd', run_id }],
      [bmad, { operation: 'execute', workflow: 'prd', run_id }],
    ] as const) {
      const { answer } = await session.ok(operation, input);
      expect(answer.body).toContain('## Run');
      expect(answer.body).toContain('1 of 4 steps');
      expect(answer.body).toContain('"topic": "shop"');
      expect(answer.body).toContain(`{action:"run_checkpoint", args:{run_id:"${run_id}", step:2}}`);
    }
    expect(await journal()).toEqual(before);
    expect((await session.ok(activate, { name: 'prd' })).answer.body).not.toContain('## Run');
  });

  it('refuses a run of another workflow, one that is over and one that is none', async () => {
    const session = await runSession(onTestFinished);
    const run_id = await session.open('prd');
    expect((await session.fail(activate, { name: 'architecture', run_id })).message).toContain(
      'bmm/bmad-prd',
    );
    await session.ok(runFinish, { run_id });
    expect((await session.fail(activate, { name: 'prd', run_id })).code).toBe('invalid_input');
    expect((await session.fail(activate, { name: 'prd', run_id: 'none-1' })).code).toBe('not_found');
    expect((await session.fail(activate, { name: 'prd', run_id: '../x' })).code).toBe('invalid_input');
  });
});
