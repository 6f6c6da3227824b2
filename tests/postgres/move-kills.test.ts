import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sha256 } from '../../src/base/values.ts';
import { type Line, newLineId } from '../../src/lines/line.ts';
import { rememberStructured } from '../../src/operations/memory/remember.ts';
import { stateMigrate } from '../../src/operations/project/state-sharing.ts';
import { runOpen } from '../../src/operations/runs/run-operations.ts';
import { spawnSubagentTask, taskList } from '../../src/operations/tasks/tasks.ts';
import { execute } from '../../src/operations/execute.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { cliFile, contextIn, homeBeside, temporaryFolder, testCall } from '../support/app.ts';
import { rounds } from '../support/how-much.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { Cluster, postgresPrograms } from '../support/postgres.ts';
import { readAll } from '../support/read-lines.ts';
import { logIn } from '../support/tasks.ts';

const programs = postgresPrograms();
const MEMORIES = rounds(2_000, 100_000);
const OTHERS = rounds(200, 10_000);
const AT_ONCE = 5_000;
const LINES = '_bmad/_memory/.bmad-memory';
const TEXTS = '_bmad-output/.tasks';

const filesIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
    : [];

describe.skipIf(programs === undefined)('a move that is killed', () => {
  let cluster: Cluster;
  beforeAll(async () => void (cluster = await Cluster.start(programs ?? '')));
  afterAll(() => cluster.remove());

  async function ask(folder: string, operation: AnyOperation, input: object, address?: string) {
    const env = {
      PATH: process.env['PATH'] ?? '',
      ...(address === undefined ? {} : { BMAD_STATE: address }),
    };
    const context = await contextIn(folder, { flags: { embedder: 'none' }, env });
    const outcome = await execute(operation, input, context, testCall());
    context.close();
    if (!outcome.ok) throw new Error(outcome.error.text);
    return outcome.data;
  }

  /** One of each as the server has written it, and as many like it as are wanted, through the port that it writes by. */
  async function filled(folder: string): Promise<void> {
    const text = 'The invoice number 000000 is kept where the tax office wants it';
    await ask(folder, rememberStructured, { type: 'decisions', agent: 'architect', text });
    await ask(folder, runOpen, { workflow: 'prd' });
    await ask(folder, spawnSubagentTask, {
      agent: 'dev',
      task: 'Count the invoice 000000',
      output_key: 'k000000',
    });
    const log = await logIn(folder);
    const written = (await readAll(log)).lines.map(({ line }) => line);
    const brief = filesIn(join(folder, TEXTS)).find((name) => name.endsWith('.brief.md')) ?? '';
    const words = await readFile(brief, 'utf8');
    const own = /task-[\w-]+(?=\.brief)/.exec(brief)?.[0] ?? '';
    const like = (line: Line, at: number): Line => {
      const number = String(at).padStart(6, '0');
      const id = newLineId();
      const [event] = line.events;
      const [noun = '', ...rest] = event?.of.split('/') ?? [];
      const old = rest.at(-1) ?? '';
      // As long, and of the same digits: another memory, run or task.
      const fresh =
        noun === 'memory'
          ? `${old.slice(0, -12)}${number.padStart(12, '0')}`
          : `${old.slice(0, -6)}${number}`;
      const said = JSON.stringify(line)
        .replaceAll(line.id, id)
        .replaceAll(old, fresh)
        .replaceAll('000000', number);
      return { ...(JSON.parse(said) as Line), id };
    };
    const of = (noun: string): Line => {
      const found = written.find(({ events }) => events.some((event) => event.of.startsWith(`${noun}/`)));
      if (found === undefined) throw new Error(`There is no line about a ${noun}.`);
      return found;
    };
    for (const [noun, count] of [
      ['memory', MEMORIES],
      ['run', OTHERS],
      ['task', OTHERS],
    ] as const)
      for (let from = 1; from < count; from += AT_ONCE) {
        const numbers = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, at) => from + at);
        await log.put(numbers.map((at) => like(of(noun), at)));
        if (noun === 'task')
          for (const at of numbers) {
            const name = brief.replace(own, `${own.slice(0, -6)}${String(at).padStart(6, '0')}`);
            await writeFile(name, words.replaceAll('000000', String(at).padStart(6, '0')));
          }
      }
  }

  /** All lines and texts of the project's files. */
  async function digest(folder: string): Promise<string> {
    const lines = (await readAll(await logIn(folder))).lines.map(({ line }) => JSON.stringify(line)).sort();
    const texts = filesIn(join(folder, TEXTS))
      .filter((name) => name.endsWith('.md'))
      .sort();
    const said = await Promise.all(texts.map((name) => readFile(name, 'utf8')));
    return `${lines.length} lines, ${texts.length} texts, ${sha256([...lines, ...said].join('\n'))}`;
  }

  it('goes on where it stopped, there and back, and ends with the same', { timeout: 1_800_000 }, async () => {
    const folder = await temporaryFolder(onTestFinished);
    await writeFiles(folder, KIT_FILES);
    const name = await cluster.database();
    const address = cluster.address(name);
    await ask(folder, stateMigrate, {}, address);
    await filled(folder);
    const before = await digest(folder);
    const said: string[] = [];

    const move = (to: string): ChildProcess =>
      spawn(process.execPath, [cliFile, 'state', 'move', '--to', to, '--apply', '--json'], {
        cwd: folder,
        env: {
          PATH: process.env['PATH'],
          HOME: homeBeside(folder),
          ...(to === 'files' ? { BMAD_STATE: address } : {}),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    const counted = async (): Promise<number> => {
      const [row] = await cluster.ask(name, `select count(*)::int as count from bmad.line`);
      return Number(row?.['count']);
    };
    const open = async (): Promise<string> => {
      const rows = await cluster.ask(
        name,
        `select query from pg_stat_activity where datname = '${name}' and xact_start is not null and pid <> pg_backend_pid()`,
      );
      return rows.length === 0 ? 'between' : 'inside';
    };
    const bytes = (): number =>
      filesIn(join(folder, LINES))
        .filter((file) => file.endsWith('.jsonl') && !file.includes('moved'))
        .reduce((sum, file) => sum + statSync(file).size, 0);
    const cut = (): number =>
      filesIn(join(folder, LINES)).filter((file) => file.endsWith('.jsonl') && !file.includes('moved'))
        .length;

    /** Kills a move once it has come so far, and says where that was. */
    async function killed(to: string, what: string, far: () => Promise<boolean> | boolean): Promise<void> {
      const child = move(to);
      const began = performance.now();
      while (child.exitCode === null && !(await far())) await delay(1);
      await delay(Math.random() * 25);
      const where = to === 'files' ? `${cut()} files` : await open();
      const isLate = child.exitCode !== null;
      child.kill('SIGKILL');
      if (!isLate) await once(child, 'exit');
      const seconds = Math.round((performance.now() - began) / 100) / 10;
      said.push(
        `${to === 'files' ? 'back' : 'there'}, ${what}: ${isLate ? 'ended before' : where}, ${seconds} s, ${to === 'files' ? `${bytes()} bytes` : `${await counted()} lines`}`,
      );
      expect(isLate).toBe(false);
    }

    async function whole(to: string): Promise<Record<string, unknown>> {
      const child = move(to);
      const [out, errors] = [child.stdout, child.stderr].map(async (stream) => {
        let text = '';
        for await (const chunk of stream ?? []) text += String(chunk);
        return text;
      });
      const began = performance.now();
      await once(child, 'exit');
      said.push(
        `${to === 'files' ? 'back' : 'there'}, to its end: ${Math.round((performance.now() - began) / 100) / 10} s`,
      );
      const text = (await out) ?? '';
      if (text === '') throw new Error(await errors);
      const { data = JSON.parse(text) as unknown } = JSON.parse(text) as { data?: unknown };
      return data as Record<string, unknown>;
    }

    const all = MEMORIES + 2 * OTHERS;
    const lines = (part: number) => async () => (await counted()) >= all * part;
    await killed(
      address,
      'before the first batch',
      async () => (await cluster.ask(name, 'select 1 from bmad.project')).length > 0,
    );
    await killed(address, 'in the first batch', async () => (await open()) === 'inside');
    for (const part of [0.3, 0.7]) await killed(address, `at ${part}`, lines(part));
    await killed(address, 'in the texts', lines(1 + (OTHERS * 0.3) / all));
    const there = await whole(address);
    const size = there['lines'];
    const total = Number(
      (
        await cluster.ask(name, `select sum(octet_length(body)) as bytes from bmad.line where noun <> 'text'`)
      )[0]?.['bytes'],
    );
    expect(size).toBe(all);

    await killed('files', 'before the first batch', () => delay(1_500).then(() => true));
    await killed('files', 'in the first batch', () => bytes() > 0);
    for (const part of [0.3, 0.7]) await killed('files', `at ${part}`, () => bytes() >= total * part);
    await killed('files', 'in the texts', () => existsSync(join(folder, TEXTS)) && bytes() >= total);
    const back = await whole('files');
    expect(back['digest']).toBe(there['digest']);
    expect(await digest(folder)).toBe(before);
    expect(((await ask(folder, taskList, { limit: 5 })) as { tasks: unknown[] }).tasks).toHaveLength(5);
    process.stdout.write(`${before}\n${said.join('\n')}\n`);
  });
});
