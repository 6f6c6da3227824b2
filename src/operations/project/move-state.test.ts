import { chmod, copyFile, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { memorySession, type MemorySession } from '../../../tests/support/memory-session.ts';
import { saidIn } from '../../../tests/support/operations.ts';
import { runCompletionContract, verifyReceipts } from '../completion/completion.ts';
import { doctor } from '../server/doctor.ts';
import { getProjectContext } from './project-context.ts';
import { getWorkflowStatus } from '../runs/workflow-status.ts';
import { logHandoff } from './logs.ts';
import { moveState } from './state.ts';
import { next } from './next.ts';
import { runCheckpoint, runOpen, saveSession } from '../runs/run-operations.ts';
import { taskClaim } from '../tasks/task-work.ts';
import { spawnSubagentTask, taskList, taskShow } from '../tasks/tasks.ts';

const TEXT = 'Orders are kept in PostgreSQL';

interface Used extends MemorySession {
  home: string;
  run: string;
  task: string;
}

/** A project without BMAD in which everything was used that keeps state, and which then gets BMAD. */
async function usedThenInstalled(): Promise<Used> {
  const home = await temporaryFolder(onTestFinished);
  const session = await memorySession(onTestFinished, { home, files: { 'build.sh': 'true\n' } });
  await session.remember('decisions', 'architect', TEXT);
  await session.ok(logHandoff, { from: 'dev', to: 'qa', summary: 'Check the cart' });
  const { data: opened } = await session.ok(runOpen, { workflow: 'prd', total_steps: 3 });
  const { run_id: run } = opened['run'] as { run_id: string };
  await session.ok(runCheckpoint, { run_id: run, step: 1 });
  // As a build left it that kept hand-offs in a file.
  const state = join(home, '.local/state/bmad-mcp-server/projects');
  const [key = ''] = await readdir(state);
  await mkdir(join(state, key, '_memory'));
  await writeFile(
    join(state, key, '_memory/handoff-log.md'),
    '| 2026-03-01 10:00 | dev → qa | Check the list | ⏳ |\n',
  );
  const task = await queued(session, 'before');
  await session.ok(runCompletionContract);
  expect(await readdir(session.folder)).toEqual(['build.sh']);
  await mkdir(join(session.folder, '_bmad/_memory'), { recursive: true });
  return { ...session, home, run, task };
}

async function queued({ ok }: MemorySession, key: string): Promise<string> {
  const { data } = await ok(spawnSubagentTask, { agent: 'dev', task: `Do ${key}`, output_key: key });
  return (data['task'] as { task_id: string }).task_id;
}

const onMachineIn = ({ findings }: Record<string, unknown>): string[] =>
  (findings as { about: string; text: string }[])
    .filter(({ about }) => about === 'state on this machine')
    .map(({ text }) => text);

const ALL = 'On this machine only: 1 handoff or session, 1 run, 1 task, 1 memory.';

describe('state from before a project had BMAD', () => {
  it('is read as before, and counted by doctor and next (J-E6)', async () => {
    const session = await usedThenInstalled();
    const { data, failed, answer } = await session.ok(doctor, { handshake: false });
    expect(onMachineIn(data)).toEqual([ALL]);
    expect(answer.steps).toContainEqual(expect.objectContaining({ operation: 'move_state' }));
    expect(failed).toBe(false);
    const said = saidIn((await session.ok(next)).answer);
    expect(said).toContain(ALL);
    expect(said).toContain('manage_project {action:"move_state"}');
    await found(session);
    // New state goes into the project; what is there stays where it is, and is changed there.
    await session.remember('decisions', 'pm', 'Refunds are paid within two weeks');
    const later = await queued(session, 'after');
    await session.ok(runCheckpoint, { run_id: session.run, step: 2 });
    await session.ok(taskClaim, { task_id: session.task, worker: 'w' });
    expect(
      (await readdir(join(session.folder, '_bmad-output/.tasks'))).filter((name) =>
        /^task-.*\.brief\.md$/.test(name),
      ),
    ).toEqual([`${later}.brief.md`]);
    expect(await session.recall('orders refunds', { limit: 5 })).toHaveLength(2);
    const tasks = (await session.ok(taskList)).data['tasks'] as { task_id: string; status: string }[];
    expect(tasks).toMatchObject([
      { task_id: session.task, status: 'running' },
      { task_id: later, status: 'queued' },
    ]);
    await session.ok(runCompletionContract);
    expect((await session.ok(verifyReceipts)).data).toMatchObject({
      chain: 'whole',
      receipts: 2,
      problems: [],
    });
  });

  it('is listed before it is moved, and nothing is written for that', async () => {
    const session = await usedThenInstalled();
    const before = await readdir(session.folder, { recursive: true });
    const { data, answer } = await session.ok(moveState);
    expect(data).toMatchObject({ applied: false, obstacles: [] });
    expect(answer.body.split('\n').map((line) => line.replace(/: from .* to /, ' → '))).toEqual([
      'This would move into the project:',
      '- 1 handoff or session → _bmad/_memory',
      '- 1 run → _bmad-output/.runs',
      '- 1 task → _bmad-output/.tasks',
      '- 1 memory → _bmad/_memory/.bmad-memory',
    ]);
    expect(answer.steps).toMatchObject([{ operation: 'move_state', args: { apply: true } }]);
    expect(await readdir(session.folder, { recursive: true })).toEqual(before);
  });

  it('is moved as a whole, and found again', async () => {
    const session = await usedThenInstalled();
    const { data, answer, failed } = await session.ok(moveState, { apply: true });
    const parts = data['parts'] as { part: string; kept: string }[];
    expect(parts.map(({ part }) => part)).toEqual(['pages', 'runs', 'tasks', 'memories']);
    expect(failed).toBe(false);
    expect(answer.body).toContain('- 1 task: now in _bmad-output/.tasks');
    expect(onMachineIn((await session.ok(doctor, { handshake: false })).data)).toEqual([]);
    await found(session);
    expect((await session.recall('orders postgresql'))[0]).toMatchObject({ snippet: TEXT, stored: true });
    expect((await session.ok(getWorkflowStatus, { run_id: session.run })).data['run']).toMatchObject({
      folder: `_bmad-output/.runs/main/${session.run}`,
    });
    // The old folders are still there, beside their places.
    for (const { kept } of parts) expect(kept).toMatch(/\.moved-/);
    expect((await session.fail(moveState)).code).toBe('not_found');
  });

  it.skipIf(process.platform === 'win32')('can be used by those who share the project', async () => {
    const session = await usedThenInstalled();
    await chmod(session.folder, 0o2775);
    for (const path of ['_bmad', '_bmad/_memory']) await chmod(join(session.folder, path), 0o2775);
    await session.ok(moveState, { apply: true });
    const entries = await readdir(session.folder, { withFileTypes: true, recursive: true });
    const made = entries.filter(({ name }) => name !== 'build.sh');
    expect(made.length).toBeGreaterThan(15);
    for (const entry of made) {
      const path = join(entry.parentPath, entry.name);
      const info = await stat(path).catch((error: unknown) => {
        // SQLite removes its log when the last of its users leaves, which may be now.
        if (/-(?:shm|wal)$/.test(path)) return undefined;
        throw error;
      });
      if (info === undefined) continue;
      const mode = (info.mode & 0o7777).toString(8);
      expect([path, mode]).toEqual([path, entry.isDirectory() ? '2775' : '664']);
    }
  });

  it('joins what the project has begun itself', async () => {
    const session = await usedThenInstalled();
    const later = await queued(session, 'after');
    await session.ok(runCompletionContract);
    await session.ok(logHandoff, { from: 'qa', to: 'dev', summary: 'Repair the cart', inbox: true });
    await session.ok(saveSession, { agent: 'dev', work: ['The cart'] });
    const opened = (await session.ok(runOpen, { workflow: 'prd' })).data['run'] as { run_id: string };
    await session.remember('decisions', 'pm', 'Refunds are paid within two weeks');

    const { data, failed } = await session.ok(moveState, { apply: true });
    expect(failed).toBe(false);
    expect(data).toMatchObject({ applied: true, obstacles: [] });
    const page = await readFile(join(session.folder, '_bmad/_memory/handoff-log.md'), 'utf8');
    expect(page.match(/Repair the cart|Check the list/g)).toEqual(['Repair the cart', 'Check the list']);
    // The other one is a line, as all are where there is no kit.
    const told = await session.ok(getProjectContext, { section: 'agents' });
    expect(told.answer.body).toMatch(/Repair the cart[^]*Check the list[^]*Check the cart/);
    const { tasks } = (await session.ok(taskList)).data as { tasks: { task_id: string }[] };
    expect(tasks.map(({ task_id }) => task_id)).toEqual([session.task, later]);
    expect((await session.ok(verifyReceipts)).data).toMatchObject({
      chain: 'whole',
      receipts: 2,
      problems: [],
    });
    expect((await readdir(join(session.folder, '_bmad-output/.runs/main'))).sort()).toEqual(
      ['branch.json', opened.run_id, session.run].sort(),
    );
    expect(await session.recall('orders refunds', { limit: 5 })).toHaveLength(2);
    expect(onMachineIn((await session.ok(doctor, { handshake: false })).data)).toEqual([]);
  });

  it('is moved once when two do it at the same time, and neither says anything else', async () => {
    const session = await usedThenInstalled();
    const both = await Promise.all([1, 2].map(() => session.ok(moveState, { apply: true })));
    expect(both.map(({ failed }) => failed)).toEqual([false, false]);
    const bodies = both.map(({ answer }) => answer.body).sort();
    expect(bodies[0]).toBe('Another process has just moved it; there is nothing left to do.');
    expect(bodies[1]?.match(/now in/g)).toHaveLength(4);
  });

  it('completes a move that was cut short, also where the project has gone on since', async () => {
    const session = await usedThenInstalled();
    const tasks = join(session.folder, '_bmad-output/.tasks');
    await mkdir(join(tasks, '.moving/half'), { recursive: true });
    const state = join(session.home, '.local/state/bmad-mcp-server/tasks');
    const [key = ''] = await readdir(state);
    const name = `${session.task}.brief.md`;
    await writeFile(join(state, key, '.moving.json'), JSON.stringify([name]));
    await copyFile(join(state, key, name), join(tasks, name));
    // Both places have it, and it is one.
    expect((await session.ok(taskList)).data['total']).toBe(1);
    await session.ok(taskClaim, { task_id: session.task, worker: 'w' });
    const { data } = await session.ok(moveState, { apply: true });
    expect(data).toMatchObject({ applied: true, obstacles: [] });
    expect(await readdir(tasks)).not.toContain('.moving');
    expect((await session.ok(taskShow, { task_id: session.task })).data['task']).toMatchObject({
      status: 'running',
    });
  });

  it.each([
    ['a link that leads out of the project', 'leads outside'],
    ['another text of that name', 'is not what'],
  ])('is not moved at all where something is in the way: %s', async (what, said) => {
    const session = await usedThenInstalled();
    const output = join(session.folder, '_bmad-output');
    const outside = await temporaryFolder(onTestFinished);
    await mkdir(output, { recursive: true });
    if (what.startsWith('a link')) await symlink(outside, join(output, '.tasks'));
    else {
      await mkdir(join(output, '.tasks'));
      await writeFile(join(output, `.tasks/${session.task}.brief.md`), 'x');
    }
    const before = await readdir(session.folder, { recursive: true });
    for (const apply of [false, true]) {
      const { data, answer, failed } = await session.ok(moveState, { apply });
      expect(failed).toBe(true);
      expect(answer.body).toContain('Nothing was moved, because these are in the way:');
      expect(String(data['obstacles'])).toContain(said);
    }
    expect(await readdir(outside)).toEqual([]);
    expect(await readdir(session.folder, { recursive: true })).toEqual(before);
    expect(onMachineIn((await session.ok(doctor, { handshake: false })).data)).toEqual([ALL]);
  });

  it('is where it was, whole, if a part cannot be written', async () => {
    const session = await usedThenInstalled();
    const state = join(session.home, '.local/state/bmad-mcp-server/projects');
    const [key = ''] = await readdir(state);
    await mkdir(join(state, key, '_memory/session-summaries'));
    await writeFile(join(state, key, '_memory/session-summaries/20260301-1000-dev.md'), '# Session\n');
    const page = join(session.folder, '_bmad/_memory/handoff-log.md');
    await writeFile(page, Buffer.from([0xff, 0xfe]));
    expect((await session.fail(moveState, { apply: true })).message).toContain('is not UTF-8');
    expect(await readdir(join(session.folder, '_bmad/_memory'))).not.toContain('session-summaries');
    expect(await readdir(session.folder)).not.toContain('_bmad-output');
    expect(onMachineIn((await session.ok(doctor, { handshake: false })).data)).toEqual([ALL]);
    await rm(page);
    expect((await session.ok(moveState, { apply: true })).data).toMatchObject({ applied: true });
    await found(session);
  });

  it('is left where it is until someone moves it', async () => {
    const session = await memorySession(onTestFinished, { files: { 'build.sh': 'true\n' } });
    expect((await session.fail(moveState)).message).toContain('nothing has been kept for this project yet');
    await session.remember('decisions', 'architect', TEXT);
    expect(onMachineIn((await session.ok(doctor, { handshake: false })).data)).toEqual([
      'On this machine only: 1 memory.',
    ]);
    expect((await readdir(session.folder)).toSorted()).toEqual(['build.sh']);
    await session.ok(moveState, { apply: true });
    expect((await readdir(session.folder)).toSorted()).toEqual(['_bmad-output', 'build.sh']);
    const error = await session.fail(moveState);
    expect(error.code).toBe('not_found');
    expect(error.steps).toMatchObject([{ operation: 'project_state' }]);
  });
});

/** All that was kept before, by the calls that look for it. */
async function found(session: Used): Promise<void> {
  expect((await session.recall('orders postgresql'))[0]).toMatchObject({ snippet: TEXT, stored: true });
  const told = await session.ok(getProjectContext, { section: 'agents' });
  expect(told.answer.body).toMatch(/Check the list[^]*Check the cart/);
  expect((await session.ok(getWorkflowStatus, { run_id: session.run })).data['run']).toMatchObject({
    resume_step: 2,
  });
  expect((await session.ok(taskShow, { task_id: session.task })).data['brief']).toContain('Do before');
  expect((await session.ok(verifyReceipts)).data).toMatchObject({
    chain: 'whole',
    receipts: 1,
    problems: [],
  });
}
