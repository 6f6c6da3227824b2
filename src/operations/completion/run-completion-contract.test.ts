import { chmod, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import {
  commitAll,
  contractSession,
  gone,
  KIT_LIKE_SCRIPT,
  receiptsIn,
  SCRIPT_PATH,
} from '../../../tests/support/contract-project.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import type { Receipt } from '../../services/completion/receipts.ts';
import { execute } from '../execute.ts';
import { runCompletionContract } from './completion.ts';
import { rounds } from '../../../tests/support/how-much.ts';

type Files = Record<string, string>;
const project = (script: string, files: Files = {}): Files => ({ [SCRIPT_PATH]: script, ...files });

const trusted = (folder: string, env: Record<string, string> = {}) =>
  contextIn(folder, { flags: { trustProject: 'true' }, env: { PATH: process.env['PATH'], ...env } });

const PASSING = { '.verify/typescript': 'tsc --noEmit|types OK\nnpm test|tests OK\n' };

describe('run_completion_contract, with the script of the project', () => {
  it('says PASS and leaves a receipt about commit and files', async () => {
    const session = await contractSession(onTestFinished, project(KIT_LIKE_SCRIPT, PASSING));
    const commit = await commitAll(session.folder);
    const { data, answer, failed } = await session.ok(runCompletionContract);
    expect(data).toMatchObject({
      status: 'PASS',
      verified: true,
      stacks: ['typescript'],
      steps: [
        { stack: 'typescript', command: 'tsc --noEmit', ok: true },
        { stack: 'typescript', command: 'npm test', ok: true },
      ],
      exit_code: 0,
      timed_out: false,
      contract: { kind: 'script', path: SCRIPT_PATH },
      working_dir: '.',
      hints: [],
    });
    expect(failed).toBe(false);
    expect(await readFile(String(data['output_file']), 'utf8')).not.toContain('\u001b');
    expect(answer.body).toMatch(
      /^CC PASS — \[typescript\] — [\d.]+ s, cc-000001\nIts verdict is PASS, its exit code 0\.$/,
    );
    const [receipt] = await receiptsIn(session.folder);
    expect(receipt).toMatchObject({
      seq: 1,
      status: 'PASS',
      git: { commit, dirty: false },
      tree: { listed: 'git', files: 2, left_out: 0 },
      hash: (data['receipt'] as { hash: string }).hash,
    } satisfies Partial<Record<keyof Receipt, unknown>>);
  });

  it('reaches its verdict through megabytes of short lines, on both streams', async () => {
    const script = `yes | head -c ${rounds(800_000, 4_000_000)}; yes n | head -c ${rounds(200_000, 1_000_000)} >&2
echo "CC PASS — [go] — 2026-01-01 00:00:00"
`;
    const session = await contractSession(
      onTestFinished,
      project(`printf '▶ Stack : Go\\n▶ go test\\n  → tests OK\\n'\n${script}`),
    );
    const { data } = await session.ok(runCompletionContract);
    expect(data).toMatchObject({ status: 'PASS', stacks: ['go'], timed_out: false });
    expect(await readFile(String(data['output_file']), 'utf8')).toMatch(/CC PASS/);
  }, 120_000);

  /** The recorded behaviour of the kit's script, by what it prints and by how it ends. */
  it.each([
    ['all results OK', { '.verify/go': 'go build ./...|build OK\n' }, {}, 'PASS', 0],
    [
      'one result FAILED',
      { '.verify/go': 'go build ./...|build OK\ngo vet ./...|vet FAILED\n' },
      {},
      'FAIL',
      1,
    ],
    ['type errors', { '.verify/typescript': 'tsc --noEmit|type errors\n' }, {}, 'FAIL', 1],
    [
      'only advice is bad',
      { '.verify/python': 'pytest|pytest OK\nruff check .|ruff: warnings\n' },
      {},
      'PASS',
      0,
    ],
    ['no stack', {}, {}, 'NOT_VERIFIED', 0],
    ['tools missing, nothing run', { '.verify/python': '\n' }, {}, 'NOT_VERIFIED', 0],
    ['a command without result', { '.verify/docker': 'docker build --check .|\n' }, {}, 'NOT_VERIFIED', 0],
    ['another stack asked for', PASSING, { stack: 'go' }, 'NOT_VERIFIED', 0],
    ['the stack asked for', PASSING, { stack: 'typescript' }, 'PASS', 0],
    ['a short name', PASSING, { stack: 'TS' }, 'PASS', 0],
    ['auto', PASSING, { stack: 'auto' }, 'PASS', 0],
    [
      'k8s, as the seed calls it',
      { '.verify/kubernetes': 'kubectl apply|k8s manifests OK\n' },
      { stack: 'k8s' },
      'PASS',
      0,
    ],
  ] as const)('%s', async (_what, files, input, status, code) => {
    const session = await contractSession(onTestFinished, project(KIT_LIKE_SCRIPT, files));
    const { data } = await session.ok(runCompletionContract, input);
    expect(data).toMatchObject({ status, exit_code: code, timed_out: false });
    expect(await receiptsIn(session.folder)).toHaveLength(1);
    if (status !== 'PASS') expect(String(data['reason'])).not.toBe('');
  });

  it('hands over folder, stack and a small environment, and nothing on the input', async () => {
    const script =
      'echo "arg $1 of $#"; echo "cwd $(pwd)"; echo "stack ${CC_STACK-unset}"; env; read -r x; echo "read $?"\n';
    const session = await contractSession(onTestFinished, project(script, { 'app/readme': '' }), {
      env: {
        MY_API_KEY: 'do-not-show-this',
        HOME: '/somewhere',
        BASH_ENV: '/x',
        CC_STACK: 'auto',
        DATABASE: 'db-1',
      },
      flags: { contractEnv: ['DATABASE'] },
    });
    const output = async (input: object): Promise<string> =>
      String((await session.ok(runCompletionContract, input)).data['output']);
    const first = await output({ working_dir: 'app', stack: 'k8s' });
    const app = join(session.folder, 'app');
    expect(first).toContain(`arg ${app} of 1\ncwd ${app}\nstack k8s\n`);
    expect(first).toContain('read 1');
    expect(first).toContain('HOME=/somewhere');
    expect(first).toContain('DATABASE=db-1');
    expect(first).not.toMatch(/API_KEY|BASH_ENV|do-not-show/);
    expect(await output({})).toContain('stack unset');
  });

  it('takes secrets of the environment out of output, steps and progress', async () => {
    const secret = 'correct-horse-battery';
    const script = `echo "▶ Stack : Go"; echo "▶ deploy --key $(cat key)"; echo "  → deploy OK"; echo "$(cat key)" >&2; echo "✅ CC PASS — [go] — 2026-01-01 00:00:00"\n`;
    const folder = await temporaryFolder(onTestFinished);
    await writeFiles(folder, { [SCRIPT_PATH]: script, key: secret });
    const context = await trusted(folder, { MY_API_KEY: secret });
    const told: string[] = [];
    const outcome = await execute(runCompletionContract, {}, context, {
      signal: new AbortController().signal,
      progress: (message) => told.push(message),
    });
    expect(outcome).toMatchObject({ ok: true, data: { status: 'PASS' } });
    expect(told.join('\n')).toContain('▶ deploy --key');
    const { output_file: file } = outcome.ok ? outcome.data : {};
    const kept = await readFile(String(file), 'utf8');
    expect(kept).toContain('▶ deploy --key');
    expect(JSON.stringify([outcome, told, kept, await receiptsIn(folder)])).not.toContain(secret);
  });

  it('does not need the script to be executable', async () => {
    const session = await contractSession(onTestFinished, project(KIT_LIKE_SCRIPT, PASSING));
    await chmod(join(session.folder, SCRIPT_PATH), 0o444);
    expect((await session.ok(runCompletionContract)).data['status']).toBe('PASS');
  });

  it('counts the last verdict, and the exit code over any verdict', async () => {
    const line = (word: string): string => `echo 'CC ${word} — [go] — 2026-01-01 00:00:00'\n`;
    const verdict = async (script: string): Promise<unknown> => {
      const session = await contractSession(onTestFinished, project(script));
      return (await session.ok(runCompletionContract)).data['status'];
    };
    expect(await verdict(line('FAIL') + line('PASS'))).toBe('PASS');
    expect(await verdict(line('PASS') + line('FAIL'))).toBe('FAIL');
    expect(await verdict(`${line('PASS')}exit 1`)).toBe('FAIL');
    expect(await verdict('echo done')).toBe('NOT_VERIFIED');
    expect(await verdict(`echo 'CC PASS — [go] — 2026-01-01 00:00:00' >&2`)).toBe('NOT_VERIFIED');
  });
});

describe('run_completion_contract, with scripts that misbehave', () => {
  it('stops one that hangs, with all it has started', async () => {
    const script = `echo "▶ Stack : Go"; echo "▶ go test ./..."; sleep 600 & echo "pid $!"; wait\n`;
    const session = await contractSession(onTestFinished, project(script), {
      flags: { contractTimeoutMs: '3000' },
    });
    const { data } = await session.ok(runCompletionContract);
    expect(data).toMatchObject({
      status: 'FAIL',
      timed_out: true,
      reason: expect.stringContaining('within 3 s'),
    });
    expect(data['steps']).toEqual([{ stack: 'go', command: 'go test ./...' }]);
    await gone(Number(/pid (\d+)/.exec(String(data['output']))?.[1]));
    expect(await receiptsIn(session.folder)).toHaveLength(1);
  });

  it('says which signal killed one', async () => {
    const session = await contractSession(onTestFinished, project('kill -KILL $$\n'));
    expect((await session.ok(runCompletionContract)).data).toMatchObject({
      status: 'FAIL',
      signal: 'SIGKILL',
      timed_out: false,
    });
  });

  it('keeps the beginning and the end of a long output in a file, and finds the verdict after it', async () => {
    const script = `echo first; head -c ${rounds(12, 50) * 1_048_576} /dev/zero | tr '\\0' 'x' | fold -w 1000; echo; echo "CC PASS — [go] — 2026-01-01 00:00:00"\n`;
    const session = await contractSession(onTestFinished, project(script));
    const before = process.memoryUsage().rss;
    const { data } = await session.ok(runCompletionContract);
    expect(data['status']).toBe('PASS');
    expect(data['output']).toBe('CC PASS — [go] — 2026-01-01 00:00:00');
    const kept = await readFile(String(data['output_file']), 'utf8');
    expect(kept.length).toBeLessThan(9_000_000);
    expect(kept).toMatch(/^first\n/);
    expect(kept).toContain('lines left out');
    expect(data['output_lines']).toBeGreaterThan(rounds(12_000, 52_000));
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
  });

  it('does not wait for a process that keeps the output open', async () => {
    const script = `setsid sh -c 'echo $$ > own; exec sleep 600' & until [ -s own ]; do sleep 0.05; done
echo "pid $(cat own)"; echo "CC PASS — [go] — 2026-01-01 00:00:00"\n`;
    const session = await contractSession(onTestFinished, project(script));
    const { data } = await session.ok(runCompletionContract);
    expect(data['status']).toBe('PASS');
    const kept = await readFile(String(data['output_file']), 'utf8');
    process.kill(Number(/pid (\d+)/.exec(kept)?.[1]), 'SIGKILL');
  });

  it('is cancelled with all it has started, and leaves no receipt', async () => {
    const folder = await temporaryFolder(onTestFinished);
    await writeFiles(folder, { [SCRIPT_PATH]: `sleep 600 & echo "▶ pid $!"; wait\n` });
    const context = await trusted(folder);
    const controller = new AbortController();
    let pid = 0;
    const outcome = await execute(runCompletionContract, {}, context, {
      signal: controller.signal,
      progress(message) {
        pid = Number(/pid (\d+)/.exec(message)?.[1] ?? 0);
        if (pid > 0) controller.abort();
      },
    });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    await gone(pid);
    expect(await receiptsIn(folder)).toEqual([]);
  });

  it('refuses one with Windows line ends, and one that is a link to elsewhere', async () => {
    const windows = await contractSession(onTestFinished, project('echo a\r\necho b\r\n'));
    const refused = await windows.fail(runCompletionContract);
    expect(refused).toMatchObject({ code: 'invalid_input', hint: expect.stringContaining('sed -i') });

    const outside = join(await temporaryFolder(onTestFinished), 'script.sh');
    await writeFile(outside, 'echo "CC PASS — [go] — 2026-01-01 00:00:00"\n');
    const linked = await contractSession(onTestFinished, project('', {}));
    await rm(join(linked.folder, SCRIPT_PATH));
    await symlink(outside, join(linked.folder, SCRIPT_PATH));
    expect(await linked.fail(runCompletionContract)).toMatchObject({ code: 'forbidden' });
  });

  it('runs one at a time, so that two do not disturb each other', async () => {
    const script = `mkdir busy || exit 9; sleep 0.3; rmdir busy; echo "CC PASS — [go] — 2026-01-01 00:00:00"\n`;
    const session = await contractSession(onTestFinished, project(script));
    const both = await Promise.all([session.ok(runCompletionContract), session.ok(runCompletionContract)]);
    expect(both.map(({ data }) => data['status'])).toEqual(['PASS', 'PASS']);
    expect((await receiptsIn(session.folder)).map(({ seq }) => seq)).toEqual([1, 2]);
  });
});

describe('run_completion_contract, with bad arguments', () => {
  it('refuses a stack it does not know, with those it knows', async () => {
    const session = await contractSession(onTestFinished, project(KIT_LIKE_SCRIPT));
    expect(await session.fail(runCompletionContract, { stack: 'pyton' })).toMatchObject({
      code: 'invalid_input',
      suggestions: ['python'],
      hint: expect.stringContaining('terraform'),
    });
  });

  it('refuses folders that are not there or not in the project', async () => {
    const session = await contractSession(onTestFinished, project(KIT_LIKE_SCRIPT));
    const code = async (dir: string): Promise<string> =>
      (await session.fail(runCompletionContract, { working_dir: dir })).code;
    await symlink('/', join(session.folder, 'out'));
    expect(await code('nowhere')).toBe('not_found');
    expect(await code(SCRIPT_PATH)).toBe('not_found');
    expect(await code('..')).toBe('forbidden');
    expect(await code('/nowhere/at/all')).toBe('forbidden');
    expect(await code('out')).toBe('forbidden');
    expect(await code('out/usr')).toBe('forbidden');
  });

  it('is refused in read-only mode', async () => {
    const session = await contractSession(onTestFinished, project(KIT_LIKE_SCRIPT, PASSING), {
      flags: { readOnly: 'true' },
    });
    expect(await session.fail(runCompletionContract)).toMatchObject({ code: 'forbidden' });
  });
});
