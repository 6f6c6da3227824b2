import { describe, expect, it, onTestFinished } from 'vitest';
import { saidIn } from '../../../tests/support/operations.ts';
import { recentState } from '../../../tests/support/run-project.ts';
import { runSession } from '../../../tests/support/run-session.ts';
import { activate } from '../activation/activate.ts';
import { next } from '../project/next.ts';
import { runCheckpoint, runFinish, runOpen, runResume } from './run-operations.ts';
import type { RunData } from './run-view.ts';
import { getWorkflowStatus } from './workflow-status.ts';

const run_id = 'dev-story-20260227-143022';
const STATE = `_bmad-output/.runs/main/${run_id}/state.json`;
const PATH = '_bmad/bmm/workflows/4-implementation/dev-story/workflow.yaml';

async function resumed(workflow_path: string, files: Record<string, string> = {}) {
  const session = await runSession(onTestFinished, {
    files: { [STATE]: recentState({ workflow_path, artefacts_produced: [] }), ...files },
  });
  const { data, answer } = await session.ok(runResume, { run_id });
  return { session, data, answer, said: saidIn(answer) };
}

describe('the workflow of a run that the kit keeps', () => {
  it('is what is served under its name where its file is not here', async () => {
    const { session, data, answer, said } = await resumed(PATH);
    expect(data).toMatchObject({ start: 'bmm/bmad-dev-story', run: { served: 'bmm/bmad-dev-story' } });
    expect(answer.body).toContain(`Workflow: ${PATH} (served here as bmm/bmad-dev-story)`);
    expect(said).toContain(`workflow:"bmm/bmad-dev-story", run_id:"${run_id}"`);
    expect(said).toContain('bmm/bmad-dev-story may number its steps differently: compare what is done');
    const started = await session.ok(activate, { name: 'dev-story', run_id });
    expect(started.answer.body).toContain('may number its steps differently');
    const status = await session.ok(getWorkflowStatus, { run_id });
    expect(status.answer.body).toContain('served here as bmm/bmad-dev-story');
    expect((await session.ok(next)).answer.body).toContain(`Resume run ${run_id}`);
  });

  it('is said to be missing where nothing of that name is served', async () => {
    const { session, data, answer, said } = await resumed('_bmad/bmm/workflows/unheard-of/workflow.yaml');
    expect(data['run']).toMatchObject({ workflow_missing: true });
    expect(answer.body).toContain('(missing: no workflow of this name is served)');
    expect(answer.body).toMatch(
      /^Run dev-story-20260227-143022 cannot be resumed: it was last touched on \S+, and its workflow _bmad\/bmm\/workflows\/unheard-of\/workflow.yaml is not here\.$/m,
    );
    expect(said).toContain('run_finish');
    expect(said).not.toContain('run_checkpoint');
    expect(said).not.toContain('operation:"execute"');
    expect(said).toContain('bmad {operation:"list", query:"workflows"}');
    const error = await session.fail(activate, { name: 'unheard-of', run_id });
    expect(error.hint).toContain('started with a workflow that this project does not have');
    expect(error.steps.slice(0, 2)).toEqual([
      { operation: 'run_resume', args: { run_id }, why: 'See the run' },
      { operation: 'run_finish', args: { run_id, status: 'abandoned' }, why: 'End it' },
    ]);
  });

  it('is its own where that is here', async () => {
    const own = '_bmad/_config/custom/workflows/tidy-up.md';
    const text = '---\nname: tidy-up\ndescription: Tidies up\n---\n\n# Tidy up\n\nOne thing at a time.\n';
    const { data, answer } = await resumed(own, { [own]: text });
    expect((data['run'] as { served: string }).served).toMatch(/tidy-up$/);
    expect(answer.body).not.toContain('missing');
    expect(saidIn(answer)).not.toContain('differently');
  });
});

describe('a build whose spec has taken the short route', () => {
  const SPEC = '_bmad-output/implementation-artifacts/spec-gh-47.md';
  const spec = (route: string): string =>
    `---\ntitle: Usage\nroute: '${route}'\nstatus: 'in-progress'\n---\n\n# Usage\n\n## Intent\n\nSay how it is used.\n`;

  it('continues with the step that the route names, and ends with it (J-E8)', async () => {
    const session = await runSession(onTestFinished, { files: { [SPEC]: spec('oneshot') } });
    const opened = (await session.ok(runOpen, { workflow: 'build' })).data['run'] as RunData;
    expect(opened.progress.total).toBe(5);
    const { run_id: id } = opened;
    await session.ok(runCheckpoint, { run_id: id, step: 2, artefacts: [SPEC] });
    const { data } = await session.ok(runResume, { run_id: id });
    expect((data['run'] as RunData).next_files).toEqual([
      { step: '3', uri: 'bmad://rendered/bmad-build/step-oneshot.md' },
    ]);
    const started = await session.ok(activate, { name: 'build', run_id: id });
    expect(started.answer.body).toContain('step-oneshot.md');
    await session.ok(runCheckpoint, { run_id: id, step: 'step-oneshot' });
    const over = await session.ok(runFinish, { run_id: id });
    expect(over.answer.body).toContain('completed, 3 of 3 steps (100 %)');
    expect(over.answer.body).not.toContain('Noted');
  });

  it('takes the route by the name of its step too, and none by another one', async () => {
    const session = await runSession(onTestFinished, { files: { [SPEC]: spec('dispatch') } });
    const { run_id: id } = (await session.ok(runOpen, { workflow: 'build', variables: { spec_file: SPEC } }))
      .data['run'] as RunData;
    const after = (await session.ok(runCheckpoint, { run_id: id, step: 2 })).data['run'] as RunData;
    expect(after.next_files?.[0]?.uri).toContain('step-03-implement.md');
    const told = (await session.ok(runCheckpoint, { run_id: id, step: 'step-oneshot.md' })).data['run'];
    expect(told).toMatchObject({ progress: { completed: 3, total: 3 } });
    expect((await session.fail(runCheckpoint, { run_id: id, step: 'step-elsewhere' })).code).toBe(
      'invalid_input',
    );
  });
});
