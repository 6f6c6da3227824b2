import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { thrownBy } from '../../../tests/support/thrown.ts';
import { ownProgram } from '../files/find-program.ts';
import { type ProgramOptions, type ProgramResult, runProgram } from './process.ts';
import { notStarted } from './start-program.ts';

/** Runs a piece of JavaScript in a new process. */
function script(
  code: string,
  args: string[] = [],
  options: Partial<ProgramOptions> = {},
): Promise<ProgramResult> {
  return runProgram(ownProgram(process.execPath), ['-e', code, '--', ...args], {
    timeoutMs: 120_000,
    ...options,
  });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits until a process is gone; the test's own time limit ends the waiting when it never is. */
async function gone(pid: number): Promise<boolean> {
  while (isRunning(pid)) {
    // A killed process whose parent has not collected it yet is not running any more.
    const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
    if (/\) [ZX]/.test(state)) return true;
    await new Promise(setImmediate);
  }
  return true;
}

describe('runProgram', () => {
  it('hands every argument over untouched, without a shell', async () => {
    const folder = await temporaryFolder(onTestFinished);
    const args = [
      '$(touch x)',
      '`touch x`',
      '; touch x',
      '| touch x',
      '&& touch x',
      '> x',
      '"double" \'single\'',
      '*',
      '~',
      '$HOME',
      '%PATH%',
      'two\nlines',
      'back\\slash',
      '',
      ' ',
      '--flag=value',
      'é 😀',
    ];
    const { code, lines } = await script('console.log(JSON.stringify(process.argv.slice(1)))', args, {
      cwd: folder,
    });
    expect(code).toBe(0);
    expect(JSON.parse(lines[0] ?? '')).toEqual(args);
    await expect(stat(join(folder, 'x'))).rejects.toThrow('ENOENT');
  });

  it('gives the lines of output, the end of stderr and the exit code', async () => {
    const result = await script(
      `process.stdout.write('one\\r\\ntwo é\\n\\nlast without a break');
       process.stderr.write('x'.repeat(9000) + '😀end');
       process.exitCode = 3;`,
    );
    expect(result.lines).toEqual(['one', 'two é', '', 'last without a break']);
    expect(result.stderr).toHaveLength(8_000);
    expect(result.stderr.endsWith('x😀end')).toBe(true);
    expect([result.code, result.timedOut]).toEqual([3, false]);
  });

  it('does not break characters that arrive in two pieces', async () => {
    const { stderr } = await script(
      `process.stderr.write(Buffer.from([0xf0, 0x9f]), () => console.log('half'));
       process.stdin.on('end', () => process.stderr.write(Buffer.from([0x98, 0x80]))).resume();`,
      [],
      { until: (line) => line === 'half' },
    );
    expect(stderr).toBe('😀');
  });

  it('gives the program exactly the environment and the folder it is told', async () => {
    const folder = await temporaryFolder(onTestFinished);
    const { lines } = await script(
      'console.log(process.cwd()); console.log(process.env.ONLY, process.env.HOME)',
      [],
      {
        cwd: folder,
        env: { ONLY: 'this' },
      },
    );
    expect(lines).toEqual([folder, 'this undefined']);
  });

  it('closes standard input at once when nothing is waited for', async () => {
    const { lines } = await script(
      `let text = ''; process.stdin.on('data', (data) => (text += data)).on('end', () => console.log('got ' + text));`,
      [],
      { input: 'words' },
    );
    expect(lines).toEqual(['got words']);
  });

  it('keeps standard input open until the awaited line has come', async () => {
    const seen: string[] = [];
    const { lines, code } = await script(
      `process.stdin.on('data', (data) => console.log('one\\ntwo\\nthree')).on('end', () => console.log('closed'));`,
      [],
      {
        input: 'go',
        until(line) {
          seen.push(line);
          return line === 'two';
        },
      },
    );
    expect(lines).toEqual(['one', 'two', 'three', 'closed']);
    expect(seen).toEqual(lines);
    expect(code).toBe(0);
  });

  it('survives a program that does not read its input', async () => {
    const { code } = await script('process.stdin.destroy(); process.exit(0)', [], {
      input: 'x'.repeat(1_000_000),
    });
    expect(code).toBe(0);
  });

  it('rejects when there is no such program, folder or argument', async () => {
    const options = { timeoutMs: 120_000 };
    const folder = await temporaryFolder(onTestFinished);
    await writeFile(join(folder, 'not-a-program'), 'text', { mode: 0o600 });
    const why = async (start: () => Promise<unknown>): Promise<string | undefined> => {
      const error = await thrownBy(start);
      expect(error).toMatchObject({ code: 'unavailable' });
      return notStarted(error);
    };
    expect(await why(() => runProgram(ownProgram(join(folder, 'missing')), [], options))).toBe('ENOENT');
    expect(await why(() => runProgram(ownProgram(join(folder, 'not-a-program')), [], options))).toBe(
      'EACCES',
    );
    expect(await why(() => script('', [], { cwd: join(folder, 'missing') }))).toBe('ENOENT');
    expect(await why(() => script('', ['a\0b']))).toBe('ERR_INVALID_ARG_VALUE');
    expect(await why(() => script('', ['x'.repeat(8_000_000)]))).toMatch(/E2BIG|ENAMETOOLONG/);
  });
});

/** Starts a child, prints its process id and does what else it is told; the child waits for ever. */
async function family(
  child: string,
  then: string,
  options: Partial<ProgramOptions>,
): Promise<ProgramResult & { child: number }> {
  const result = await runProgram(ownProgram('sh'), ['-c', `${child} & echo $!; ${then}`], {
    timeoutMs: 120_000,
    ...options,
  });
  const id = Number(result.lines[0]);
  expect(id).toBeGreaterThan(1);
  return { ...result, child: id };
}

describe('the end of a program', () => {
  it('comes with the time-out, for its children too, even if they do not listen', async () => {
    const result = await family('(trap "" TERM; sleep 1000)', 'wait', { timeoutMs: 3_000 });
    expect(result).toMatchObject({ code: undefined, timedOut: true });
    expect(await gone(result.child)).toBe(true);
  });

  it('comes with the time-out even when a child has left the group and holds on to the output', async () => {
    const result = await family('setsid sleep 1000', 'wait', { timeoutMs: 3_000 });
    process.kill(result.child, 'SIGKILL');
    expect(result).toMatchObject({ code: undefined, timedOut: true });
  });

  it('comes with the signal of the caller', async () => {
    const caller = new AbortController();
    const result = await family('sleep 1000', 'wait', {
      signal: caller.signal,
      until() {
        caller.abort();
        return false;
      },
    });
    expect(result).toMatchObject({ code: undefined, timedOut: false });
    expect(await gone(result.child)).toBe(true);
  });

  it('ends the children it leaves behind, without waiting for the time-out', async () => {
    const result = await family('sleep 1000', 'exit 5', {});
    expect(result).toMatchObject({ code: 5, timedOut: false });
    expect(await gone(result.child)).toBe(true);
  });

  it('comes before its beginning for a caller who has left already', async () => {
    const folder = await temporaryFolder(onTestFinished);
    const mark = join(folder, 'started');
    const signal = AbortSignal.abort();
    const error = await thrownBy(() =>
      script(`require('node:fs').writeFileSync(process.argv[1], '')`, [mark], { signal }),
    );
    expect(error).toBe(signal.reason);
    await expect(stat(mark)).rejects.toThrow('ENOENT');
  });
});
