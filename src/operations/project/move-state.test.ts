import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { memorySession, type MemorySession } from '../../../tests/support/memory-session.ts';
import { listReceipts, verifyReceipts } from '../completion/receipts.ts';
import { doctor } from '../server/doctor.ts';
import { getProjectContext } from './get-project-context.ts';
import { getWorkflowStatus } from '../runs/workflow-status.ts';
import { logHandoff } from './log-handoff.ts';
import { memoryStatus } from '../memory/memory-status.ts';
import { moveState } from './move-state.ts';
import { recallStructured } from '../memory/recall-structured.ts';
import { runCompletionContract } from '../completion/run-completion-contract.ts';
import { runCheckpoint } from '../runs/run-progress.ts';
import { runOpen } from '../runs/run-open.ts';
import { spawnSubagentTask } from '../tasks/spawn-subagent-task.ts';
import { taskList, taskShow } from '../tasks/task-read.ts';

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

const olderIn = ({ findings }: Record<string, unknown>): string[] =>
  (findings as { about: string; text: string }[])
    .filter(({ about }) => about === 'older-state')
    .map(({ text }) => text);

describe('state from before a project had BMAD', () => {
  it('is named by the doctor and by every answer that looks for it', async () => {
    const session = await usedThenInstalled();
    const { data, failed } = await session.ok(doctor, { handshake: false });
    const told = olderIn(data);
    expect(told.map((text) => text.replace(/^Older (.*?) of this project.*/s, '$1'))).toEqual([
      'memories',
      'handoffs and sessions',
      'runs',
      'tasks',
      'receipts',
    ]);
    for (const text of told) {
      expect(text).toContain(session.home);
      expect(text).toContain('To move them: manage_project {action:"move_state"}');
    }
    expect(failed).toBe(false);
    const says = async (operation: Parameters<MemorySession['ok']>[0], input: object = {}): Promise<string> =>
      JSON.stringify((await session.ok(operation, input)).answer);
    expect(await says(taskList)).toContain('Older tasks');
    expect(await says(recallStructured, { query: 'orders' })).toContain('Older memories');
    expect(await says(memoryStatus)).toContain('Older memories');
    expect(await says(listReceipts)).toContain('Older receipts');
    expect(await says(verifyReceipts)).toContain('Older receipts');
    expect(await says(getProjectContext)).toContain('Older handoffs and sessions');
  });

  it('is moved as a whole, and found again', async () => {
    const session = await usedThenInstalled();
    const { data, answer, failed } = await session.ok(moveState);
    const parts = data['parts'] as { part: string; kept: string; left: string[] }[];
    expect(parts.map(({ part }) => part)).toEqual(['memories', 'pages', 'runs', 'tasks', 'receipts']);
    expect(parts.flatMap(({ left }) => left)).toEqual([]);
    expect(failed).toBe(false);
    expect(answer.body).toContain('tasks: moved into _bmad-output/.tasks');
    expect(olderIn((await session.ok(doctor, { handshake: false })).data)).toEqual([]);

    expect((await session.recall('orders postgresql'))[0]).toMatchObject({ snippet: TEXT, stored: true });
    const told = await session.ok(getProjectContext, { section: 'agents' });
    expect(told.answer.body).toContain('Check the cart');
    expect((await session.ok(getWorkflowStatus, { run_id: session.run })).data['run']).toMatchObject({
      folder: `_bmad-output/.runs/main/${session.run}`,
      resume_step: 2,
    });
    expect((await session.ok(taskShow, { task_id: session.task })).data['brief']).toContain('Do before');
    const verified = await session.ok(verifyReceipts);
    expect(verified.data).toMatchObject({ chain: 'whole', receipts: 1, problems: [] });
    // The old folders are still there, beside their places.
    for (const { kept } of parts) expect(kept).toMatch(/\.moved-/);
    expect((await session.fail(moveState)).code).toBe('not_found');
  });

  it.skipIf(process.platform === 'win32')('can be used by those who share the project', async () => {
    const session = await usedThenInstalled();
    await chmod(session.folder, 0o2775);
    for (const path of ['_bmad', '_bmad/_memory']) await chmod(join(session.folder, path), 0o2775);
    await session.ok(moveState);
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

  it('joins what the project has begun itself, and overwrites nothing', async () => {
    const session = await usedThenInstalled();
    const later = await queued(session, 'after');
    await session.ok(runCompletionContract);
    await session.ok(logHandoff, { from: 'qa', to: 'dev', summary: 'Repair the cart' });
    const opened = (await session.ok(runOpen, { workflow: 'prd' })).data['run'] as { run_id: string };
    await session.remember('decisions', 'pm', 'Refunds are paid within two weeks');
    const page = join(session.folder, '_bmad/_memory/handoff-log.md');
    const before = await readFile(page, 'utf8');
    const projects = join(session.home, '.local/state/bmad-mcp-server/projects');
    const [key = ''] = await readdir(projects);
    await writeFile(join(projects, key, '_memory/session-state.md'), '# Session of before\n');

    const { data, answer, failed } = await session.ok(moveState);
    expect(failed).toBe(true);
    const parts = data['parts'] as { part: string; kept: string; left: string[] }[];
    expect(parts.flatMap(({ left }) => left)).toEqual(['handoff-log.md']);
    expect(answer.body).toContain('handoffs and sessions: PARTLY moved into _bmad/_memory');
    expect(answer.body).toContain('the project has something different with that name: handoff-log.md');
    expect(await readFile(page, 'utf8')).toBe(before);
    const pages = parts.find(({ part }) => part === 'pages')?.kept ?? '';
    expect(await readFile(join(pages, 'handoff-log.md'), 'utf8')).toContain('Check the cart');

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

    // What was left is still named, until somebody has joined it by hand.
    const [notice, ...more] = olderIn((await session.ok(doctor, { handshake: false })).data);
    expect(notice).toMatch(/^Older handoffs and sessions/);
    expect(more).toEqual([]);
    const place = / are in (.*?), where they were kept before/.exec(notice ?? '')?.[1] ?? '';
    expect(await readdir(place)).toEqual(['handoff-log.md']);
    expect(await readFile(join(place, 'handoff-log.md'), 'utf8')).toContain('Check the cart');
    expect(notice).toContain('Merge by hand');

    // Doing it again changes nothing: there is nothing to bring, so nothing is set aside either.
    const files = await readdir(session.home, { recursive: true });
    expect(files.filter((path) => path.endsWith('.lock'))).toEqual([]);
    const again = await session.ok(moveState);
    expect(again.failed).toBe(true);
    expect(again.answer.body).toBe(
      `handoffs and sessions: nothing more to move into _bmad/_memory
  left in ${place}, because the project has something different with that name: handoff-log.md. Merge them by hand, then remove them there.`,
    );
    expect(await readdir(session.home, { recursive: true })).toEqual(files);
    await rm(join(place, 'handoff-log.md'));
    expect(olderIn((await session.ok(doctor, { handshake: false })).data)).toEqual([]);
  });

  it('is moved once when two do it at the same time, and neither says anything else', async () => {
    const session = await usedThenInstalled();
    const both = await Promise.all([session.ok(moveState), session.ok(moveState)]);
    expect(both.map(({ failed }) => failed)).toEqual([false, false]);
    const bodies = both.map(({ answer }) => answer.body).sort();
    expect(bodies[0]).toBe('Another process has just moved it; there is nothing left to do.');
    expect(bodies[1]).not.toContain('NOT moved');
    expect(bodies[1]?.match(/moved into/g)).toHaveLength(5);
  });

  it('completes a move that was cut short', async () => {
    const session = await usedThenInstalled();
    const tasks = join(session.folder, '_bmad-output/.tasks');
    await mkdir(join(tasks, '.moving/half'), { recursive: true });
    const state = join(session.home, '.local/state/bmad-mcp-server/tasks');
    const [key = ''] = await readdir(state);
    const name = `${session.task}.json`;
    await writeFile(join(tasks, name), await readFile(join(state, key, name)));
    const { data } = await session.ok(moveState);
    expect(data['parts']).toContainEqual(expect.objectContaining({ part: 'tasks', count: 1, left: [] }));
    expect(await readdir(tasks)).not.toContain('.moving');
    expect((await session.ok(taskShow, { task_id: session.task })).data['brief']).toContain('Do before');
  });

  it('does not follow links out of the project, and moves the rest', async () => {
    const session = await usedThenInstalled();
    const outside = await temporaryFolder(onTestFinished);
    await mkdir(join(session.folder, '_bmad-output'));
    await symlink(outside, join(session.folder, '_bmad-output/.tasks'));
    const { data, answer, failed } = await session.ok(moveState);
    expect(failed).toBe(true);
    expect(answer.body).toContain('tasks: NOT moved');
    expect(data['parts']).toContainEqual(
      expect.objectContaining({ part: 'tasks', trouble: expect.stringContaining('leads outside') as string }),
    );
    expect(await readdir(outside)).toEqual([]);
    expect((data['parts'] as { kept?: string }[]).filter(({ kept }) => kept !== undefined)).toHaveLength(4);
  });

  it('leaves receipts of another chain alone, and its own where they are', async () => {
    const session = await usedThenInstalled();
    const other = await memorySession(onTestFinished, { files: { 'other.sh': 'true\n', '_bmad/x.md': '' } });
    await other.ok(runCompletionContract);
    const path = '_bmad-output/.receipts/receipts.jsonl';
    await mkdir(join(session.folder, '_bmad-output/.receipts'), { recursive: true });
    const foreign = await readFile(join(other.folder, path), 'utf8');
    await writeFile(join(session.folder, path), foreign);
    const { answer, failed } = await session.ok(moveState);
    expect(failed).toBe(true);
    expect(answer.body).toMatch(/receipts: NOT moved, they stay in .* has others that do not continue them/);
    expect(await readFile(join(session.folder, path), 'utf8')).toBe(foreign);
    expect(olderIn((await session.ok(doctor, { handshake: false })).data)).toHaveLength(1);
  });

  it('is left where it is, and nothing is called older, until someone moves it', async () => {
    const session = await memorySession(onTestFinished, { files: { 'build.sh': 'true\n' } });
    expect((await session.fail(moveState)).message).toContain('nothing has been kept for this project yet');
    await session.remember('decisions', 'architect', TEXT);
    expect(olderIn((await session.ok(doctor, { handshake: false })).data)).toEqual([]);
    expect((await readdir(session.folder)).toSorted()).toEqual(['build.sh']);
    await session.ok(moveState);
    expect((await readdir(session.folder)).toSorted()).toEqual(['_bmad-output', 'build.sh']);
    const error = await session.fail(moveState);
    expect(error.code).toBe('not_found');
    expect(error.steps).toMatchObject([{ operation: 'project_state' }]);
  });
});
