import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { spawnSubagentTask, taskList, taskShow } from '../../src/operations/tasks/tasks.ts';
import { taskCancel, taskClaim, taskComplete } from '../../src/operations/tasks/task-work.ts';
import { rememberStructured } from '../../src/operations/memory/remember.ts';
import { execute } from '../../src/operations/execute.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import type { Call } from '../../src/operations/context.ts';
import { contextIn, temporaryFolder } from '../support/app.ts';
import { approveTask } from '../support/approve-task.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import type { OpenSession } from '../support/operations.ts';
import { linesAbout, tasksIn } from '../support/tasks.ts';
import { commit, git, machineIn, PASSING, repositoryOfTwo } from '../support/two-clones.ts';

const LINES = '_bmad/_memory/.bmad-memory';
const TASKS = '_bmad-output/.tasks';

type Data = Record<string, unknown>;

/** Tasks stay what they are when the machine on which they were queued is another one. */
async function begin(session: OpenSession, task_id: string, worker: string): Promise<string> {
  return (await session.ok(taskClaim, { task_id, worker })).data['claim'] as string;
}

describe('tasks that two machines work on', () => {
  it('have the work of both after the merge, and the first result stands', async () => {
    // Shared, as a person has chosen: the folder of lines has an empty .gitignore.
    const files = { ...KIT_FILES, [`${LINES}/.gitignore`]: '', '.gitignore': PASSING };
    const { one, two, clone } = await repositoryOfTwo(files);
    const first = await machineIn(one);
    const ids: string[] = [];
    for (const key of ['both', 'cancelled', 'alone'])
      ids.push(
        (
          (await first.ok(spawnSubagentTask, { agent: 'dev', task: `Do ${key}`, output_key: key })).data[
            'task'
          ] as Data
        )['task_id'] as string,
      );
    const [both = '', cancelled = '', alone = ''] = ids;
    clone();
    const second = await machineIn(two);
    const { data } = await second.ok(taskShow, { task_id: both });
    expect(data['task']).toMatchObject({ status: 'needs_approval' });
    for (const id of ids) await approveTask(second, id);
    const claims = [await begin(first, both, 'ada'), await begin(second, both, 'bob')];
    await second.ok(taskComplete, { task_id: both, claim: claims[1], result: 'By bob' });
    await first.ok(taskComplete, { task_id: both, claim: claims[0], result: 'By ada' });
    await first.ok(taskCancel, { task_id: cancelled });
    await second.ok(taskComplete, {
      task_id: alone,
      claim: await begin(second, alone, 'bob'),
      result: 'Only bob',
    });
    const made = { agent: 'dev', task: 'Same key', output_key: 'same' };
    for (const session of [first, second]) await session.ok(spawnSubagentTask, made);
    for (const folder of [one, two]) commit(folder);
    git(two, 'pull', '-q', '--no-rebase', '--no-edit', 'origin', 'main');
    git(one, 'pull', '-q', '--no-rebase', '--no-edit', two, 'main');
    for (const session of [first, second]) {
      const shown = await session.ok(taskShow, { task_id: both });
      expect(shown.data['result']).toBe('By bob');
      expect(shown.data['task']).toMatchObject({
        status: 'completed',
        worker: 'bob',
        others: [
          { did: 'claim', by: 'bob' },
          { did: 'complete', by: 'ada' },
        ],
      });
      expect(shown.answer.body).toContain('completed by bob (also done by ada)');
      expect((await session.ok(taskShow, { task_id: alone })).data['result']).toBe('Only bob');
      expect((await session.ok(taskShow, { task_id: cancelled })).data['task']).toMatchObject({
        status: 'cancelled',
      });
      const same = (await session.ok(taskList, { status: 'all' })).data['tasks'] as Data[];
      expect(same.filter(({ output_key }) => output_key === 'same')).toHaveLength(2);
      expect(new Set(same.map(({ task_id }) => task_id)).size).toBe(same.length);
    }
  });

  it('have lines that say who did it, in the same file as memories', async () => {
    const folder = await temporaryFolder(onTestFinished);
    await writeFiles(folder, KIT_FILES);
    const context = await contextIn(folder, { home: await temporaryFolder(onTestFinished) });
    onTestFinished(() => context.close());
    const asked = async (operation: AnyOperation, input: object, who: Partial<Call>): Promise<void> => {
      const { signal } = new AbortController();
      const done = await execute(operation, input, context, { signal, progress: () => undefined, ...who });
      expect(done).toMatchObject({ ok: true });
    };
    const token = { caller: 'token 0123456789abcdef', overHttp: true, host: 'editor', session: 's1' };
    const oauth = { caller: 'oauth ["https://id.test","ada@shop.test","app"]', overHttp: true };
    await asked(spawnSubagentTask, { agent: 'dev', task: 'Do it', output_key: 'x' }, { host: 'claude-code' });
    await asked(taskClaim, {}, token);
    const memory = { type: 'decisions', agent: 'dev', text: 'Orders are kept in Postgres' };
    await asked(rememberStructured, memory, oauth);
    const named = { ...token, callerName: 'ben' };
    await asked(rememberStructured, { ...memory, text: 'Invoices are kept as files' }, named);
    const days = (await readdir(join(folder, LINES))).filter((name) => /^\d/.test(name));
    const files = await readdir(join(folder, LINES, days[0] ?? ''));
    expect([days.length, files.length]).toEqual([1, 1]);
    const text = await readFile(join(folder, LINES, days[0] ?? '', files[0] ?? ''), 'utf8');
    const by = text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { by: Data }).by);
    expect(by).toMatchObject([
      { kind: 'local', host: 'claude-code' },
      { kind: 'token', host: 'editor', session: 's1' },
      { kind: 'oauth', name: 'ada@shop.test' },
      { kind: 'token', name: 'ben' },
    ]);
    // Nothing of a token is there that one could be tried out with.
    expect(by[1]?.['name']).toMatch(/^[0-9a-f]{8}$/);
    expect(text).not.toContain('0123456789abcdef');
  });
});

const OLD = {
  version: 1,
  agent: 'dev',
  context_files: [],
  depends_on: [],
  created_by: 'bmad',
  attempts: 0,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
};

/** The commands of the guide, in the folder that it names. */
async function backCommand(): Promise<string> {
  const guide = await readFile('docs/guide/upgrading.md', 'utf8');
  const [, commands = ''] = /```sh\ncd _bmad-output\/\.tasks\n([^`]*)```/.exec(guide) ?? [];
  expect(commands).toContain('.moving-tasks');
  return commands;
}

describe('tasks of a version before', () => {
  async function before(): Promise<{ folder: string; ids: string[] }> {
    const folder = await temporaryFolder(onTestFinished);
    const ids = Array.from({ length: 30 }, (_, at) => `task-20260101-000000-${100_000 + at}`);
    await writeFiles(folder, KIT_FILES);
    for (const [at, task_id] of ids.entries())
      await writeFiles(folder, {
        [`${TASKS}/${task_id}.brief.md`]: `Do ${at}`,
        [`${TASKS}/${task_id}.result.md`]: `Did ${at}`,
        [`${TASKS}/${task_id}.json`]: JSON.stringify({
          ...OLD,
          task_id,
          task: `Do ${at}`,
          output_key: `key_${at}`,
          ticket: 'ABC-1',
          ...(at < 20
            ? {
                status: 'completed',
                result: {
                  file: `${task_id}.result.md`,
                  bytes: 5,
                  digest: 'x',
                  by: 'ada',
                  at: OLD.created_at,
                },
              }
            : { status: 'queued' }),
        }),
      });
    return { folder, ids };
  }
  const versions = async (folder: string, ids: readonly string[]): Promise<unknown[]> =>
    Promise.all(
      ids.map(async (id) => {
        const file = JSON.parse(await readFile(join(folder, TASKS, `${id}.json`), 'utf8')) as Data;
        expect(file).toMatchObject({ task_id: id, ticket: 'ABC-1' });
        return file['version'];
      }),
    );
  const { signal } = new AbortController();
  const order = { agent: 'dev', task: 'New', contextFiles: [], dependsOn: [], createdBy: 'test', brief: 'b' };

  it('are read as they are, and written as lines with the first change', async () => {
    const { folder, ids } = await before();
    const { queue } = await tasksIn(folder);
    expect((await queue.all()).tasks.map(({ task_id }) => task_id)).toEqual(ids);
    expect(new Set(await versions(folder, ids))).toEqual(new Set([1]));
    expect(await linesAbout(folder, ids[0] ?? '')).toEqual([]);
    await queue.add({ ...order, outputKey: 'new' }, signal);
    expect(new Set(await versions(folder, ids))).toEqual(new Set([1_000]));
    const { queue: other } = await tasksIn(folder);
    const { tasks, problems } = await other.all();
    expect([tasks.length, problems]).toEqual([31, []]);
    expect(await other.result(await other.get(ids[3] ?? ''))).toBe('Did 3');
    expect(await linesAbout(folder, ids[0] ?? '')).toHaveLength(1);
    expect((await readdir(join(folder, TASKS))).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it.each([0, 7, 30])('are moved to the end after %i files of a move that was cut short', async (count) => {
    const { folder, ids } = await before();
    const queue = (await tasksIn(folder)).queue;
    await queue.add({ ...order, outputKey: 'new' }, signal);
    // As it is when the process ends after the lines were written, with only some of the files done.
    for (const id of ids.slice(count)) {
      const path = join(folder, TASKS, `${id}.json`);
      await writeFile(path, (await readFile(path, 'utf8')).replace('"version": 1000', '"version": 1'));
    }
    await writeFile(join(folder, TASKS, '.moving-tasks'), '');
    const { queue: next } = await tasksIn(folder);
    expect((await next.all()).tasks).toHaveLength(31);
    await next.add({ ...order, outputKey: 'newer' }, signal);
    expect(new Set(await versions(folder, ids))).toEqual(new Set([1_000]));
    expect((await next.all()).tasks).toHaveLength(32);
    for (const id of ids) expect(await linesAbout(folder, id)).toHaveLength(1);
  });

  it('are worked on there again by one who goes back as the guide says, which is taken over with the next move', async () => {
    const { folder, ids } = await before();
    const [first = '', second = ''] = ids.slice(20);
    const { queue } = await tasksIn(folder);
    await queue.add({ ...order, outputKey: 'new' }, signal);
    execFileSync('sh', ['-c', await backCommand()], { cwd: join(folder, TASKS) });
    expect(new Set(await versions(folder, ids))).toEqual(new Set([1]));
    // What a version before writes when a task is done.
    const path = join(folder, TASKS, `${first}.json`);
    const file = JSON.parse(await readFile(path, 'utf8')) as Data;
    const at = new Date(Date.now() + 1_000).toISOString();
    const result = { file: `${first}.result.md`, bytes: 6, digest: 'x', by: 'ada', at };
    await writeFile(path, JSON.stringify({ ...file, status: 'completed', result, updated_at: at }));
    const { queue: next } = await tasksIn(folder);
    await next.add({ ...order, outputKey: 'newer' }, signal);
    expect(new Set(await versions(folder, ids))).toEqual(new Set([1_000]));
    const { queue: last } = await tasksIn(folder);
    expect(await last.get(first)).toMatchObject({ status: 'completed', result: { by: 'ada' } });
    expect(await last.get(second)).toMatchObject({ status: 'needs_approval' });
    expect([(await linesAbout(folder, first)).length, (await linesAbout(folder, second)).length]).toEqual([
      2, 1,
    ]);
    expect((await last.all()).tasks).toHaveLength(32);
  });

  it('that come with a clone which has only the files are adopted there', async () => {
    const { folder, ids } = await before();
    await (await tasksIn(folder)).queue.add({ ...order, outputKey: 'new' }, signal);
    const clone = await temporaryFolder(onTestFinished);
    await writeFiles(clone, KIT_FILES);
    await mkdir(join(clone, TASKS), { recursive: true });
    for (const name of await readdir(join(folder, TASKS)))
      await writeFile(join(clone, TASKS, name), await readFile(join(folder, TASKS, name)));
    expect((await (await tasksIn(clone)).queue.all()).tasks.map(({ task_id }) => task_id)).toEqual(ids);
  });
});
