import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readlink } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { childProgram } from '../../../tests/support/child-program.ts';
import { gone } from '../../../tests/support/contract-project.ts';
import { thrownBy } from '../../../tests/support/thrown.ts';
import { ownProgram } from '../files/find-program.ts';
import { runWatched, type WatchedOptions, type WatchedResult } from './process.ts';

interface Ended extends WatchedResult {
  stdout: string;
  stderr: string;
}

const PATH = process.env['PATH'] ?? '';

/** Runs a piece of bash; `onText` is called with all of its standard output so far. */
async function bash(
  code: string,
  options: Partial<WatchedOptions> = {},
  onText: (text: string) => void = () => undefined,
): Promise<Ended> {
  const texts = { stdout: '', stderr: '' };
  const cwd = options.cwd ?? (await temporaryFolder(onTestFinished));
  const result = await runWatched(ownProgram('bash'), ['-c', code], {
    timeoutMs: 120_000,
    env: { PATH },
    ...options,
    cwd,
    onOutput(chunk, from) {
      texts[from] += chunk.toString('utf8');
      onText(texts.stdout);
    },
  });
  return { ...result, ...texts };
}

/** Who works in a folder, where the system says so. */
async function processesIn(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const folders = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => undefined)));
  return pids.filter((_, index) => folders[index] === folder);
}

const pidIn = (text: string): number => Number(/pid (\d+)/.exec(text)?.[1]);

describe.skipIf(process.platform === 'win32')('a watched program', () => {
  it('gives its output and its exit code', async () => {
    const ended = await bash('echo out; echo err >&2; exit 3');
    expect(ended).toEqual({
      code: 3,
      signal: undefined,
      timedOut: false,
      stdout: 'out\n',
      stderr: 'err\n',
    });
  });

  it('gets the environment it is given and nothing else, and finds nothing on its input', async () => {
    const { stdout } = await bash('env; read -r line && echo "read $line"; echo "rc $?"', {
      env: { PATH, ONLY: 'this' },
    });
    const names = stdout
      .split('\n')
      .flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? [])
      .filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name));
    expect(names.sort()).toEqual(['ONLY', 'PATH']);
    expect(stdout).toContain('rc 1');
  });

  it('is ended at the time-out', async () => {
    const ended = await bash('while :; do sleep 1; done', { timeoutMs: 100 });
    expect(ended).toMatchObject({ code: undefined, timedOut: true });
  });

  /** Cancels a program as soon as it has written a line; answers with all it has written. */
  async function cancelled(code: string): Promise<string> {
    const controller = new AbortController();
    let text = '';
    const running = bash(code, { signal: controller.signal }, (output) => {
      text = output;
      if (output.includes('\n')) controller.abort();
    });
    expect(await thrownBy(() => running)).toMatchObject({ name: 'AbortError' });
    return text;
  }

  it('is killed when it ignores the polite signal', async () => {
    const pid = pidIn(await cancelled(`trap '' TERM; echo "pid $$"; while :; do sleep 1; done`));
    expect(pid).toBeGreaterThan(1);
    await gone(pid);
  });

  it('may clean up when it is asked to end', async () => {
    const code = `trap 'echo cleaned; exit 0' TERM; echo ready; while :; do sleep 0.05; done`;
    expect(await cancelled(code)).toBe('ready\ncleaned\n');
  });

  it('takes its children along when it is cancelled', async () => {
    const pid = pidIn(await cancelled('sleep 600 & echo "pid $!"; wait'));
    expect(pid).toBeGreaterThan(1);
    await gone(pid);
  });

  it('takes its children along when it ends, and does not wait for those that keep the output open', async () => {
    const ended = await bash('sleep 600 & echo "pid $!"; setsid sleep 600 & echo "left $!"; exit 0');
    expect(ended.code).toBe(0);
    await gone(pidIn(ended.stdout));
    // One that leaves the group on purpose lives on: what is promised is that nobody waits for it.
    process.kill(Number(/left (\d+)/.exec(ended.stdout)?.[1]), 'SIGKILL');
  });

  it('says which signal ended it', async () => {
    expect(await bash('kill -SEGV $$')).toMatchObject({
      code: undefined,
      signal: 'SIGSEGV',
      timedOut: false,
    });
  });

  it('says that a program is not there', async () => {
    const cwd = await temporaryFolder(onTestFinished);
    const missing = runWatched(ownProgram('no-such-program'), [], {
      cwd,
      env: { PATH },
      timeoutMs: 10_000,
      onOutput: () => undefined,
    });
    expect(await thrownBy(() => missing)).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('ENOENT'),
    });
  });

  it('loses nothing of much output', async () => {
    let bytes = 0;
    const cwd = await temporaryFolder(onTestFinished);
    await runWatched(ownProgram('bash'), ['-c', 'head -c 52428800 /dev/zero'], {
      cwd,
      env: { PATH },
      timeoutMs: 120_000,
      onOutput: (chunk) => (bytes += chunk.length),
    });
    expect(bytes).toBe(52_428_800);
  });

  it('ends when the process that watches is killed', async () => {
    const folder = await temporaryFolder(onTestFinished);
    const host = spawn(process.execPath, [await childProgram('tests/support/watched-host.ts'), folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH },
    });
    const exit = once(host, 'exit');
    let text = '';
    host.stdout.setEncoding('utf8');
    for await (const chunk of host.stdout) {
      text += String(chunk);
      if (text.includes('\n')) break;
    }
    host.kill('SIGKILL');
    await exit;
    const pids = [...text.matchAll(/pid (\d+)/g)].map((match) => Number(match[1]));
    expect(pids).toHaveLength(2);
    await Promise.all(pids.map(gone));
  });

  it('ends when the process that watches is killed before the program runs', async () => {
    const folder = await temporaryFolder(onTestFinished);
    const program = await childProgram('tests/support/watched-host.ts');
    const host = spawn(process.execPath, [program, folder, 'leave at once'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH },
    });
    const text = (await host.stdout.setEncoding('utf8').toArray()).join('');
    const watcher = pidIn(text);
    expect(watcher).toBeGreaterThan(1);
    await gone(watcher);
    await expect.poll(() => processesIn(folder)).toEqual([]);
  });

  it('does not run at all when it is cancelled before it runs', async () => {
    const controller = new AbortController();
    const cwd = await temporaryFolder(onTestFinished);
    let text = '';
    const running = bash('echo "pid $$"; exec sleep 600', { cwd, signal: controller.signal }, (output) => {
      text = output;
    });
    controller.abort();
    expect(await thrownBy(() => running)).toMatchObject({ name: 'AbortError' });
    expect(text).toBe('');
    expect(await processesIn(cwd)).toEqual([]);
  });
});
