import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Runs } from '../../src/services/runs/runs.ts';
import { temporaryFolder } from '../support/app.ts';
import { DEAD_HOLDER } from '../support/dead-holder.ts';
import { onFaultyDisk, type FaultKind } from '../support/faulty-disk.ts';
import { writeFiles } from '../support/kit-project.ts';
import { branchFile, kitState, runsIn } from '../support/run-project.ts';
import { FULL } from '../faults/trial.ts';

const RUNS = '_bmad-output/.runs';
const ID = 'dev-story-20260227-143022';

interface Scene {
  folder: string;
  runs: Runs;
}

async function scene(): Promise<Scene> {
  const folder = await temporaryFolder(onTestFinished);
  await writeFiles(folder, {
    [`${RUNS}/main/branch.json`]: branchFile('main'),
    [`${RUNS}/main/${ID}/state.json`]: kitState({ artefacts_produced: [] }),
    [`${RUNS}/side/branch.json`]: branchFile('side'),
    [`${RUNS}/side/${ID}/state.json`]: kitState({
      session_branch: 'side',
      artefacts_produced: [],
      agent_notes: 'other',
    }),
    [`${RUNS}/side/prd-1/state.json`]: kitState({
      run_id: 'prd-1',
      session_branch: 'side',
      artefacts_produced: [],
    }),
    [`${RUNS}/side/prd-1/artefacts/a.md`]: 'text\n',
  });
  const runs = await runsIn(folder);
  await runs.checkpoint(ID, 'main', { step: 4, notes: 'acknowledged' });
  return { folder, runs };
}

/** The lock of the one that died, as the next process finds it some time later. */
async function leaveLock(folder: string): Promise<void> {
  for (const name of await readdir(join(folder, RUNS))) {
    if (!name.startsWith('.lock')) continue;
    const path = join(folder, RUNS, name);
    if ((await readFile(path, 'utf8')) !== '') await writeFile(path, DEAD_HOLDER);
    const then = new Date(Date.now() - 3_600_000);
    await utimes(path, then, then);
  }
}

/** As good as killed, or on request with an error that the process survives, as `tests/faults` tries for all that writes. */
const KINDS: readonly FaultKind[] = FULL ? ['dead', 'torn', 'error', 'full', 'short'] : ['dead', 'torn'];

/** Fails at every change that the action makes, the one after the other; `check` looks at what the next process finds. */
async function everyStep(
  action: (scene: Scene) => Promise<unknown>,
  check: (scene: Scene, n: number) => Promise<void>,
): Promise<number> {
  let most = 0;
  for (const kind of KINDS)
    // What is torn is a write; most changes are not, and the first kind has tried them.
    for (let n = 1; ; n += kind === 'torn' && !FULL ? 3 : 1) {
      const before = await scene();
      const fault = { kind, n, folder: before.folder };
      const { struck, error } = await onFaultyDisk(fault, () => action(before));
      if (error !== undefined && !struck) throw error;
      await leaveLock(before.folder);
      await check({ ...before, runs: await runsIn(before.folder) }, n);
      most = Math.max(most, n);
      if (!struck) break;
    }
  return most;
}

/** What nothing that dies may lead to: files that cannot be read. */
async function expectReadable(runs: Runs): Promise<void> {
  const { branches } = await runs.read();
  const problems = branches.flatMap((branch) => [
    ...branch.problems,
    ...branch.runs.flatMap((run) => run.problems),
  ]);
  expect(problems.filter((text) => /not valid JSON|is empty|cannot be read: state/.test(text))).toEqual([]);
}

async function main(
  runs: Runs,
): Promise<{ id: string; steps: readonly number[]; notes: string | undefined }[]> {
  const { branches } = await runs.read();
  const found = branches.find(({ name, archive }) => name === 'main' && archive === undefined)?.runs ?? [];
  return found.map(({ id, state }) => ({ id, steps: state?.stepsCompleted ?? [], notes: state?.notes }));
}

describe('a process that dies or fails at any change of the disk', () => {
  it('loses no checkpoint that was acknowledged, and the next one repairs what it left', async () => {
    const steps = await everyStep(
      ({ runs }) => runs.checkpoint(ID, 'main', { step: 5 }),
      async ({ runs }) => {
        await expectReadable(runs);
        const [run] = await main(runs);
        expect([
          [1, 2, 3, 4],
          [1, 2, 3, 4, 5],
        ]).toContainEqual(run?.steps);
        expect(run?.notes).toBe('acknowledged');
        const { run: after } = await runs.checkpoint(ID, 'main', { step: 5, notes: 'again' });
        expect(after.state).toMatchObject({ stepsCompleted: [1, 2, 3, 4, 5], notes: 'again' });
        expect(after.journal).toBe('level');
      },
    );
    expect(steps).toBeGreaterThan(8);
  });

  it('leaves no half of a run that it opens', async () => {
    await everyStep(
      ({ runs }) => runs.open({ workflow: 'bmm/prd', workflowPath: 'x' }),
      async ({ runs }) => {
        await expectReadable(runs);
        const before = (await main(runs)).length;
        const { id } = await runs.open({ workflow: 'bmm/prd', workflowPath: 'x' });
        const { run } = await runs.checkpoint(id, undefined, { step: 1 });
        expect(run).toMatchObject({ status: 'running', journal: 'level', problems: [] });
        expect((await main(runs)).length).toBe(before + 1);
      },
    );
  });

  it('merges what is left when it is asked again, each run once', async () => {
    const steps = await everyStep(
      ({ runs }) => runs.merge('side', 'main', true),
      async ({ folder, runs }) => {
        await expectReadable(runs);
        await runs.merge('side', 'main', true);
        expect((await main(runs)).map(({ id }) => id)).toEqual([ID, `${ID}-from-side`, 'prd-1']);
        expect((await main(runs))[0]).toMatchObject({ steps: [1, 2, 3, 4], notes: 'acknowledged' });
        expect(await readFile(join(folder, RUNS, 'main/prd-1/artefacts/a.md'), 'utf8')).toBe('text\n');
        expect(JSON.parse(await readFile(join(folder, RUNS, 'side/branch.json'), 'utf8'))).toMatchObject({
          branch: 'side',
          status: 'merged',
        });
        expect(await readdir(join(folder, RUNS))).not.toContain('.drafts');
      },
    );
    expect(steps).toBeGreaterThan(20);
  });

  it('has a branch live or archived, never both and never neither', async () => {
    await everyStep(
      ({ runs }) => runs.archive('side', true),
      async ({ runs }) => {
        const { branches } = await runs.read();
        const found = branches.filter(({ name }) => name === 'side');
        expect(found).toHaveLength(1);
        expect(found[0]?.runs).toHaveLength(2);
        if (found[0]?.archive === undefined) await runs.archive('side', true);
        expect((await runs.read()).branches.filter(({ archive }) => archive !== undefined)).toHaveLength(1);
      },
    );
  });
});
