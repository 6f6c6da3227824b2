import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { saidIn } from '../../../tests/support/operations.ts';
import { kitState } from '../../../tests/support/run-project.ts';
import { runSession } from '../../../tests/support/run-session.ts';
import { runCheckpoint, runFinish, runRepair, runResume } from './run-operations.ts';
import { getWorkflowStatus } from './workflow-status.ts';

const RUNS = '_bmad-output/.runs';
const KIT_RUN = 'dev-story-20260227-143022';
const KIT_STATE = `${RUNS}/main/${KIT_RUN}/state.json`;

describe('run_checkpoint', () => {
  it('continues a run that the kit began, and keeps what it does not know', async () => {
    const session = await runSession(onTestFinished, {
      files: {
        [KIT_STATE]: kitState({
          context_snapshot: { loaded_files: ['a'] },
          artefacts_produced: [],
        }).replaceAll('\n', '\r\n'),
      },
    });
    const { data, answer } = await session.ok(runCheckpoint, {
      run_id: KIT_RUN,
      step: 4,
      variables: { project_name: 'Démo' },
      notes: 'four',
    });
    // M-49: the file keeps its form.
    const kept = await readFile(join(session.folder, KIT_STATE), 'utf8');
    expect(kept.split('\r\n').length).toBeGreaterThan(5);
    expect(kept.replaceAll('\r\n', '')).not.toContain('\n');
    // The vector that was recorded with BMAD's own code.
    expect(data['run']).toMatchObject({
      checkpoint_id: '371774',
      progress: { completed: 4, total: 8 },
      resume_step: 5,
    });
    expect(answer.body).toContain('Checkpoint 371774');
    const state = JSON.parse(await session.text(KIT_STATE)) as Record<string, unknown>;
    expect(state).toMatchObject({
      steps_completed: [1, 2, 3, 4],
      current_step: 5,
      resume_from_step: 5,
      context_snapshot: { loaded_files: ['a'] },
      session_variables: { user_name: 'Alice', project_name: 'Démo' },
      agent_notes: 'four',
    });
    const { data: status } = await session.ok(getWorkflowStatus, { run_id: KIT_RUN, journal: true });
    expect(status['journal']).toMatchObject([{ event: 'adopted' }, { event: 'checkpoint' }]);
  });

  it('says what to do where a checkpoint, or the state that the kit wrote, is too large to keep', async () => {
    const large = 'x'.repeat(1_100_000);
    const state = (brief: string): string =>
      kitState({ session_variables: { brief }, artefacts_produced: [] });
    const session = await runSession(onTestFinished, { files: { [KIT_STATE]: state(large) } });
    const before = await session.text(KIT_STATE);
    const whole = await session.fail(runCheckpoint, { run_id: KIT_RUN, step: 4 });
    expect(whole).toMatchObject({ code: 'invalid_input', subject: KIT_RUN });
    expect(whole.hint).toContain('Move large values out of its state.json into files of the project');
    expect(await session.text(KIT_STATE)).toBe(before);
    await writeFile(join(session.folder, KIT_STATE), state('docs/brief.md'));
    const given = { run_id: KIT_RUN, step: 4 };
    const part = await session.fail(runCheckpoint, { ...given, variables: { large } });
    expect(part.hint).toContain('record it with "artefacts"');
    const { data } = await session.ok(runCheckpoint, given);
    expect(data['run']).toMatchObject({ progress: { completed: 4 } });
  });

  it('records several steps at once, and tells of no problem afterwards (M-61)', async () => {
    const session = await runSession(onTestFinished);
    const run_id = await session.open('create-epics-and-stories');
    await session.ok(runCheckpoint, { run_id, step: 1 });
    const { data, answer } = await session.ok(runCheckpoint, { run_id, step: 4 });
    // The files of the workflow say how many steps there are; there is no fifth.
    expect(data['run']).toMatchObject({
      steps_completed: [1, 2, 3, 4],
      progress: { completed: 4, total: 4 },
      problems: [],
    });
    expect(data['notes']).toEqual(['Steps 2 to 3 were recorded too, without checkpoints.']);
    expect(answer.body).not.toContain('Next: step');
    const status = await session.ok(getWorkflowStatus, { run_id });
    expect(status.data['run']).toMatchObject({ problems: [] });
    expect(status.answer.body).not.toContain('Next: step');
    const again = await session.ok(runRepair, { run_id });
    expect(again.data['run']).toMatchObject({ steps_completed: [1, 2, 3, 4] });
  });

  it('records files that are there, once, and no others', async () => {
    const session = await runSession(onTestFinished);
    const run_id = await session.open('prd');
    const outside = await temporaryFolder(onTestFinished);
    await writeFile(join(outside, 'secret.md'), 'x');
    await mkdir(join(session.folder, 'docs'));
    await writeFile(join(session.folder, 'docs/prd.md'), 'x');
    await symlink(join(outside, 'secret.md'), join(session.folder, 'docs/link.md'));
    const own = `${RUNS}/main/${run_id}/artefacts`;
    await mkdir(join(session.folder, own));
    await writeFile(join(session.folder, own, 'step-01.md'), 'x');
    const artefacts = ['docs/prd.md', 'artefacts/step-01.md', join(session.folder, 'docs/prd.md')];
    const { data } = await session.ok(runCheckpoint, { run_id, step: 1, artefacts });
    expect((data['run'] as { artefacts: unknown }).artefacts).toEqual([
      { step: 1, name: 'prd', path: 'docs/prd.md', exists: true, file: 'docs/prd.md' },
      { step: 1, name: 'step-01', path: 'artefacts/step-01.md', exists: true, file: `${own}/step-01.md` },
    ]);
    const before = await session.text(`${RUNS}/main/${run_id}/state.json`);
    for (const path of [
      'missing.md',
      '../x.md',
      '/etc/passwd',
      join(outside, 'secret.md'),
      'docs/link.md',
      '.',
      '..',
    ])
      expect((await session.fail(runCheckpoint, { run_id, step: 2, artefacts: [path] })).code, path).toBe(
        'not_found',
      );
    expect(await session.text(`${RUNS}/main/${run_id}/state.json`)).toBe(before);
    await rm(join(session.folder, 'docs/prd.md'));
    const status = await session.ok(getWorkflowStatus, { run_id });
    expect((status.data['run'] as { problems: string[] }).problems.join()).toContain(
      'The artefact "prd" does not exist',
    );
  });

  it('wants an exact id, a step that can be and something to record', async () => {
    const session = await runSession(onTestFinished);
    const run_id = await session.open('prd', { total_steps: 2 });
    expect((await session.fail(runCheckpoint, { run_id })).code).toBe('invalid_input');
    expect((await session.fail(runCheckpoint, { run_id, step: 3 })).message).toContain('Step 3 of 2');
    expect((await session.fail(runCheckpoint, { run_id, step: -1 })).code).toBe('invalid_input');
    expect((await session.fail(runCheckpoint, { run_id: run_id.slice(0, -1), step: 1 })).code).toBe(
      'not_found',
    );
    expect((await session.fail(runCheckpoint, { run_id: '../main', step: 1 })).code).toBe('invalid_input');
    const archived = { run_id: 'architecture-run-001', branch: 'explore-graphql-20261114', step: 1 };
    expect((await session.fail(runCheckpoint, archived)).code).toBe('conflict');
  });

  it('leaves a broken state as it is', async () => {
    for (const broken of ['{"run_id": "r-1", ', '', '[]', '\0\0\0']) {
      const session = await runSession(onTestFinished, {
        files: { [`${RUNS}/main/r-1/state.json`]: broken },
      });
      const error = await session.fail(runCheckpoint, { run_id: 'r-1', step: 1 });
      expect(error).toMatchObject({ code: 'unavailable' });
      expect(error.message).toContain('left unchanged');
      expect(await session.text(`${RUNS}/main/r-1/state.json`)).toBe(broken);
      expect(await readdir(join(session.folder, RUNS, 'main/r-1'))).toEqual(['state.json']);
    }
  });

  it('writes through no link that leads out', async () => {
    const session = await runSession(onTestFinished);
    const run_id = await session.open('prd');
    const outside = await temporaryFolder(onTestFinished);
    await writeFile(join(outside, 'log'), '');
    await rm(join(session.folder, RUNS, 'main', run_id, 'state.json'));
    await symlink(join(outside, 'log'), join(session.folder, RUNS, 'main', run_id, 'state.json'));
    expect((await session.fail(runCheckpoint, { run_id, step: 1 })).message).toContain('points outside');
    expect(await readFile(join(outside, 'log'), 'utf8')).toBe('');
    const { data } = await session.ok(getWorkflowStatus, { run_id, journal: true });
    expect(data['journal']).toMatchObject([{ event: 'opened' }]);
  });
});

describe('run_finish', () => {
  it('is what the last step leads to, which is no problem', async () => {
    const session = await runSession(onTestFinished);
    const run_id = await session.open('prd', { total_steps: 2 });
    const first = await session.ok(runCheckpoint, { run_id, step: 1 });
    expect(first.answer.steps).toMatchObject([{ operation: 'run_checkpoint', args: { run_id, step: 2 } }]);
    const { data, answer } = await session.ok(runCheckpoint, { run_id, step: 2 });
    expect(data['run']).toMatchObject({ status: 'running', problems: [] });
    expect(answer.body).not.toContain('Problem');
    expect(answer.note).toBeUndefined();
    expect(saidIn(answer)).toBe(
      `All steps are done, so finish it: manage_project {action:"run_finish", args:{run_id:"${run_id}"}}`,
    );
    const resumed = await session.ok(runResume, { run_id });
    expect(saidIn(resumed.answer)).toContain('All steps are done');
    expect(saidIn(resumed.answer)).not.toContain('run_checkpoint');
  });

  it('says that the instructions no longer hold, who goes on, and that nothing was recorded (A-16)', async () => {
    const session = await runSession(onTestFinished);
    const run_id = await session.open('prd', { total_steps: 2, agent: 'pm' });
    const { answer } = await session.ok(runFinish, { run_id });
    expect([answer.body, answer.note].join('\n')).toMatch(
      /The instructions of \S*prd\S* no longer hold\. Continue as pm\. No step was recorded as done\./,
    );
  });

  it('writes nothing the second time, and records another status', async () => {
    const session = await runSession(onTestFinished);
    const run_id = await session.open('prd');
    const journal = async (): Promise<unknown> =>
      (await session.ok(getWorkflowStatus, { run_id, journal: true })).data['journal'];
    expect((await session.ok(runFinish, { run_id, notes: 'good' })).answer.body).toMatch(/^Ended /);
    const before = await journal();
    const again = await session.ok(runFinish, { run_id });
    expect(again.answer.body).toMatch(/^Ended already /);
    expect(again.data).toMatchObject({ already: true, run: { status: 'completed', agent_notes: 'good' } });
    expect((await session.ok(runFinish, { run_id, notes: 'good' })).data).toMatchObject({ already: true });
    expect(await journal()).toEqual(before);
    const { data, answer } = await session.ok(runFinish, { run_id, status: 'failed' });
    expect(data).toMatchObject({ run: { status: 'failed' }, notes: ['It was completed before.'] });
    expect(answer.body).toMatch(/^Ended /);
    expect(await journal()).not.toEqual(before);
  });

  it('ends a run, and says what is missing', async () => {
    const session = await runSession(onTestFinished);
    const run_id = await session.open('prd', { total_steps: 2 });
    await session.ok(runCheckpoint, { run_id, step: 1 });
    const { data } = await session.ok(runFinish, { run_id, notes: 'good enough' });
    expect(data).toMatchObject({
      run: { status: 'completed', agent_notes: 'good enough' },
      notes: ['Only 1 of 2 steps have a checkpoint.'],
    });
    expect((await session.fail(runCheckpoint, { run_id, step: 2 })).steps).toMatchObject([
      { operation: 'run_open' },
    ]);
  });

  it('pauses, and a checkpoint makes it run again', async () => {
    const session = await runSession(onTestFinished);
    const run_id = await session.open('prd');
    expect((await session.ok(runFinish, { run_id, status: 'paused' })).data['run']).toMatchObject({
      status: 'paused',
    });
    const { data } = await session.ok(runCheckpoint, { run_id, step: 1 });
    expect(data).toMatchObject({
      run: { status: 'running' },
      notes: ['It was paused and is running again.'],
    });
    expect((await session.fail(runFinish, { run_id, status: 'done' })).code).toBe('invalid_input');
  });
});

describe('run_resume', () => {
  it('tells what was done and how to go on, for the latest that is not over', async () => {
    const session = await runSession(onTestFinished);
    const run_id = await session.open('prd', { total_steps: 3 });
    await session.ok(runCheckpoint, { run_id, step: 1, variables: { topic: 'shop' }, notes: 'first' });
    const { data, answer } = await session.ok(runResume);
    expect(data).toMatchObject({ run: { run_id, resume_step: 2 }, start: 'bmm/bmad-prd' });
    expect(saidIn(answer)).toContain(`{operation:"execute", workflow:"bmm/bmad-prd", run_id:"${run_id}"}`);
    expect(`${answer.body}${answer.note ?? ''}`).not.toContain('command line');
    expect(answer.body).toContain('"topic": "shop"');
    expect(saidIn(answer)).not.toContain('run_resume');
    await session.ok(runFinish, { run_id });
    const next = await session.ok(runResume);
    expect(next.data).toMatchObject({ run: { run_id: KIT_RUN, resume_step: 4 } });
    // Nothing else is open than what the kit left months ago, with a workflow that is not here.
    expect(next.answer.body).toMatch(/^Run dev-story-20260227-143022 cannot be resumed: /);
    expect(next.answer.steps?.map(({ operation }) => operation)).toEqual(['run_finish', 'execute']);
    expect((await session.ok(runResume, { run_id })).answer.note).toContain('It is completed.');
    expect(await session.fail(runCheckpoint, { run_id, step: 3 })).toMatchObject({
      code: 'conflict',
      steps: [{ operation: 'run_open' }],
    });
  });

  it('says so when nothing is open', async () => {
    const session = await runSession(onTestFinished, { files: {} });
    expect(await session.fail(runResume)).toMatchObject({ code: 'not_found' });
  });
});

describe('run_repair', () => {
  it('rebuilds a broken state from the journal, and keeps the broken file', async () => {
    const session = await runSession(onTestFinished);
    const run_id = await session.open('prd');
    await session.ok(runCheckpoint, { run_id, step: 1, variables: { a: 1 } });
    const path = `${RUNS}/main/${run_id}/state.json`;
    const good = await session.text(path);
    await writeFile(join(session.folder, path), good.slice(0, 40));
    expect((await session.ok(getWorkflowStatus, { run_id })).data['run']).toMatchObject({
      status: 'unknown',
    });
    const { data } = await session.ok(runRepair, { run_id });
    expect(data).toMatchObject({
      run: { status: 'running', steps_completed: [1], session_variables: { a: 1 } },
    });
    expect(await session.text(path)).toBe(good);
    const aside = (await readdir(join(session.folder, RUNS, 'main', run_id))).find((name) =>
      name.includes('broken'),
    );
    expect(await session.text(`${RUNS}/main/${run_id}/${aside ?? ''}`)).toBe(good.slice(0, 40));
    expect((await session.ok(runRepair, { run_id })).data['notes']).toEqual(['There is nothing to repair.']);
  });

  it('cannot without a journal', async () => {
    const session = await runSession(onTestFinished, { files: { [`${RUNS}/main/r-1/state.json`]: '{' } });
    expect((await session.fail(runRepair, { run_id: 'r-1' })).code).toBe('unavailable');
  });
});
