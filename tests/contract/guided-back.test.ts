import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BmadError } from '../../src/base/errors.ts';
import { activate } from '../../src/operations/activation/activate.ts';
import { list } from '../../src/operations/catalogue/list.ts';
import { read } from '../../src/operations/catalogue/read.ts';
import { logDecision } from '../../src/operations/memory/remember.ts';
import { next } from '../../src/operations/project/next.ts';
import { runCheckpoint, runFinish, runOpen, runResume } from '../../src/operations/runs/run-operations.ts';
import { spawnSubagentTask } from '../../src/operations/tasks/tasks.ts';
import { taskClaim, taskComplete } from '../../src/operations/tasks/task-work.ts';
import { writeFiles } from '../support/folders.ts';
import { openSession, saidIn, type OpenSession } from '../support/operations.ts';
import { ledger } from '../support/progress-trees/pieces.ts';
import { recentState } from '../support/run-project.ts';

/** What a model gets wrong, and what the one answer says that leads it back. */
describe('a model that is wrong is led back in one answer', () => {
  let session: OpenSession;
  beforeAll(async () => {
    session = await openSession(afterAll);
    await writeFiles(session.folder, {
      '_bmad/config.user.toml': '[core]\ncommunication_language = "Français"\n',
      'docs/architecture-notes.md': '# Notes\n',
      'docs/.env': 'TOKEN=1\n',
    });
  });
  const stepsOf = ({ steps }: BmadError): string[] => steps.map(({ operation }) => operation);
  async function claimed(output_key: string) {
    const order = { agent: 'dev', task: 'Mesurer le toit', output_key };
    const { data } = await session.ok(spawnSubagentTask, order);
    const { task_id } = data['task'] as { task_id: string };
    const { claim } = (await session.ok(taskClaim, { task_id, worker: 'ada' })).data;
    return { task_id, claim };
  }

  it('where it answers in another language: next and the brief state it, and the result is not taken', async () => {
    const { data, answer } = await session.ok(next);
    expect(data['language']).toBe('Français');
    expect(answer.note).toContain('Write in Français, the language of this project.');
    const { task_id, claim } = await claimed('roof');
    const result =
      'The roof of the house is as large as it was in the plan, and this is what we have measured of it.';
    const error = await session.fail(taskComplete, { task_id, claim, result: `${result} ${result}` });
    expect(error.message).toBe('The result is in English; the language of this project is Français.');
    expect(stepsOf(error)).toEqual(['task_complete']);
  });

  it('where it makes a call again: nothing is done twice, and what was begun before is named', async () => {
    const { task_id, claim } = await claimed('again');
    const handed = { task_id, claim, result: 'Fait.' };
    await session.ok(taskComplete, handed);
    expect((await session.ok(taskComplete, handed)).data['task']).toMatchObject({ status: 'completed' });
    const order = { agent: 'dev', task: 'Mesurer le toit', output_key: 'again' };
    const used = await session.fail(spawnSubagentTask, order);
    expect(used.message).toContain(`already used by ${task_id}`);
    expect(stepsOf(used)).toEqual(['task_show']);
    const decision = { agent: 'dev', text: 'Le toit est en ardoise' };
    await session.ok(logDecision, decision);
    expect((await session.ok(logDecision, decision)).answer.body).toContain('already known');
    const opened = await session.ok(runOpen, { workflow: 'create-epics-and-stories' });
    const { run_id } = opened.data['run'] as { run_id: string };
    expect(opened.data).not.toHaveProperty('open_already');
    await session.ok(runCheckpoint, { run_id, step: 1 });
    const repeated = await session.ok(runCheckpoint, { run_id, step: 1 });
    expect(repeated.data['run']).toMatchObject({ progress: { completed: 1 }, resume_step: 2, problems: [] });
    const second = await session.ok(runOpen, { workflow: 'create-epics-and-stories' });
    expect(second.data['open_already']).toBe(run_id);
    expect(second.answer.note).toContain(`${run_id} is a run of the same workflow and still open`);
    expect(saidIn(second.answer)).toContain(`{action:"run_resume", args:{run_id:"${run_id}"}}`);
    await session.ok(runFinish, { run_id });
    expect((await session.ok(runFinish, { run_id })).data['already']).toBe(true);
  });

  it('where its cursor is old: the call without it is there', async () => {
    for (const [operation, input] of [
      [list, { what: 'agents', cursor: 'lcfdd5528-3' }],
      [activate, { name: 'prd', cursor: 'tc1e5d7d3-7088' }],
    ] as const) {
      const error = await session.fail(operation, input);
      expect(error.message).toContain('The cursor does not belong to this answer');
      expect(error.steps).toMatchObject([{ operation: operation.name, why: 'Begin again' }]);
      expect(error.steps[0]?.args).not.toHaveProperty('cursor');
    }
  });

  it('where it has invented a file: what is there is named, secrets are not', async () => {
    const error = await session.fail(read, {
      target: 'bmad://bmm/plan/bmad-prd/steps/step-09.md',
      kind: 'resource',
    });
    expect(error.steps).toMatchObject([{ operation: 'list', args: { pattern: 'bmm/plan/bmad-prd/**' } }]);
    const order = {
      agent: 'dev',
      task: 'Lire',
      output_key: 'invented',
      context_files: ['docs/architecture.md'],
    };
    const missing = await session.fail(spawnSubagentTask, order);
    expect(missing.message).toContain('There is no file "docs/architecture.md"');
    expect(missing.suggestions).toEqual(['docs/architecture-notes.md']);
  });

  it('where it claims a task that is claimed: who has it until when, and what to do instead', async () => {
    const { task_id } = await claimed('twice');
    const other = await session.fail(taskClaim, { task_id, worker: 'bob' });
    expect(other.message).toMatch(/is claimed already, by "ada" until /);
    expect(stepsOf(other)).toEqual(['task_show', 'task_claim']);
    const same = await session.fail(taskClaim, { task_id, worker: 'ada' });
    expect(same.hint).toContain('If that was you, continue with the brief you got');
    expect(stepsOf(same)).toEqual(['task_complete', 'task_show', 'task_claim']);
  });

  it('where it has marked a story done with nothing to show for it: the count says so, and what verifies it', async () => {
    await writeFiles(session.folder, {
      '_bmad-output/implementation-artifacts/sprint-status.yaml': ledger({
        'epic-1': 'in-progress',
        '1-1-setup': 'done',
        '1-2-login': 'backlog',
      }),
    });
    const { data, answer } = await session.ok(next);
    expect(data['totals']).toMatchObject({ done: 1, done_without_review: 1 });
    expect(answer.body).toContain('1 of 2 stories done (1 without a review on file)');
    expect(answer.body).toContain('Nothing has been verified');
    expect(saidIn(answer)).toContain('run_completion_contract {}');
  });

  it('where it resumes a run of another generation: that it cannot, what closes it and what to start', async () => {
    const run_id = 'create-prd-20260101-101010';
    await writeFiles(session.folder, {
      [`_bmad-output/.runs/main/${run_id}/state.json`]: recentState({
        run_id,
        workflow: 'bmm/create-prd',
        workflow_path: '_bmad/bmm/workflows/2-plan-workflows/create-prd/workflow.md',
        artefacts_produced: [],
      }),
    });
    const { answer } = await session.ok(runResume, { run_id });
    expect(answer.body).toMatch(
      /^Run create-prd-20260101-101010 cannot be resumed: .*bmm\/create-prd is deprecated; prd does its work now\./,
    );
    expect(saidIn(answer)).toContain(`run_finish", args:{run_id:"${run_id}", status:"abandoned"}`);
    expect(saidIn(answer)).toContain('{operation:"execute", workflow:"prd"}');
  });
});
