import { beforeAll, afterAll, describe, expect, it } from 'vitest';
import { contentPath } from '../../src/base/files/paths.ts';
import { execute } from '../../src/operations/execute.ts';
import type { AnyOperation, Answer } from '../../src/operations/operation.ts';
import { activate } from '../../src/operations/activation/activate.ts';
import { read } from '../../src/operations/catalogue/read.ts';
import { next } from '../../src/operations/project/next.ts';
import { runCheckpoint, runFinish, runOpen, runResume } from '../../src/operations/runs/run-operations.ts';
import type { RunData } from '../../src/operations/runs/run-view.ts';
import { stepFilesFor } from '../../src/operations/runs/run-steps.ts';
import { getWorkflowStatus } from '../../src/operations/runs/workflow-status.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { project } from '../support/install-project.ts';
import { installOf, type Version } from '../support/installs.ts';
import { copyFolder, writeFiles } from '../support/folders.ts';
import { kitState } from '../support/run-project.ts';
import { isDeep } from '../support/how-much.ts';

type Input = Record<string, unknown>;
const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends) await end();
});

/** A copy of an install with a client at work in it; runs are written. */
async function worker(version: Version) {
  const folder = await temporaryFolder((end) => ends.push(end));
  copyFolder(await installOf(version), folder);
  const context = await contextIn(folder);
  const tried = (operation: AnyOperation, input: Input) => execute(operation, input, context, testCall());
  async function ok(operation: AnyOperation, input: Input = {}) {
    const outcome = await tried(operation, input);
    if (!outcome.ok) throw new Error(`${operation.name}: ${outcome.error.text}`);
    return { data: outcome.data, answer: outcome.answer, run: outcome.data['run'] as RunData };
  }
  async function open(workflow: string, more: Input = {}): Promise<string> {
    return (await ok(runOpen, { workflow, ...more })).run.run_id;
  }
  return { context, tried, ok, open };
}

const STEPS = 'bmad://bmm/workflows/2-plan-workflows/create-prd/steps-c';
const reads = ({ steps = [] }: Answer): unknown[] =>
  steps.filter(({ operation }) => operation === 'read').map(({ args }) => args?.['target']);

describe('M-61: a run that is resumed leads to its step', () => {
  let given: Awaited<ReturnType<typeof worker>>;
  beforeAll(async () => {
    given = await worker('6.0.4');
  });

  it('names the file of the next step in every answer about the run', async () => {
    const { ok, open } = given;
    const run_id = await open('create-prd');
    const target = `${STEPS}/step-05-domain.md`;
    const recorded = await ok(runCheckpoint, { run_id, step: 4 });
    expect(recorded.run).toMatchObject({ resume_step: 5, progress: { completed: 4, total: 12 } });
    for (const { answer } of [
      recorded,
      await ok(runResume, { run_id }),
      await ok(getWorkflowStatus, { run_id }),
    ])
      expect(reads(answer)).toEqual([target]);
    // There it is the call that leads on.
    expect((await ok(next)).answer.body).toMatch(/4 of 12 steps, next step 5\n {3}.*run_resume/);
    expect((await ok(read, { target, kind: 'resource' })).answer.body).toContain('# Step 5');
    const { answer } = await ok(activate, { name: 'create-prd', kind: 'workflow', run_id });
    const first = answer.body.split('\n').slice(0, 3);
    expect(first.at(-1)).toBe(`Continue run ${run_id} at step 5: ${target}`);
    expect(answer.body).not.toContain('Start this workflow now');
    expect(answer.body).toContain('### Step Processing Rules');
  });

  it('starts a run that has not begun as a workflow is started', async () => {
    const run_id = await given.open('create-prd');
    const { answer } = await given.ok(activate, { name: 'create-prd', kind: 'workflow', run_id });
    expect(answer.body).toContain('Start this workflow now');
    expect(answer.body).not.toContain('Continue run');
  });

  it('understands steps by the names of their files, and finishes a step with its last part', async () => {
    const { ok, open, tried } = given;
    const run_id = await open('create-prd', { total_steps: 11 });
    const told: [number | string, string, number[]][] = [
      ['step-01-init', 'step-02-discovery', [1]],
      [2, 'step-02b-vision', [1]],
      ['2b', 'step-02c-executive-summary', [1]],
      ['steps-c/step-02c-executive-summary.md', 'step-03-success', [1, 2]],
      ['step 3', 'step-04-journeys', [1, 2, 3]],
      ['4', 'step-05-domain', [1, 2, 3, 4]],
    ];
    for (const [step, file, done] of told) {
      const { run, answer } = await ok(runCheckpoint, { run_id, step });
      expect(reads(answer), String(step)).toEqual([`${STEPS}/${file}.md`]);
      expect(run, String(step)).toMatchObject({
        steps_completed: done,
        progress: { total: 12 },
        problems: [],
      });
      if (step === 2 || step === '2b')
        expect(answer.body, String(step)).toContain('1 of 12 steps (8 %), step 2 begun');
      else expect(answer.body, String(step)).not.toContain('begun');
      // Whoever comes later is told the same.
      if (step === '2b')
        expect(reads((await ok(runResume, { run_id })).answer)).toEqual([`${STEPS}/${file}.md`]);
    }
    const wrong = await tried(runCheckpoint, { run_id, step: '2z' });
    expect(wrong).toMatchObject({ ok: false, error: { code: 'invalid_input', subject: 'step' } });
    const beyond = await tried(runCheckpoint, { run_id, step: 'step-13-more' });
    expect(beyond).toMatchObject({ ok: false, error: { message: 'Step 13 of 12 is not possible.' } });
    const { run, answer } = await ok(runCheckpoint, { run_id, step: 'step-12-complete' });
    expect(run).toMatchObject({ last_step: 'step-12-complete', progress: { completed: 12, total: 12 } });
    expect(answer.steps).toMatchObject([{ operation: 'run_finish' }]);
  });

  it('the call that records the next step records that one', async () => {
    const { ok, open } = given;
    const run_id = await open('create-prd');
    const seen: unknown[] = [];
    let { run, answer } = await ok(getWorkflowStatus, { run_id });
    for (let count = 0; run.next_files !== undefined && count < 20; count += 1) {
      seen.push(run.next_files.map(({ step }) => step).join());
      const call = answer.steps?.find(({ operation }) => operation === 'run_checkpoint');
      ({ run, answer } = await ok(runCheckpoint, { ...call?.args }));
    }
    expect(seen.join(' ')).toBe('1 2 2b 2c 3 4 5 6 7 8 9 10 11 12');
  });

  it('follows the files of the part of a workflow that is meant', async () => {
    const { ok, open } = given;
    const run_id = await open('validate-prd');
    const { run, answer } = await ok(runCheckpoint, { run_id, step: 'step-v-02-format-detection' });
    // The check of parity is for documents of another form only, and the step itself says what follows.
    expect(reads(answer)).toEqual([`${STEPS.replace(/c$/, 'v')}/step-v-03-density-validation.md`]);
    expect(run.progress).toMatchObject({ completed: 2, total: 13 });
  });

  it('names the part that is due where a kit has counted a step that goes on in parts', async () => {
    const { ok, context } = given;
    const run_id = 'create-prd-20260227-143022';
    const workflow_path = '_bmad/bmm/workflows/2-plan-workflows/create-prd/workflow-create-prd.md';
    const at = async (steps_completed: number[]) => {
      const text = kitState({ run_id, workflow_path, steps_completed, artefacts_produced: [] });
      const { root } = await context.state();
      await writeFiles(root, { [`_bmad-output/.runs/main/${run_id}/state.json`]: text });
      return ok(runResume, { run_id });
    };
    const due = await at([1, 2]);
    expect(reads(due.answer)).toEqual([`${STEPS}/step-02b-vision.md`]);
    expect(reads((await at([1])).answer)).toEqual([`${STEPS}/step-02-discovery.md`]);
    expect(reads((await at([1, 2, 3])).answer)).toEqual([`${STEPS}/step-04-journeys.md`]);
  });

  it('offers all files where one is to be chosen', async () => {
    const { ok, open } = given;
    const run_id = await open('brainstorming');
    const { run } = await ok(runCheckpoint, { run_id, step: 'step-01-session-setup' });
    expect(run.next_files?.map(({ step }) => step)).toEqual(['2a', '2b', '2c', '2d']);
    const chosen = await ok(runCheckpoint, { run_id, step: 'step-02b-ai-recommended' });
    expect(chosen.run).toMatchObject({ steps_completed: [1, 2], next_files: [{ step: '3' }] });
  });

  it('keeps who was at work', async () => {
    const { ok, open } = given;
    const run_id = await open('create-prd', { agent: 'bmm/pm' });
    await ok(runCheckpoint, { run_id, step: 1 });
    const { run, answer } = await ok(runResume, { run_id });
    expect(run.agent).toBe('bmm/pm');
    expect(answer.body).toContain('Agent: bmm/pm');
    expect(answer.steps?.[0]).toMatchObject({
      operation: 'execute',
      args: { name: 'bmm/pm', kind: 'agent' },
    });
    await ok(runCheckpoint, { run_id, step: 2, agent: 'analyst' });
    expect((await ok(getWorkflowStatus, { run_id })).run.agent).toBe('analyst');
    expect((await ok(runResume, { run_id })).answer.steps?.[0]).toMatchObject({
      args: { name: 'bmm/analyst' },
    });
  });

  it('takes notes as a list of lines', async () => {
    const { ok, open } = given;
    const run_id = await open('create-prd');
    const { run } = await ok(runCheckpoint, { run_id, step: 1, notes: ['Vision agreed', 'Scope open'] });
    expect(run.agent_notes).toBe('Vision agreed\nScope open');
    const ended = await ok(runFinish, { run_id, status: 'paused', notes: ['Goes on tomorrow', 'by Ann'] });
    expect(ended.run.agent_notes).toBe('Goes on tomorrow\nby Ann');
  });
});

it.runIf(isDeep)('M-61: the steps of every workflow of 6.8 lead to files that can be read', async () => {
  const { context } = await project('6.8.0');
  const workspace = await context.workspace();
  const found: string[] = [];
  for (const record of workspace.catalogue.listed) {
    if (record.origin.kind !== 'project' || !['workflow', 'skill'].includes(record.kind)) continue;
    const files = await stepFilesFor(record, workspace);
    for (const { number, uri } of (await files?.next({ step: 2, last: undefined })) ?? []) {
      found.push(record.name);
      expect(uri).toMatch(new RegExp(`/step-(?:[a-z]-)?0?${number}`));
      expect((await workspace.delivery.file(contentPath(uri), record.origin)).text).toBeTruthy();
    }
  }
  expect(new Set(found).size).toBeGreaterThan(5);
  expect(found.some((name) => name.includes('architecture'))).toBe(true);
});
