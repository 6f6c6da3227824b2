import { spawnSync } from 'node:child_process';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { holderText } from '../support/dead-holder.ts';
import { bmadHere } from '../support/command-line.ts';
import { bareEnvironment, bmad } from '../support/programs.ts';

const gone = spawnSync(process.execPath, ['-e', '']).pid;
const HOUR = 3_600_000;
const DEAD = holderText(gone);

const draft = (name: string, random = '0123abcd', pid = gone): string => `${name}.${pid}.${random}.tmp`;

describe('what interrupted writes have left behind', () => {
  it('is swept once it is old, by the next process that writes there; nothing else is (R-08)', async () => {
    const cwd = await temporaryFolder(onTestFinished);
    const home = await temporaryFolder(onTestFinished);
    await writeFiles(cwd, {
      '_bmad/_memory/decisions-log.md': '',
      '_bmad-output/.runs/main/branch.json': '{"branch":"main"}',
    });
    const env = { ...bareEnvironment(home), BMAD_USAGE: 'true' };
    const run = (...args: string[]) => bmad(args, { cwd, env });
    const state = async (): Promise<string[]> =>
      (await Promise.all([cwd, home].map((top) => readdir(top, { recursive: true, withFileTypes: true }))))
        .flat()
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
    let rounds = 0;
    const work = async (program: typeof bmad): Promise<void> => {
      const write = (...args: string[]) => program(args, { cwd, env });
      // An index is written only if more has changed than a few files.
      rounds += 1;
      const code = Array.from({ length: 60 }, (_, each) => [
        `src/part-${each}.ts`,
        `export const answer${each} = ${'1'.repeat(rounds)};\n`,
      ]);
      await writeFiles(cwd, Object.fromEntries(code));
      await write('contract', 'run');
      await write(
        'task',
        'add',
        'dev',
        'Do it',
        '--output-key',
        `out-${Math.random().toString(36).slice(2)}`,
      );
      await write('run', 'open', 'prd');
      await write('memory', 'remember', 'decisions', 'dev', `Messages go through NATS ${Math.random()}`);
      // These are written while a program ends.
      await run('code', 'answer');
      await run('bmad-agent-dev');
    };
    // The first time makes the folders of the user, whose names hold keys.
    await work(bmadHere);
    const made = await state();
    const index = made.find((path) => path.endsWith('.index'));
    const usage = made.find((path) => path.includes('/usage/') && path.endsWith('.jsonl'));
    expect([index, usage]).not.toContain(undefined);
    const memory = join(cwd, '_bmad/_memory/.bmad-memory');
    const output = join(cwd, '_bmad-output');
    const left: Record<string, string> = {
      [draft(join(output, '.tasks/task-1.json'))]: 'half',
      [draft(join(output, '.receipts/receipts.jsonl'))]: 'half',
      [draft(join(output, '.receipts/trees/x.gz'))]: 'half',
      [draft(join(output, '.runs/.active-branch'))]: 'half',
      [draft(join(output, '.runs/main/branch.json'))]: 'half',
      [draft(join(memory, '.bmad-memory.jsonl'))]: 'half',
      [join(memory, 'kit-files.lock.wanted')]: '',
      [join(memory, `unfinished/${gone}-0123456789ab.json`)]: '',
      [draft(index ?? '')]: 'half',
      [join(dirname(index ?? ''), 'other.index.lock')]: DEAD,
      [draft(usage ?? '')]: 'half',
    };
    const kept: Record<string, string> = {
      // Young, of a process that runs, or not ours.
      [draft(join(output, '.tasks/task-2.json'), '11111111', process.pid)]: 'half',
      [join(output, '.tasks/notes.tmp')]: 'theirs',
      [join(output, '.tasks/yarn.lock')]: '',
      [join(output, '.tasks/other.lock')]: '# made by another program\n',
      [join(output, '.tasks/held.lock')]: holderText(1),
    };
    for (const [path, text] of Object.entries({ ...left, ...kept })) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      const old = new Date(Date.now() - (path.includes('held') ? 6 * 60_000 : HOUR));
      await utimes(path, old, old);
    }
    const young = draft(join(output, '.tasks/task-3.json'), '22222222');
    await writeFile(young, 'half');
    await work(bmad);
    const now = await state();
    expect(Object.keys(left).filter((path) => now.includes(path))).toEqual([]);
    expect([...Object.keys(kept), young].filter((path) => !now.includes(path))).toEqual([]);
  });
});

describe('a plain file in place of a folder', () => {
  it.each([
    ['_bmad-output/.tasks', ['task', 'add', 'dev', 'Do it', '--output-key', 'out']],
    ['_bmad-output/.runs', ['run', 'open', 'prd']],
    ['_bmad-output', ['run', 'open', 'prd']],
    ['_bmad-output/.receipts', ['contract', 'run']],
    ['_bmad-output/.receipts/trees', ['contract', 'run']],
    ['_bmad/_memory/.bmad-memory', ['memory', 'remember', 'decisions', 'dev', 'Messages go through NATS']],
  ])('is called one: %s (R-11)', async (path, args) => {
    const cwd = await temporaryFolder(onTestFinished);
    const home = await temporaryFolder(onTestFinished);
    await writeFiles(cwd, { '_bmad/_memory/': '', [path]: 'not a folder' });
    const { code, stderr } = await bmadHere(args, { cwd, env: bareEnvironment(home) });
    const name = path.includes('bmad-memory') ? '.bmad-memory' : path;
    expect(stderr).toContain(`${name} is a file, not a folder;`);
    expect(code).toBe(6);
  });
});
