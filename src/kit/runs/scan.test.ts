import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/kit-project.ts';
import { branchFile, kitState, RUN_FILES } from '../../../tests/support/run-project.ts';
import type { RunsReading } from '../../model/run.ts';
import { kitIn } from '../../../tests/support/kit.ts';
import { readRuns } from './scan.ts';

const RUNS = '_bmad-output/.runs';

async function reading(
  files: Readonly<Record<string, string>>,
  prepare?: (folder: string) => Promise<void>,
): Promise<RunsReading> {
  const folder = await temporaryFolder(onTestFinished);
  await writeFiles(folder, files);
  await prepare?.(folder);
  return readRuns(await kitIn(folder));
}

const shape = ({ branches }: RunsReading): unknown[] =>
  branches.map(({ name, archive, runs }) => [
    archive ?? name,
    ...runs.map(({ id, status }) => `${id} ${status}`),
  ]);

const problemsOf = ({ branches }: RunsReading, id: string): readonly string[] =>
  branches.flatMap(({ runs }) => runs).find((run) => run.id === id)?.problems ?? [];

describe('readRuns', () => {
  it('reads branches, their runs and the archive; the folder counts, not what the file says', async () => {
    const found = await reading(RUN_FILES);
    expect(shape(found)).toEqual([
      ['main', 'architecture-run-001 completed', 'dev-story-20260227-143022 running'],
      ['explore-graphql-20261114', 'architecture-run-001 completed'],
    ]);
    expect(found).toMatchObject({ current: 'main', currentFrom: 'the default', problems: [] });
    expect(found.branches[0]?.problems.join()).toContain('says branch "explore-graphql"; the folder is main');
    expect(found.branches[1]).toMatchObject({ name: 'explore-graphql', status: 'merged' });
    expect(problemsOf(found, 'architecture-run-001')).toEqual([
      'The branch it names differs from the one it is in; the one it is in is used.',
      'It is marked completed with 3 of 8 steps done.',
    ]);
    expect(problemsOf(found, 'dev-story-20260227-143022')).toEqual([]);
  });

  it('takes runs directly in .runs, and a state in the folder of a branch', async () => {
    const found = await reading({
      [`${RUNS}/prd-20260101-000000/state.json`]: kitState({ run_id: 'prd-20260101-000000' }),
      [`${RUNS}/spike-1/state.json`]: kitState({ run_id: 'spike-1', session_branch: 'explore' }),
      [`${RUNS}/talk/branch.json`]: branchFile('talk'),
      [`${RUNS}/talk/state.json`]: kitState({ run_id: 'talk-run', session_branch: 'talk' }),
      [`${RUNS}/empty/branch.json`]: branchFile('empty'),
      [`${RUNS}/archive/old-run/state.json`]: kitState({ run_id: 'old-run', status: 'failed' }),
    });
    expect(shape(found)).toEqual([
      ['main', 'prd-20260101-000000 running'],
      ['empty'],
      ['explore', 'spike-1 running'],
      ['talk', 'talk-run running'],
      ['old-run', 'old-run failed'],
    ]);
  });

  it("takes the other family, a configured folder, runs_directory and the installers' literal folder", async () => {
    const at = async (files: Record<string, string>): Promise<unknown> => shape(await reading(files));
    const run = { '/main/r-1/state.json': kitState({ run_id: 'r-1' }) };
    const under = (folder: string, more: Record<string, string> = {}): Record<string, string> => ({
      ...Object.fromEntries(Object.entries(run).map(([path, text]) => [`${folder}${path}`, text])),
      ...more,
    });
    const expected = [['main', 'r-1 running']];
    expect(await at(under('_grimoire-output/.runs', { '_grimoire/_memory/config.yaml': '' }))).toEqual(
      expected,
    );
    expect(
      await at(under('out/x/.runs', { '_bmad/core/config.yaml': 'output_folder: "{project-root}/out/x"' })),
    ).toEqual(expected);
    expect(await at(under('out/.runs', { '_bmad/config.toml': '[core]\noutput_folder = "out"\n' }))).toEqual(
      expected,
    );
    expect(
      await at(under('out/.runs', { '_bmad/bmgd/config.yaml': 'output_folder: "{project-root}/out"\n' })),
    ).toEqual(expected);
    expect(await at(under('logs/runs', { 'project-context.yaml': 'runs_directory: logs/runs\n' }))).toEqual(
      expected,
    );
    expect(await at(under('{output_folder}/.runs'))).toEqual(expected);
    expect(await at({ ...under('_bmad-output/.runs'), ...under('_grimoire-output/.runs') })).toEqual([
      ['main', 'r-1 running', 'r-1 running'],
    ]);
    const away = await reading({ '_bmad/core/config.yaml': 'output_folder: ../elsewhere' });
    expect(away.problems.join()).toContain('outside the project');
  });

  it('knows the current branch by its marker, then by the project file', async () => {
    const branch = {
      [`${RUNS}/side/branch.json`]: branchFile('side'),
      [`${RUNS}/other/branch.json`]: branchFile('other'),
    };
    const context = { 'project-context.yaml': 'session_branch: other\n' };
    expect((await reading({ ...branch, ...context })).current).toBe('other');
    expect((await reading({ ...branch, ...context, [`${RUNS}/.active-branch`]: 'side\r\n' })).current).toBe(
      'side',
    );
    const bad = await reading({ ...branch, [`${RUNS}/.active-branch`]: '../../x' });
    expect(bad).toMatchObject({
      current: 'main',
      problems: [`${RUNS}/.active-branch does not name a branch and is ignored.`],
    });
    const gone = await reading({ ...branch, [`${RUNS}/.active-branch`]: 'gone' });
    expect(gone.problems.join()).toContain('has no folder');
  });

  it('reports what is broken, and reads the rest', async () => {
    const found = await reading(
      {
        [`${RUNS}/main/broken/state.json`]: '{\n  "run_id": "secret-text",\n  oops\n}',
        [`${RUNS}/main/empty/state.json`]: '',
        [`${RUNS}/main/list/state.json`]: '[]',
        [`${RUNS}/main/latin/state.json`]: kitState({ run_id: 'latin' }),
        [`${RUNS}/main/crlf/state.json`]: `\uFEFF${kitState({ run_id: 'crlf', artefacts_produced: [] }).replaceAll('\n', '\r\n')}`,
        [`${RUNS}/main/odd/state.json`]: JSON.stringify({
          status: 'finished?',
          steps_completed: ['1', 2, 'x'],
          current_step: 'two',
          session_variables: [],
          artefacts_produced: [
            'docs/a.md',
            { name: 'no path' },
            { path: '../../outside.md', name: 'out', step: 1 },
          ],
          started_at: 'yesterday',
        }),
      },
      async (folder) =>
        writeFile(join(folder, RUNS, 'main/latin/state.json'), Buffer.from([0x7b, 0xe9, 0x7d])),
    );
    expect(problemsOf(found, 'broken')).toEqual([
      `${RUNS}/main/broken/state.json is not valid JSON (line 3).`,
    ]);
    expect(problemsOf(found, 'empty')).toEqual([`${RUNS}/main/empty/state.json is empty.`]);
    expect(problemsOf(found, 'list')).toEqual([`${RUNS}/main/list/state.json is not a JSON object.`]);
    expect(problemsOf(found, 'latin')).toEqual([`${RUNS}/main/latin/state.json is not UTF-8.`]);
    expect(problemsOf(found, 'crlf')).toEqual([]);
    expect(problemsOf(found, 'odd').join('\n')).toMatch(/steps_completed.*\n.*"started_at"|"started_at"/);
    expect(problemsOf(found, 'odd').join('\n')).toContain('The artefact "out" does not exist');
    expect(found.branches[0]?.runs.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'broken unknown',
      'crlf running',
      'empty unknown',
      'latin unknown',
      'list unknown',
      'odd unknown',
    ]);
  });

  it('finds states that cannot be true', async () => {
    const drift = async (more: Record<string, unknown>): Promise<readonly string[]> =>
      problemsOf(
        await reading({
          [`${RUNS}/main/r/state.json`]: kitState({ run_id: 'r', artefacts_produced: [], ...more }),
        }),
        'r',
      );
    expect(await drift({})).toEqual([]);
    expect(await drift({ run_id: 'other' })).toEqual([
      '"run_id" differs from the folder name; the folder name is used.',
    ]);
    expect(await drift({ steps_completed: [1, 2, 2, 3] })).toEqual(['"steps_completed" lists a step twice.']);
    expect(await drift({ steps_completed: [1, 4], current_step: 5, resume_from_step: 5 })).toEqual([
      'Step 4 is completed, but earlier steps are not: 2, 3.',
    ]);
    expect(await drift({ steps_completed: [2], current_step: 3, resume_from_step: 3 })).toEqual([
      'Step 2 is completed, but an earlier step is not: 1.',
    ]);
    expect(
      await drift({ steps_completed: [12], current_step: 13, resume_from_step: 13, total_steps: 20 }),
    ).toEqual(['Step 12 is completed, but earlier steps are not: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …']);
    expect((await drift({ steps_completed: [1, 2, 3, 9] })).join()).toContain(
      'Step 9 is completed, but there are 8 steps.',
    );
    expect(await drift({ current_step: 3 })).toEqual(['The current step 3 is already completed.']);
    expect(await drift({ resume_from_step: 7 })).toEqual([
      '"resume_from_step" is 7; after step 3 the next step is 4.',
    ]);
    // The last checkpoint leaves a run like that, and run_finish is still to come.
    expect(await drift({ total_steps: 3 })).toEqual([]);
    expect(await drift({ last_checkpoint: '2026-02-01T00:00:00Z' })).toEqual([
      'The last checkpoint is older than the start.',
    ]);
  });

  it('reads graph and status file, also where there is no state', async () => {
    const graph = (status: string): string =>
      `workflow: {status: ${status}}\nnodes:\n  - {id: a, label: One, status: completed}\n  - {id: b, status: running}\n  - {id: c, status: pending}\n`;
    const found = await reading({
      [`${RUNS}/main/g/state.json`]: kitState({ run_id: 'g', artefacts_produced: [] }),
      [`${RUNS}/main/g/workflow-graph.yaml`]: graph('failed'),
      [`${RUNS}/main/h/workflow-graph.yaml`]: graph('paused'),
      [`${RUNS}/main/i/workflow-status.md`]:
        '# Status\n\n| Champ | Valeur |\n|---|---|\n| **Run ID** | `i` |\n| **Step courant** | `2 / 5` |\n| **Statut global** | `running` |\n| **Agent actif** | `{{x}}` |\n',
      [`${RUNS}/main/j/workflow-graph.yaml`]: 'nodes: [a\n',
    });
    const byId = new Map(found.branches[0]?.runs.map((run) => [run.id, run]));
    expect(byId.get('g')?.graph).toEqual({
      status: 'failed',
      total: 3,
      completed: 1,
      running: ['b'],
      failed: [],
    });
    expect(byId.get('g')?.problems).toEqual(['workflow-graph.yaml has another status.']);
    expect(byId.get('h')).toMatchObject({ status: 'paused', state: undefined });
    expect(byId.get('i')).toMatchObject({
      status: 'running',
      statusFile: true,
      state: { currentStep: 2, totalSteps: 5 },
    });
    expect(byId.get('j')?.problems.join()).toContain('is not valid YAML');
  });

  it('follows no link that leads out, and says so', async () => {
    const found = await reading({ [`${RUNS}/main/branch.json`]: branchFile('main') }, async (folder) => {
      const outside = await temporaryFolder(onTestFinished);
      await writeFiles(outside, { 'r/state.json': kitState(), 'state.json': kitState() });
      await symlink(outside, join(folder, RUNS, 'away'));
      await symlink(join(outside, 'r'), join(folder, RUNS, 'main', 'r'));
      await mkdir(join(folder, RUNS, 'main', 's'));
      await symlink(join(outside, 'state.json'), join(folder, RUNS, 'main', 's', 'state.json'));
      await writeFile(join(folder, RUNS, 'main', 's', 'journal.jsonl'), '');
    });
    expect(shape(found)).toEqual([['main', 's unknown']]);
    expect(found.problems).toEqual([`${RUNS}/away points elsewhere and is not read.`]);
    expect(found.branches[0]?.problems).toEqual([`${RUNS}/main/r points elsewhere and is not read.`]);
    expect(problemsOf(found, 's').join()).toContain('points outside and is not read');
    const all = await reading({ 'x.md': '' }, async (folder) => {
      const outside = await temporaryFolder(onTestFinished);
      await writeFiles(outside, { '.runs/main/r/state.json': kitState() });
      await symlink(outside, join(folder, '_bmad-output'));
    });
    expect(all).toMatchObject({
      branches: [],
      problems: ['_bmad-output points outside the project; runs in it are not read.'],
    });
  });
});
