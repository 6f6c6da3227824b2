import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { childProgram } from '../../../tests/support/child-program.ts';
import { holderText, leaveLock, NOBODY } from '../../../tests/support/dead-holder.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import { withLock } from './file-lock.ts';
import { isRunning } from './is-running.ts';

let folder: string;
let lock: string;

beforeEach(async () => {
  folder = await temporaryFolder((cleanUp) => onTestFinished(cleanUp));
  lock = join(folder, 'locks', 'x.lock');
});

const PATIENT = { waitMs: 30_000 };

/** Another process that runs a piece of code with `withLock` and the path of the lock in scope. */
async function other(code: string): Promise<ChildProcess> {
  const file = pathToFileURL(await childProgram('src/base/files/file-lock.ts')).href;
  const text = `import { withLock } from ${JSON.stringify(file)}; import { readFile, writeFile } from 'node:fs/promises';
    const lock = ${JSON.stringify(lock)}, folder = ${JSON.stringify(folder)};\n${code}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

const ended = async (child: Promise<ChildProcess>): Promise<number> =>
  ((await once(await child, 'exit')) as [number])[0];

describe('withLock', () => {
  it('lets one process at a time do what would go wrong otherwise', async () => {
    await writeFile(join(folder, 'count'), '0');
    const children = Array.from({ length: 6 }, () =>
      other(`for (let i = 0; i < 20; i++) await withLock(lock, { waitMs: 60000 }, async () => {
        const count = Number(await readFile(folder + '/count', 'utf8'));
        await new Promise(setImmediate);
        await writeFile(folder + '/count', String(count + 1));
      });`),
    );
    expect(await Promise.all(children.map(ended))).toEqual(children.map(() => 0));
    expect(await readFile(join(folder, 'count'), 'utf8')).toBe('120');
    expect(await readdir(join(folder, 'locks'))).toEqual([]);
  });

  it('leaves no folder behind that nothing was put into, when told so', async () => {
    const deep = join(folder, 'a', 'b', 'x.lock');
    const tidy = { ...PATIENT, tidy: true };
    await expect(withLock(deep, tidy, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await readdir(folder)).toEqual([]);
    await withLock(deep, tidy, () => writeFile(join(folder, 'a', 'kept'), ''));
    expect(await readdir(join(folder, 'a'))).toEqual(['kept']);
    await mkdir(join(folder, 'empty'));
    await withLock(join(folder, 'empty', 'x.lock'), tidy, () => Promise.resolve());
    expect(await readdir(folder)).toEqual(['a', 'empty']);
  });

  it('gets the lock also while others make and remove its folder', async () => {
    const children = Array.from({ length: 4 }, () =>
      other(
        `for (let i = 0; i < 50; i++) await withLock(lock, { waitMs: 60000, tidy: true }, async () => {});`,
      ),
    );
    expect(await Promise.all(children.map(ended))).toEqual(children.map(() => 0));
  });

  it('goes on when the holder is killed, and tells once that it waits', async () => {
    const holder = await other(`await withLock(lock, { waitMs: 1000 }, async () => {
      process.stdout.write('held');
      await new Promise((resolve) => setTimeout(resolve, 60000));
    });`);
    await once(holder.stdout as NodeJS.EventEmitter, 'data');
    let waits = 0;
    let isWaiting = (): void => undefined;
    const waiting = new Promise<void>((resolve) => (isWaiting = resolve));
    const work = withLock(
      lock,
      {
        ...PATIENT,
        onWait() {
          waits += 1;
          isWaiting();
        },
      },
      async () => 'done',
    );
    await waiting;
    holder.kill('SIGKILL');
    expect(await work).toBe('done');
    expect(waits).toBe(1);
    expect(await readdir(join(folder, 'locks'))).toEqual([]);
  });

  it('lets only one of many take over from a dead holder', async () => {
    let inside = 0;
    for (let round = 0; round < 8; round++) {
      await leaveLock(lock, holderText(NOBODY, undefined, String(round)));
      await Promise.all(
        Array.from({ length: 10 }, () =>
          withLock(lock, PATIENT, async () => {
            inside += 1;
            expect(inside).toBe(1);
            await new Promise(setImmediate);
            inside -= 1;
          }),
        ),
      );
    }
    expect(await readdir(join(folder, 'locks'))).toEqual([]);
  });

  it.each([
    ['a file without a holder', '', 60_000, 'no process'],
    [
      'a process of another machine',
      holderText(process.pid, 'elsewhere'),
      60_000,
      'a process of another machine or container',
    ],
    [
      'a live process, which may have been asleep',
      holderText(process.pid),
      15 * 60_000,
      `process ${process.pid}`,
    ],
  ])(
    'respects %s that gives signs of life, and not after a long silence',
    async (_what, content, silence, named) => {
      await mkdir(join(folder, 'locks'), { recursive: true });
      await writeFile(lock, content);
      const error = await refusal(() => withLock(lock, { waitMs: 100 }, async () => undefined));
      expect(error).toMatchObject({
        code: 'unavailable',
        // Anyone may have written it, so nothing is said beyond what it says.
        message: `${lock} is a lock, which names ${named}.`,
        reason: 'locked',
      });
      expect(await readFile(lock, 'utf8')).toBe(content);
      await leaveLock(lock, content, silence);
      expect(await withLock(lock, PATIENT, async () => 'done')).toBe('done');
    },
  );

  it('takes no lock with a fresh sign of life, whatever its pid says, and then does not give up (F-01)', async () => {
    await leaveLock(lock, holderText(NOBODY), 0);
    const { mtimeMs } = await stat(lock);
    const silence = await withLock(lock, { waitMs: 0 }, async () => Date.now() - mtimeMs);
    expect(silence).toBeGreaterThanOrEqual(3_000);
  });

  it('does not judge a process by its number in another space (F-01)', async () => {
    await leaveLock(lock, holderText(NOBODY, 'another container of the same name'));
    expect(await refusal(() => withLock(lock, { waitMs: 0 }, async () => undefined))).toMatchObject({
      code: 'unavailable',
      reason: 'locked',
    });
  });

  it('does not rob a live process of this machine that was stopped for a while', async () => {
    await leaveLock(lock, holderText(process.ppid), 5 * 60_000);
    expect((await refusal(() => withLock(lock, { waitMs: 100 }, async () => undefined))).code).toBe(
      'unavailable',
    );
  });

  it('does not wait for a process that had its own number before it: containers begin with the same ones', async () => {
    await leaveLock(lock, holderText(process.pid), Date.now() - performance.timeOrigin + 5_000);
    expect(await withLock(lock, { waitMs: 5_000 }, async (tookOver) => tookOver)).toBe(true);
  });

  it('waits only a moment for one that was killed before it could write its name', async () => {
    await mkdir(join(folder, 'locks'));
    await writeFile(lock, '');
    const fresh = await refusal(() => withLock(lock, { waitMs: 0 }, () => Promise.resolve()));
    expect(fresh.code).toBe('unavailable');
    await leaveLock(lock, '');
    expect(await withLock(lock, { waitMs: 0 }, (tookOver) => Promise.resolve(tookOver))).toBe(true);
  });

  it('tells whether the holder before died in the middle of its work', async () => {
    await leaveLock(lock);
    expect(await withLock(lock, PATIENT, async (tookOver) => tookOver)).toBe(true);
    expect(await withLock(lock, PATIENT, async (tookOver) => tookOver)).toBe(false);
  });

  it('is not stopped by the guard of a process that died while it took over', async () => {
    await leaveLock(lock);
    await leaveLock(`${lock}.takeover`);
    expect(await withLock(lock, PATIENT, async () => 'done')).toBe('done');
    expect(await readdir(join(folder, 'locks'))).toEqual([]);
  });

  it('lets go when the work fails, and leaves a lock alone that is no longer its own', async () => {
    await expect(withLock(lock, PATIENT, () => Promise.reject(new Error('work')))).rejects.toThrow('work');
    expect(await readdir(join(folder, 'locks'))).toEqual([]);
    await withLock(lock, PATIENT, () => writeFile(lock, '{"pid":1,"host":"elsewhere.test","token":"y"}'));
    expect(await readFile(lock, 'utf8')).toContain('elsewhere.test');
  });

  it('stops waiting when the caller leaves', async () => {
    const caller = new AbortController();
    const options = { ...PATIENT, signal: caller.signal, onWait: () => caller.abort() };
    await withLock(lock, PATIENT, async () => {
      await expect(withLock(lock, options, async () => undefined)).rejects.toThrow('abort');
    });
  });

  it('says which file cannot be written, and what to check', async () => {
    await writeFile(join(folder, 'file'), '');
    expect(
      await refusal(() => withLock(join(folder, 'file', 'x.lock'), PATIENT, async () => 1)),
    ).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(join(folder, 'file')) as string,
      hint: expect.stringContaining('Check the folder') as string,
    });
  });
});

describe('isRunning', () => {
  it('knows this process, and one that has ended', async () => {
    expect(isRunning(process.pid)).toBe(true);
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    expect(isRunning(child.pid ?? 0)).toBe(false);
  });
});
