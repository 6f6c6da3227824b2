import { execFileSync } from 'node:child_process';
import { readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { execute } from '../../src/operations/execute.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { runCompletionContract, verifyReceipts } from '../../src/operations/completion/completion.ts';
import { memoryForget } from '../../src/operations/memory/memory-operations.ts';
import { recallStructured } from '../../src/operations/memory/recall-structured.ts';
import { rememberStructured } from '../../src/operations/memory/remember.ts';
import {
  stateCheck,
  stateMigrate,
  stateMove,
  stateShow,
} from '../../src/operations/project/state-sharing.ts';
import { runCheckpoint, runOpen, runResume } from '../../src/operations/runs/run-operations.ts';
import { taskApprove } from '../../src/operations/tasks/task-decide.ts';
import { spawnSubagentTask, taskList, taskShow } from '../../src/operations/tasks/tasks.ts';
import { taskClaim, taskComplete } from '../../src/operations/tasks/task-work.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { saidIn, type Session } from '../support/operations.ts';
import { Cluster, postgresPrograms } from '../support/postgres.ts';

const programs = postgresPrograms();

interface Machine extends Session {
  env: Record<string, string>;
  remember(type: string, agent: string, text: string): Promise<string>;
  recall(query: string): Promise<string[]>;
}

const id = ({ data }: { data: Record<string, unknown> }, name: string): string =>
  (data[name] as Record<string, string>)[`${name}_id`] ?? '';

describe.skipIf(programs === undefined)('a team with one database', () => {
  let cluster: Cluster;
  beforeAll(async () => void (cluster = await Cluster.start(programs ?? '')));
  afterAll(() => cluster.remove());

  /** A machine with a clone of the project; without an address, its state is in files. */
  async function machine(address?: string, more: Partial<Machine> = {}): Promise<Machine> {
    const path = process.env['PATH'] ?? '';
    const folder = more.folder ?? (await temporaryFolder(onTestFinished));
    if (more.folder === undefined) await writeFiles(folder, KIT_FILES);
    const context = await contextIn(folder, {
      flags: { embedder: 'none' },
      env: { PATH: path, ...(address === undefined ? {} : { BMAD_STATE: address }), ...more.env },
    });
    onTestFinished(() => context.close());
    // Not by the session of other tests, which takes each recommended step in a copy: the database would not be one.
    const asked = (operation: AnyOperation, input: unknown) => execute(operation, input, context, testCall());
    const ok: Machine['ok'] = async (operation, input = {}) => {
      const outcome = await asked(operation, input);
      if (!outcome.ok) throw new Error(`${operation.name} failed: ${outcome.error.text}`);
      return outcome;
    };
    return {
      folder,
      env: {},
      ok,
      async fail(operation, input = {}) {
        const outcome = await asked(operation, input);
        if (outcome.ok) throw new Error(`${operation.name} succeeded: ${outcome.answer.body}`);
        return outcome.error;
      },
      async remember(type, agent, text) {
        const { data } = await ok(rememberStructured, { type, agent, text });
        return (data['memory'] as { id: string }).id;
      },
      async recall(query) {
        const { data } = await ok(recallStructured, { query });
        return (data['hits'] as { id: string }[]).map((hit) => hit.id);
      },
    };
  }

  async function migrated(): Promise<{ address: string; name: string }> {
    const name = await cluster.database();
    const address = cluster.address(name);
    const owner = await machine(address);
    expect((await owner.ok(stateMigrate)).data).toMatchObject({ before: 0 });
    return { address, name };
  }

  it('has one memory: what one remembers or forgets, the other knows at once', async () => {
    const { address } = await migrated();
    const [ada, bob] = [await machine(address), await machine(address)];
    const kept = await ada.remember('decisions', 'architect', 'Invoices are numbered without gaps, by law');
    expect(await bob.recall('invoices numbered')).toContain(kept);
    // The same from elsewhere is the same memory.
    expect(await bob.remember('decisions', 'architect', 'Invoices are numbered without gaps, by law')).toBe(
      kept,
    );
    await bob.ok(memoryForget, { id: kept });
    expect(await ada.recall('invoices numbered')).not.toContain(kept);
    const files = await readdir(join(ada.folder, '_bmad/_memory/.bmad-memory')).catch((): string[] => []);
    expect(files.filter((name) => /^\d{4}-/.test(name))).toEqual([]);
  });

  it('has one queue: a task is claimed by one, its brief and its result are read by all', async () => {
    const { address } = await migrated();
    const team = await Promise.all(Array.from({ length: 3 }, () => machine(address)));
    const [ada, bob] = team as [Machine, Machine];
    const brief = `Compare the payment providers.\n${'All of them. '.repeat(7_000)}`;
    const tasks: string[] = [];
    for (let count = 0; count < 6; count += 1)
      tasks.push(
        id(await ada.ok(spawnSubagentTask, { agent: 'dev', task: brief, output_key: `o${count}` }), 'task'),
      );
    const claims = await Promise.all(
      Array.from({ length: 12 }, (_, at) => (team[at % 3] as Machine).ok(taskClaim, { worker: `w${at}` })),
    );
    const got = claims.filter(({ data }) => data['task'] !== undefined);
    expect(got.map((each) => id(each, 'task')).sort()).toEqual(tasks.sort());
    for (const each of got) expect(each.data['brief']).toContain('All of them. '.repeat(7_000).trim());
    const [first] = got as [(typeof got)[number]];
    const done = {
      task_id: id(first, 'task'),
      claim: first.data['claim'],
      result: 'Stripe, for its reports.',
    };
    // Whoever has the claim may hand it in from another machine.
    await bob.ok(taskComplete, done);
    expect((await ada.ok(taskShow, { task_id: done.task_id })).answer.body).toContain(
      'Stripe, for its reports.',
    );
    const { tasks: listed } = (await bob.ok(taskList, { status: 'running' })).data as { tasks: unknown[] };
    expect(listed).toHaveLength(5);
  });

  it('goes by what a person has decided on either machine, and by the clock of the database', async () => {
    const { address } = await migrated();
    const [ada, bob] = [await machine(address), await machine(address)];
    const task_id = id(
      await ada.ok(spawnSubagentTask, {
        agent: 'dev',
        task: 'Ask first',
        output_key: 'a',
        needs_approval: 'It spends money',
      }),
      'task',
    );
    expect(
      (await bob.ok(taskClaim, { task_id, worker: 'w' }).catch(() => undefined))?.data['task'],
    ).toBeUndefined();
    const { digest } = (await bob.ok(taskApprove, { task_id })).data['shown'] as { digest: string };
    await bob.ok(taskApprove, { task_id, digest, by: 'Ada' });
    expect((await ada.ok(taskClaim, { task_id, worker: 'w' })).data['claim']).toBeDefined();
  });

  it('has one history of runs, and verdicts whose chain is whole', async () => {
    const { address } = await migrated();
    const [ada, bob] = [await machine(address), await machine(address)];
    const run_id = id(await ada.ok(runOpen, { workflow: 'prd' }), 'run');
    await ada.ok(runCheckpoint, { run_id, step: 2, notes: 'Interviews are done' });
    expect((await bob.ok(runResume, { run_id })).answer.body).toContain('Interviews are done');
    await bob.ok(runCheckpoint, { run_id, step: 3 });
    for (const each of [ada, bob, ada]) await each.ok(runCompletionContract);
    const { data } = await ada.ok(verifyReceipts);
    expect(data).toMatchObject({ chain: 'whole', receipts: 3, problems: [] });
  });

  it('is shown, checked and never printed with its password', async () => {
    const { address, name } = await migrated();
    const ada = await machine(address.replace('postgres@', 'postgres:hidden-word@'));
    await ada.remember('decisions', 'architect', 'Invoices are numbered without gaps, by law');
    const shown = await ada.ok(stateShow);
    expect(shown.data).toMatchObject({ where: 'database', key: 'bmad-corner-shop', schema: 3, expected: 3 });
    expect(shown.data['lines']).toEqual({ memory: 1 });
    const checked = await ada.ok(stateCheck);
    expect(checked.data['problems']).toEqual([]);
    for (const each of [shown, checked]) expect(JSON.stringify(each)).not.toContain('hidden-word');
    await cluster.ask(name, 'update bmad.meta set version = 99');
    expect((await (await machine(address)).fail(taskList)).message).toContain('newer version');
    await cluster.ask(name, 'update bmad.meta set version = 3');
    expect((await (await machine()).ok(stateShow)).data).toMatchObject({ where: 'files' });
  });

  it('reads what it knew while the database is away, says so, and writes nothing anywhere', async () => {
    const { address } = await migrated();
    const ada = await machine(address);
    const kept = await ada.remember('decisions', 'architect', 'Invoices are numbered without gaps, by law');
    await ada.ok(spawnSubagentTask, { agent: 'dev', task: 'Do it', output_key: 'o' });
    await ada.ok(taskList);
    await ada.recall('invoices');
    await cluster.end();
    try {
      expect(await ada.recall('invoices numbered')).toContain(kept);
      const listed = await ada.ok(taskList);
      expect(listed.data['tasks']).toHaveLength(1);
      expect(saidIn(listed.answer)).toContain('DEGRADED');
      for (const [operation, input] of [
        [
          rememberStructured,
          { type: 'decisions', agent: 'architect', text: 'This one must not be kept anywhere' },
        ],
        [spawnSubagentTask, { agent: 'dev', task: 'Neither this', output_key: 'p' }],
      ] as const)
        expect(await ada.fail(operation, input)).toMatchObject({ code: 'unavailable', seconds: 2 });
      const files = await readdir(join(ada.folder, '_bmad/_memory/.bmad-memory')).catch((): string[] => []);
      expect(files.filter((name) => /^\d{4}-/.test(name))).toEqual([]);
    } finally {
      await cluster.begin();
    }
    await ada.ok(spawnSubagentTask, { agent: 'dev', task: 'Again', output_key: 'p' });
    expect(saidIn((await ada.ok(taskList)).answer)).not.toContain('DEGRADED');
  });

  it('moves a project there and back, each line with its id, and keeps the source aside', async () => {
    const { address } = await migrated();
    const files = await machine();
    const kept = await files.remember('decisions', 'architect', 'Invoices are numbered without gaps, by law');
    const task_id = id(
      await files.ok(spawnSubagentTask, { agent: 'dev', task: 'Do it well', output_key: 'o' }),
      'task',
    );
    const run_id = id(await files.ok(runOpen, { workflow: 'prd' }), 'run');
    await files.ok(runCheckpoint, { run_id, step: 2, notes: 'Interviews are done' });
    await files.ok(runCompletionContract);
    const counted = (await files.ok(stateMove, { to: address })).data;
    expect(counted).toMatchObject({ applied: false, known: 0, texts: 1 });
    const moved = (await files.ok(stateMove, { to: address, apply: true })).data;
    expect(moved).toMatchObject({ applied: true, lines: counted['lines'], digest: counted['digest'] });

    const bob = await machine(address);
    expect(await bob.recall('invoices')).toContain(kept);
    expect((await bob.ok(taskShow, { task_id })).answer.body).toContain('Do it well');
    expect((await bob.ok(runResume, { run_id })).answer.body).toContain('Interviews are done');
    const later = await bob.remember('decisions', 'architect', 'Refunds need a second person to agree');

    const back = (await bob.ok(stateMove, { to: 'files', apply: true })).data;
    expect(back['lines']).toBeGreaterThan(Number(moved['lines']));
    expect((await (await machine(address)).fail(taskList)).message).toContain('moved from the database');
    // Who has the address still is told that this is no longer where things are.
    const stale = await (
      await machine(address, { folder: bob.folder })
    ).ok(recallStructured, {
      query: 'invoices',
    });
    expect(saidIn(stale.answer)).toMatch(/^DEGRADED: .* was moved from the database/);
    const again = await machine(undefined, { folder: bob.folder });
    expect(await again.recall('refunds second person')).toContain(later);
    expect(await again.recall('invoices')).toContain(kept);
  });

  it('moves no file from outside of the project, wherever a link in it leads', async () => {
    const { address, name } = await migrated();
    const files = await machine();
    await files.ok(spawnSubagentTask, { agent: 'dev', task: 'Do it well', output_key: 'o' });
    const outside = join(await temporaryFolder(onTestFinished), 'secret.md');
    await writeFile(outside, 'nobody else may read this');
    await symlink(outside, join(files.folder, '_bmad-output/.tasks/task-0.brief.md'));
    await files.fail(stateMove, { to: address, apply: true });
    const rows = await cluster.ask(name, `select body from bmad.line where body like '%nobody else%'`);
    expect(rows).toEqual([]);
  });

  it('refuses a fork until it has a name of its own, and never lets a row trust a program', async () => {
    const { address, name } = await migrated();
    const [ada, fork] = [await machine(address), await machine(address)];
    const git = (cwd: string, ...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
        cwd,
        encoding: 'utf8',
      });
    for (const [at, { folder }] of [ada, fork].entries()) {
      git(folder, 'init', '-q');
      git(folder, 'commit', '-q', '--allow-empty', '-m', `first of ${at}`);
    }
    await ada.ok(taskList);
    const refused = await fork.fail(taskList);
    expect([refused.code, refused.hint]).toEqual(['conflict', expect.stringContaining('BMAD_PROJECT_KEY')]);
    const named = await machine(address, { folder: fork.folder, env: { BMAD_PROJECT_KEY: 'my-fork' } });
    await named.ok(taskList);
    const keys = await cluster.ask(name, 'select key from bmad.project order by key');
    expect(keys).toEqual([{ key: 'bmad-corner-shop' }, { key: 'my-fork' }]);
  });
});
