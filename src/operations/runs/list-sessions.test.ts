import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { branchFile, kitState } from '../../../tests/support/run-project.ts';
import { saidIn } from '../../../tests/support/operations.ts';
import { runSession } from '../../../tests/support/run-session.ts';
import { listSessions } from './sessions.ts';
import { runFinish, runResume } from './run-operations.ts';
import { getWorkflowStatus } from './workflow-status.ts';

const RUNS = '_bmad-output/.runs';
const run = (branch: string, id: string, status: string): Record<string, string> => ({
  [`${RUNS}/${branch}/${id}/state.json`]: kitState({
    run_id: id,
    session_branch: branch,
    status,
    artefacts_produced: [],
    last_checkpoint: `2026-03-0${id.slice(-1)}T00:00:00Z`,
  }),
});

const FILES = {
  [`${RUNS}/main/branch.json`]: branchFile('main'),
  ...run('main', 'r-1', 'completed'),
  ...run('main', 'r-2', 'running'),
  ...run('done', 'r-1', 'completed'),
  [`${RUNS}/merged/branch.json`]: branchFile('merged', { status: 'merged' }),
  ...run('broke', 'r-1', 'running'),
  ...run('broke', 'r-2', 'failed'),
  [`${RUNS}/empty/branch.json`]: branchFile('empty', { purpose: 'Nothing yet' }),
  [`${RUNS}/archive/old-20260101/branch.json`]: branchFile('old'),
  ...run('archive/old-20260101', 'r-1', 'completed'),
  [`${RUNS}/archive/put-away-20260102/branch.json`]: branchFile('put-away'),
  ...run('archive/put-away-20260102', 'r-1', 'failed'),
};

describe('list_sessions', () => {
  it('lists branches with the right number of runs', async () => {
    const session = await runSession(onTestFinished, { files: FILES });
    const { data, answer } = await session.ok(listSessions);
    const found = data['sessions'] as { name: string; runs: { total: number }; current: boolean }[];
    expect(found.map(({ name, runs }) => `${name} ${runs.total}`)).toEqual([
      'main 2',
      'broke 2',
      'done 1',
      'empty 0',
      'merged 0',
      'old 1',
      'put-away 1',
    ]);
    expect(found[0]).toMatchObject({
      current: true,
      runs: { running: 1, completed: 1 },
      latest_run: { run_id: 'r-2' },
    });
    expect(answer.body).toContain(
      '- main (current): active, since 2026-02-01, 2 runs (1 running, 1 completed), latest r-2 (running)',
    );
    expect(answer.body).toContain('- broke: failed (branch active), 2 runs');
    expect(answer.body).toContain('- done: completed (branch active), 1 run');
    expect(answer.body).toContain('- old-20260101: completed (branch active), archived copy of old');
    expect(answer.body).toContain('Nothing yet');
  });

  it.each([
    ['active', ['main', 'empty']],
    ['completed', ['done', 'merged', 'old', 'put-away']],
    ['failed', ['broke']],
  ])('filters those that are %s', async (status, names) => {
    const session = await runSession(onTestFinished, { files: FILES });
    const { data, answer } = await session.ok(listSessions, { status });
    expect((data['sessions'] as { name: string }[]).map(({ name }) => name)).toEqual(names);
    // What is shown is what was asked for.
    for (const line of answer.body.split('\n').filter((each) => each.startsWith('- ')))
      expect(line).toMatch(new RegExp(`^- [\\w-]+(?: \\(current\\))?: ${status}\\b`));
  });

  it('calls what was given up so, and neither the run nor its branch failed (J-O8)', async () => {
    const session = await runSession(onTestFinished, { files: run('main', 'r-1', 'running') });
    await session.ok(runFinish, { run_id: 'r-1', status: 'abandoned' });
    const { answer } = await session.ok(listSessions);
    expect(answer.body).toContain(
      '- main (current): completed (branch active), 1 run (1 abandoned), latest r-1 (abandoned)',
    );
    const shown = (await session.ok(getWorkflowStatus, { run_id: 'r-1' })).answer.body;
    expect(shown).toContain('abandoned, ');
    for (const text of [answer.body, shown]) expect(text).not.toMatch(/failed|served here/);
    const over = await session.ok(runResume, { run_id: 'r-1' });
    expect(over.data['notes']).toEqual(['It was given up.']);
    // The kit's own tools know no other word for it.
    const file = JSON.parse(
      await readFile(join(session.folder, RUNS, 'main/r-1/state.json'), 'utf8'),
    ) as object;
    expect(file).toMatchObject({ status: 'failed', abandoned: true });
  });

  it('says what to do where there are none', async () => {
    const session = await runSession(onTestFinished, { files: {} });
    expect(saidIn((await session.ok(listSessions)).answer)).toContain('session_create');
    expect((await session.fail(listSessions, { status: 'open' })).code).toBe('invalid_input');
  });
});
