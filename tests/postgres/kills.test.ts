import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { verifyReceipts } from '../../src/operations/completion/completion.ts';
import { memoryGet } from '../../src/operations/memory/memory-operations.ts';
import { stateMigrate } from '../../src/operations/project/state-sharing.ts';
import { taskShow } from '../../src/operations/tasks/tasks.ts';
import { execute } from '../../src/operations/execute.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { childProgram } from '../support/child-program.ts';
import { rounds } from '../support/how-much.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { Cluster, postgresPrograms } from '../support/postgres.ts';

const programs = postgresPrograms();

interface Server {
  folder: string;
  child: ChildProcess;
}

describe.skipIf(programs === undefined)('a team whose servers and database are killed', () => {
  let cluster: Cluster;
  beforeAll(async () => void (cluster = await Cluster.start(programs ?? '')));
  afterAll(() => cluster.remove());

  it('loses nothing that was acknowledged, does no task twice, and keeps every chain whole', async () => {
    const name = await cluster.database();
    const address = cluster.address(name);
    const said: string[] = [];
    const folders: string[] = [];
    for (let at = 0; at < rounds(2, 4); at += 1) {
      const folder = await temporaryFolder(onTestFinished);
      await writeFiles(folder, KIT_FILES);
      folders.push(folder);
    }
    const context = await contextIn(folders[0] ?? '', {
      flags: { embedder: 'none' },
      env: { PATH: process.env['PATH'] ?? '', BMAD_STATE: address },
    });
    onTestFinished(() => context.close());
    const ask = async (operation: AnyOperation, input: unknown): Promise<Record<string, unknown>> => {
      const outcome = await execute(operation, input, context, testCall());
      if (!outcome.ok) throw new Error(`${operation.name}: ${outcome.error.text}`);
      return outcome.data;
    };
    await ask(stateMigrate, {});

    const program = await childProgram('tests/postgres/team-worker.ts');
    let starts = 0;
    const start = (folder: string): Server => {
      const args = [program, folder, `s${(starts += 1)}`, '8'];
      const env = { PATH: process.env['PATH'], HOME: `${folder}.home`, BMAD_STATE: address };
      const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
      createInterface({ input: child.stdout }).on('line', (line) => said.push(line));
      return { folder, child };
    };
    const servers = folders.map(start);
    onTestFinished(() => servers.forEach(({ child }) => child.kill('SIGKILL')));
    for (let round = 0; round < rounds(3, 100); round += 1) {
      const before = said.length;
      await expect.poll(() => said.length, { timeout: 120_000 }).toBeGreaterThan(before + 12);
      if (round % 3 === 0) {
        const at = round % servers.length;
        const { child, folder } = servers[at] as Server;
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
        servers[at] = start(folder);
      } else if (round % 3 === 1) {
        await cluster.end('SIGKILL');
        await cluster.begin();
      } else {
        const others = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`;
        await cluster.ask(name, others);
      }
    }
    const ended = servers.map(({ child }) => once(child, 'exit'));
    for (const { child } of servers) child.kill('SIGKILL');
    await Promise.all(ended);

    const of = (what: string): string[] =>
      said.flatMap((line) => (line.startsWith(`${what} `) ? [line.slice(what.length + 1)] : []));
    expect(of('failed')).toEqual([]);
    for (const what of ['claimed', 'done']) expect(new Set(of(what)).size).toBe(of(what).length);
    for (const id of of('memory')) expect((await ask(memoryGet, { id }))['memory']).toBeDefined();
    for (const task_id of of('done'))
      expect(((await ask(taskShow, { task_id }))['task'] as { status: string }).status).toBe('completed');
    const checked = await ask(verifyReceipts, {});
    expect(checked).toMatchObject({ chain: 'whole', problems: [] });
    expect(Number(checked['receipts'])).toBeGreaterThanOrEqual(of('receipt').length);
    for (const what of ['memory', 'done', 'receipt']) expect(of(what).length).toBeGreaterThan(0);
  });
});
