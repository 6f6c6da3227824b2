import { spawnSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { listSessions, sessionCreate, sessionMerge } from '../../src/operations/runs/sessions.ts';
import { runCheckpoint, runFinish, runOpen, runRepair } from '../../src/operations/runs/run-operations.ts';
import { createDeliveryContract } from '../../src/operations/handover/handovers.ts';
import { getWorkflowStatus } from '../../src/operations/runs/workflow-status.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import type { OpenSession } from '../support/operations.ts';
import { some } from '../support/how-much.ts';
import { commit, git, machineIn, PASSING, repositoryOfTwo, WHO } from '../support/two-clones.ts';

const LINES = '_bmad/_memory/.bmad-memory';
const RUNS = '_bmad-output/.runs/main';

type Data = Record<string, unknown>;

const opened = async (session: OpenSession, workflow: string): Promise<string> =>
  ((await session.ok(runOpen, { workflow })).data['run'] as Data)['run_id'] as string;

/** Two clones whose lines are shared, as a person has chosen: their folder has an empty .gitignore. */
async function clones(): Promise<{
  folders: [string, string];
  sessions: [OpenSession, OpenSession];
  run: string;
}> {
  const files = { ...KIT_FILES, [`${LINES}/.gitignore`]: '', '.gitignore': PASSING };
  const { one, two, clone } = await repositoryOfTwo(files);
  const first = await machineIn(one);
  const run = await opened(first, 'prd');
  clone();
  const second = await machineIn(two);
  return { folders: [one, two], sessions: [first, second], run };
}

/** Merges what a clone has into another one, and answers which files have a conflict. */
function merged(into: string, from: string): string[] {
  spawnSync('git', [...WHO, 'pull', '-q', '--no-rebase', '--no-edit', from, 'main'], { cwd: into });
  return git(into, 'diff', '--name-only', '--diff-filter=U').split('\n').filter(Boolean);
}

async function shown(session: OpenSession, run_id: string): Promise<{ run: Data; journal: Data[] }> {
  const { data } = await session.ok(getWorkflowStatus, { run_id, journal: true });
  return { run: data['run'] as Data, journal: data['journal'] as Data[] };
}

it('begins a branch on two machines without a conflict', async () => {
  const { one, two, clone } = await repositoryOfTwo({ '_bmad-output/prd.md': '# PRD\n' });
  clone();
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const runs: string[] = [];
  for (const folder of [one, two]) {
    vi.setSystemTime(new Date(`2026-11-18T0${runs.length}:00:00Z`));
    runs.push(await opened(await machineIn(folder), 'architecture'));
    commit(folder);
  }
  expect(merged(two, one)).toEqual([]);
  const { data } = await (await machineIn(two)).ok(listSessions);
  expect(data['sessions']).toMatchObject([
    { name: 'main', status: 'active', runs: { total: 2 }, problems: [] },
  ]);
});

describe('a run that two machines work on', () => {
  it('has all steps of both after the merge, whatever git left in its state', async () => {
    const { folders, sessions, run } = await clones();
    const [one, two] = folders;
    const [first, second] = sessions;
    await first.ok(runCheckpoint, { run_id: run, step: 1, variables: { by: 'ada' }, notes: 'Ada was here' });
    await second.ok(runCheckpoint, { run_id: run, step: 2, variables: { theirs: 'bob' } });
    await second.ok(runCheckpoint, { run_id: run, step: 3 });
    const own = [await opened(first, 'architecture'), await opened(second, 'architecture')];
    await first.ok(runCheckpoint, { run_id: run, step: 4 });
    for (const folder of folders) commit(folder);
    expect(merged(two, one)).toEqual([`${RUNS}/${run}/state.json`]);
    const state = join(two, RUNS, run, 'state.json');
    expect(await readFile(state, 'utf8')).toContain('<<<<<<<');
    const before = await shown(second, run);
    expect(before.run).toMatchObject({ status: 'running', steps_completed: [1, 2, 3, 4] });
    expect(before.journal.map(({ event, step }) => [event, step])).toEqual([
      ['opened', undefined],
      ['checkpoint', 1],
      ['checkpoint', 2],
      ['checkpoint', 3],
      ['checkpoint', 4],
    ]);
    // The next write makes the state again.
    await second.ok(runCheckpoint, { run_id: run, step: 5 });
    expect(JSON.parse(await readFile(state, 'utf8'))).toMatchObject({
      steps_completed: [1, 2, 3, 4, 5],
      session_variables: { by: 'ada', theirs: 'bob' },
    });
    commit(two);
    expect(merged(one, two)).toEqual([]);
    for (const session of sessions) {
      const after = await shown(session, run);
      expect(after.run).toMatchObject({ steps_completed: [1, 2, 3, 4, 5], problems: [] });
      const { data } = await session.ok(listSessions);
      expect(data['sessions']).toMatchObject([{ runs: { total: 3, running: 3 } }]);
      for (const id of own) expect((await shown(session, id)).run).toMatchObject({ status: 'running' });
    }
  });

  it.each(some(1, ['ours', 'theirs'] as const))(
    'has them as well when somebody takes %s of the state',
    async (side) => {
      const { folders, sessions, run } = await clones();
      const [one, two] = folders;
      const [first, second] = sessions;
      await first.ok(runCheckpoint, { run_id: run, step: 1 });
      await second.ok(runCheckpoint, { run_id: run, step: 2 });
      await second.ok(runFinish, { run_id: run, status: 'paused' });
      for (const folder of folders) commit(folder);
      expect(merged(two, one)).toHaveLength(1);
      git(two, 'checkout', `--${side}`, `${RUNS}/${run}/state.json`);
      commit(two);
      expect((await shown(second, run)).run).toMatchObject({ status: 'paused', steps_completed: [1, 2] });
      await second.ok(runRepair, { run_id: run });
      const state = await readFile(join(two, RUNS, run, 'state.json'), 'utf8');
      expect(JSON.parse(state)).toMatchObject({ status: 'paused', steps_completed: [1, 2] });
    },
  );

  it('goes on where lines are private: the state of the other one is adopted', async () => {
    const { folders, sessions, run } = await clones();
    const [one, two] = folders;
    const [first, second] = sessions;
    git(one, 'rm', '-rq', '--cached', LINES);
    await writeFile(join(one, LINES, '.gitignore'), '*\n');
    await first.ok(runCheckpoint, { run_id: run, step: 1 });
    commit(one);
    expect(merged(two, one)).toEqual([]);
    expect((await shown(second, run)).run).toMatchObject({ steps_completed: [1] });
    await second.ok(runCheckpoint, { run_id: run, step: 2 });
    expect((await shown(second, run)).run).toMatchObject({ steps_completed: [1, 2], problems: [] });
  });

  it('is handed over with what both have made, and so is one that only the lines know', async () => {
    const { folders, sessions, run } = await clones();
    const [one, two] = folders;
    const [first, second] = sessions;
    await writeFiles(one, { 'docs/ada.md': '# Ada\n' });
    await writeFiles(two, { 'docs/bob.md': '# Bob\n' });
    await first.ok(runCheckpoint, { run_id: run, step: 1, artefacts: ['docs/ada.md'] });
    await second.ok(runCheckpoint, { run_id: run, step: 2, artefacts: ['docs/bob.md'] });
    await second.ok(runFinish, { run_id: run, status: 'completed' });
    for (const folder of folders) commit(folder);
    expect(merged(two, one)).toEqual([`${RUNS}/${run}/state.json`]);
    const contract = async (given: Data): Promise<string> => {
      const { data } = await second.ok(createDeliveryContract, {
        from_team: 'build',
        to_team: 'qa',
        signed_by: 'Bob',
        ...given,
      });
      expect(data['run']).toMatchObject({ run_id: run, branch: 'main' });
      return readFile(join(two, (data['contract'] as { file: string }).file), 'utf8');
    };
    const named = await contract({ run_id: run });
    expect(named).toContain('`docs/ada.md`');
    expect(named).toContain('`docs/bob.md`');
    expect(await contract({})).toContain('`docs/ada.md`');
    await rm(join(two, RUNS, run), { recursive: true });
    expect(await contract({ run_id: run })).toContain('`docs/bob.md`');
  });

  it('is known again by the branch that has it, though its file stayed behind its lines', async () => {
    const { folders, sessions, run } = await clones();
    const [, two] = folders;
    const [, second] = sessions;
    const state = join(two, RUNS, run, 'state.json');
    await second.ok(runCheckpoint, { run_id: run, step: 1 });
    const before = await readFile(state, 'utf8');
    await second.ok(runFinish, { run_id: run, status: 'completed' });
    await second.ok(sessionCreate, { name: 'kept' });
    await writeFile(state, before);
    const merge = async (): Promise<Data> =>
      (await second.ok(sessionMerge, { name: 'main', into: 'kept' })).data;
    expect(await merge()).toMatchObject({ copied: [run], renamed: [] });
    expect(await merge()).toMatchObject({ copied: [], renamed: [], already: [run] });
  });

  it('goes on after steps of a clock that was ten years ahead', async () => {
    const { folders, sessions, run } = await clones();
    const [first, second] = sessions;
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10 * 366 * 24 * 60 * 60_000 });
    onTestFinished(() => void vi.useRealTimers());
    await first.ok(runCheckpoint, { run_id: run, step: 1, variables: { said: 'later' } });
    await first.ok(runFinish, { run_id: run, status: 'paused' });
    vi.useRealTimers();
    await second.ok(runCheckpoint, { run_id: run, step: 2 });
    for (const folder of folders) commit(folder);
    merged(folders[1], folders[0]);
    expect((await shown(second, run)).run).toMatchObject({ status: 'paused', steps_completed: [1, 2] });
    await second.ok(runCheckpoint, { run_id: run, step: 3, variables: { said: 'now' } });
    await second.ok(runFinish, { run_id: run, status: 'completed' });
    commit(folders[1]);
    merged(folders[0], folders[1]);
    for (const session of sessions)
      expect((await shown(session, run)).run).toMatchObject({
        status: 'completed',
        steps_completed: [1, 2, 3],
      });
    const state = await readFile(join(folders[1], RUNS, run, 'state.json'), 'utf8');
    expect(JSON.parse(state)).toMatchObject({ session_variables: { said: 'now' } });
  });
});
