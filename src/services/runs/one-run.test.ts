import { appendFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { filesOpened } from '../../../tests/support/opened-files.ts';
import { branchFile, kitState, runsIn } from '../../../tests/support/run-project.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import type { Run } from '../../model/run.ts';
import type { Runs } from './runs.ts';

const RUNS = '_bmad-output/.runs';
const MANY = 400;
/** Some of the oldest were never finished. */
const OPEN = new Set([0, 28, 84]);
const idOf = (index: number): string => `prd-202601${String(index % 28).padStart(2, '0')}-${100_000 + index}`;
const at = (index: number): string => join(RUNS, 'main', idOf(index), 'state.json');
const stateOf = (index: number): string =>
  kitState({
    run_id: idOf(index),
    artefacts_produced: [],
    agent_notes: `note ${index}`,
    status: OPEN.has(index) ? 'running' : 'completed',
    workflow_path: 'x',
  });

let folder: string;
let runs: Runs;
const opened = (work: () => Promise<unknown>): Promise<string[]> =>
  filesOpened(folder, work).then((files) => files.filter((file) => file.endsWith('state.json')));

beforeAll(async () => {
  folder = await temporaryFolder(afterAll);
  const many = Array.from({ length: MANY }, (_, index) => [at(index), stateOf(index)]);
  await writeFiles(folder, {
    '_bmad/_memory/config.yaml': 'output_folder: "{project-root}/_bmad-output"\n',
    [`${RUNS}/main/branch.json`]: branchFile('main'),
    [`${RUNS}/talk/branch.json`]: branchFile('talk'),
    [`${RUNS}/talk/state.json`]: kitState({ run_id: 'talk-run', session_branch: 'talk' }),
    ...(Object.fromEntries(many) as Record<string, string>),
  });
  runs = await runsIn(folder);
});

describe('one of many runs (R-05)', () => {
  it('is read by its id without reading the others', async () => {
    const files = await opened(async () => expect((await runs.one(idOf(7))).state?.notes).toBe('note 7'));
    // The state in the folder of a branch says which run it is.
    expect(files).toEqual([at(7), join(RUNS, 'talk', 'state.json')]);
  });

  it('is found by the id in its state, in the folder of a branch', async () => {
    expect(await runs.one('talk-run')).toMatchObject({ branch: 'talk', id: 'talk-run' });
  });

  it('is opened and changed without reading the others', async () => {
    const files = await opened(async () => {
      const { id } = await runs.open({ workflow: 'bmm/prd', workflowPath: 'x', total: 9 });
      await runs.checkpoint(id, undefined, { step: 1 });
      await runs.finish(id, undefined, 'paused');
    });
    expect(files.filter((file) => /main.prd-202601/.test(file))).toEqual([]);
  });

  it('has all that are open and the latest beside it, and those that have ended are looked at, not read', async () => {
    await vi.waitFor(async () => {
      const files = await opened(async () => {
        const { run, others } = await runs.withOthers(idOf(1));
        expect(run.id).toBe(idOf(1));
        expect(others.map(({ id }) => id)).toContain(idOf(27));
        expect(others.map(({ id }) => id)).toEqual(expect.arrayContaining([...OPEN].map(idOf)));
        expect(others.length).toBeLessThan(60);
      });
      expect(files.length).toBeLessThan(100);
    }, 30_000);
  });

  it('is listed if it is open, however old it is, and when it is opened again', async () => {
    const listed = async () => (await runs.lately()).branches.find(({ name }) => name === 'main');
    const open = async () =>
      (await listed())?.runs.filter(({ status }) => status === 'running').map(({ id }) => id);
    expect(await open()).toEqual([...OPEN].map(idOf).sort());
    const { runs: read = [], older = 0 } = (await listed()) ?? {};
    expect(read.map(({ id }) => id)).toContain(idOf(27));
    expect(read.length + older).toBe(MANY + 1);
    await writeFile(join(folder, at(56)), stateOf(56).replace('completed', 'running'));
    expect(await open()).toContain(idOf(56));
    await writeFile(join(folder, at(56)), stateOf(56));
    expect(await open()).not.toContain(idOf(56));
    await runs.checkpoint(idOf(84), 'main', { step: 5 });
    expect(await open()).toContain(idOf(84));
    await runs.finish(idOf(84), 'main', 'completed');
    expect(await open()).toEqual([idOf(0), idOf(28)].sort());
    // One that the lines know to be over, and that something else sets going again.
    await writeFile(join(folder, at(84)), stateOf(84).replace('note 84', 'resumed by hand'));
    expect(await open()).toContain(idOf(84));
  });

  it('names the others where there is none of that id', async () => {
    const error = await refusal(() => runs.one(`${idOf(7)}0`));
    expect(error).toMatchObject({ code: 'not_found' });
    expect(error.suggestions).toContain(idOf(7));
  });
});

it('all runs are read once, and again only what has changed', async () => {
  const fresh = await runsIn(folder);
  const notes = async (): Promise<Map<string, string | undefined>> =>
    new Map(
      (await fresh.read()).branches.flatMap((branch) => branch.runs).map((run) => [run.id, run.state?.notes]),
    );
  const first = await opened(notes);
  expect(first.length).toBeGreaterThan(MANY);
  // What was written just now is read again, because it may be written once more without another time.
  await vi.waitFor(async () =>
    expect((await opened(notes)).filter((file) => file.startsWith(join(RUNS, 'main')))).toEqual([]),
  );
  await writeFile(join(folder, at(3)), stateOf(3_000));
  await appendFile(join(folder, at(4)), '\n');
  const again = await opened(async () => expect((await notes()).get(idOf(3))).toBe('note 3000'));
  expect(again.filter((file) => file.startsWith(join(RUNS, 'main'))).sort()).toEqual([at(3), at(4)]);
});

it('a run that was kept is right at once: added and removed files, the same size and time, folders that come and go', async () => {
  const fresh = await runsIn(folder);
  const all = async (): Promise<Map<string, Run>> =>
    new Map((await fresh.read()).branches.flatMap((branch) => branch.runs).map((run) => [run.id, run]));
  const file = (index: number, name: string): string => join(folder, dirname(at(index)), name);
  await all();
  await writeFile(file(10, 'workflow-status.md'), '# Status\n');
  const { atime, mtime } = await stat(join(folder, at(11)));
  await writeFile(join(folder, at(11)), stateOf(11).replace('note 11', 'NOTE 11'));
  await utimes(join(folder, at(11)), atime, mtime);
  await rm(file(12, ''), { recursive: true });
  await symlink('elsewhere.json', file(13, 'workflow-graph.yaml'));
  await writeFiles(folder, { [at(9_000)]: stateOf(9_000) });
  const changed = await all();
  expect(changed.get(idOf(10))?.statusFile).toBe(true);
  expect(changed.get(idOf(11))?.state?.notes).toBe('NOTE 11');
  expect(changed.has(idOf(12))).toBe(false);
  expect(changed.get(idOf(13))?.graph).toBeUndefined();
  expect(changed.get(idOf(9_000))?.state?.notes).toBe('note 9000');
  await rm(file(10, 'workflow-status.md'));
  await writeFile(file(13, 'elsewhere.json'), 'workflow:\n  status: failed\n');
  const again = await all();
  expect(again.get(idOf(10))?.statusFile).toBe(false);
  expect(again.get(idOf(13))?.graph?.status).toBe('failed');
});
