import { execFileSync } from 'node:child_process';
import { lstat, mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { localDay } from '../../src/base/text/text.ts';
import { temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { LineClient } from '../support/line-client.ts';
import { bmadHere } from '../support/command-line.ts';
import { bareEnvironment, bmad, type Ended } from '../support/programs.ts';
import { isDeep } from '../support/how-much.ts';

/** What a cloned project has put where files of ours belong, tried on the built programs. */

interface Place {
  cwd: string;
  home: string;
  /** A folder beside the project that nothing may change. */
  outside: string;
  run(...args: string[]): Promise<Ended>;
  /** The same in this process. */
  here(...args: string[]): Promise<Ended>;
}

async function place(files: Record<string, string> = {}): Promise<Place> {
  const parent = await temporaryFolder(onTestFinished);
  const [cwd, outside, home] = ['project', 'outside', 'home'].map((name) => join(parent, name)) as [
    string,
    string,
    string,
  ];
  await writeFiles(parent, { 'outside/': '', 'home/': '', 'project/_bmad/_memory/': '' });
  await writeFiles(cwd, { '_bmad-output/notes.md': 'notes\n', ...files });
  const env = bareEnvironment(home);
  const run = (...args: string[]): Promise<Ended> => bmad(args, { cwd, env });
  const here = (...args: string[]): Promise<Ended> => bmadHere(args, { cwd, env });
  return { cwd, home, outside, run, here };
}

async function link(cwd: string, path: string, target: string): Promise<void> {
  await mkdir(dirname(join(cwd, path)), { recursive: true });
  await symlink(target, join(cwd, path));
}

const STATE = [
  '_bmad-output/.receipts/receipts.jsonl',
  `_bmad-output/.receipts/${localDay(new Date())}`,
  '_bmad-output/.receipts/run.lock',
  '_bmad/_memory/.bmad-memory/.lines.lock',
  '_bmad-output/.runs/.lock',
  '_bmad/_memory/.bmad-memory/kit-files.lock',
  `_bmad/_memory/.bmad-memory/${localDay(new Date())}`,
];

/** One command for each kind of state. */
const WRITES = [
  ['contract', 'run'],
  ['task', 'add', 'dev', 'Do it', '--output-key', 'out'],
  ['run', 'open', 'prd'],
  ['log', 'decision', 'Messages go through NATS', 'dev'],
  ['memory', 'remember', 'decisions', 'dev', 'Messages go through NATS'],
];

describe.skipIf(process.platform === 'win32')('a link where a file of state belongs', () => {
  it('is not written through when it leads nowhere: no file appears outside (S-01)', async () => {
    const { cwd, outside, run } = await place();
    await link(cwd, STATE[0] ?? '', '../../../outside/.bash_profile');
    execFileSync('git', ['init', '-q', '-b', '$(id>PWNED)', '.'], { cwd });
    const { code, stderr } = await run('contract', 'run');
    expect(await readdir(outside)).toEqual([]);
    expect(code).toBe(4);
    expect(stderr).toContain('_bmad-output/.receipts/receipts.jsonl is a link and is not used.');
  });

  it.each([
    ['that leads nowhere', '../../../../outside/made'],
    ['to an empty file', '../../../../outside/empty'],
  ])('is refused by all kinds of state, if it is one %s (S-01, S-19)', async (_, target) => {
    const { cwd, outside, run, here } = await place();
    await writeFile(join(outside, 'empty'), '');
    for (const path of STATE) await link(cwd, path, target);
    for (const args of WRITES) {
      const { code, stderr } = await (isDeep && target.endsWith('made') ? run : here)(...args);
      expect([args.join(' '), code, stderr]).toEqual([args.join(' '), 4, expect.stringContaining('link')]);
    }
    expect(await readdir(outside)).toEqual(['empty']);
    expect(await readFile(join(outside, 'empty'), 'utf8')).toBe('');
    for (const path of STATE) expect((await lstat(join(cwd, path))).isSymbolicLink()).toBe(true);
  });

  it('is not followed to a folder where lists are written and old ones removed (S-02)', async () => {
    const old = `${'a'.repeat(64)}.gz`;
    const { cwd, outside, run } = await place({ 'package.json': '{"scripts":{"test":"exit 0"}}' });
    await writeFile(join(outside, old), 'theirs');
    await link(cwd, '_bmad-output/.receipts/trees', '../../../outside');
    const { code, stderr } = await run('contract', 'run', '--trust-project');
    expect([code, stderr]).toEqual([4, expect.stringContaining('leads outside the project')]);
    expect(await readdir(outside)).toEqual([old]);
  });

  it('is not followed where marks of unfinished work are kept (S-02)', async () => {
    const mark = `4194305-${'0'.repeat(12)}.json`;
    const { cwd, outside, here } = await place();
    await writeFile(join(outside, mark), '{}');
    await utimes(join(outside, mark), 1, 1);
    await link(cwd, '_bmad/_memory/.bmad-memory/unfinished', '../../../../outside');
    await here('memory', 'remember', 'decisions', 'dev', 'Messages go through NATS');
    await here('memory', 'recall', 'messages');
    expect(await readdir(outside)).toEqual([mark]);
  });
});

const SPAWN = { name: 'spawn_subagent_task', arguments: { agent: 'dev', task: 'Do it', output_key: 'out' } };

describe.skipIf(process.platform === 'win32')('a server whose project has devices and pipes as state', () => {
  async function connect(project: Place): Promise<LineClient> {
    const client = await LineClient.connect({
      cwd: project.cwd,
      home: project.home,
      args: ['--toolsets', 'bmad,workflows,agents,project,memory'],
    });
    onTestFinished(() => void client.child.kill('SIGKILL'));
    return client;
  }

  it('does not swallow the messages of its own client (S-07)', async () => {
    const project = await place();
    await link(project.cwd, '_bmad/_memory/.bmad-memory/.lines.lock', '/dev/stdin');
    const client = await connect(project);
    const refused = client.request('tools/call', SPAWN);
    const pings = await Promise.all(Array.from({ length: 20 }, () => client.request('ping')));
    expect(pings.map(({ result }) => result)).toEqual(Array.from({ length: 20 }, () => ({})));
    expect(JSON.stringify((await refused).result)).toContain('.lines.lock is a link; it was not followed');
  });

  it('does not fill its memory from an endless device (S-07)', async () => {
    const project = await place();
    for (const path of STATE) await link(project.cwd, path, '/dev/zero');
    const client = await connect(project);
    for (let call = 0; call < 5; call += 1) {
      const { result } = await client.request('tools/call', SPAWN);
      expect(result).toMatchObject({ isError: true });
    }
    const status = await readFile(`/proc/${client.child.pid}/status`, 'utf8').catch(() => undefined);
    if (status !== undefined) expect(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1])).toBeLessThan(700_000);
  });

  it('is not blocked by pipes that nobody writes to (S-07)', async () => {
    const project = await place();
    for (const path of STATE) {
      await mkdir(dirname(join(project.cwd, path)), { recursive: true });
      execFileSync('mkfifo', [join(project.cwd, path)]);
    }
    await mkdir(join(project.cwd, '_bmad-output/.receipts/trees'));
    const client = await connect(project);
    const call = (name: string, args: Record<string, unknown> = {}) =>
      client.request('tools/call', { name, arguments: args });
    // More than there are threads for files: were they blocked, nothing would be read any more.
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => [
        call('spawn_subagent_task', SPAWN.arguments),
        call('manage_project', { action: 'verify_receipts' }),
        call('manage_project', { action: 'task_list' }),
      ]).flat(),
    );
    expect(answers.filter(({ result }) => result === undefined)).toEqual([]);
    expect(JSON.stringify(answers[0]?.result)).toContain('.lines.lock cannot be read: it is not a regular');
    expect((await call('bmad', { operation: 'list', query: 'agents' })).error).toBeUndefined();
  });
});
