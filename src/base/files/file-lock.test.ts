import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
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
import { isRunning, processSpace } from './leftovers.ts';
import { rounds } from '../../../tests/support/how-much.ts';

let folder: string;
let lock: string;

beforeEach(async () => {
  folder = await temporaryFolder((cleanUp) => onTestFinished(cleanUp));
  lock = join(folder, 'locks', 'x.lock');
});

const PATIENT = { waitMs: 30_000 };

/** A program with process numbers of its own and the machine's name, as sandboxes of editors and pods give them. */
const APART = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];
const canBeApart = spawnSync(APART[0] as string, [...APART.slice(1), 'true']).status === 0;
const NEEDED = canBeApart ? '' : ' (skipped: this system does not let the tests make a PID namespace)';

/** Another process that runs a piece of code with `withLock`, `writeAtomic` and the path of the lock in scope. */
async function other(code: string, before: readonly string[] = []): Promise<ChildProcess> {
  const from = async (file: string): Promise<string> =>
    JSON.stringify(pathToFileURL(await childProgram(`src/base/files/${file}.ts`)).href);
  const text = `import { withLock } from ${await from('file-lock')};
    import { writeAtomic } from ${await from('file-state')};
    import { readFile, writeFile } from 'node:fs/promises';
    const lock = ${JSON.stringify(lock)}, folder = ${JSON.stringify(folder)};\n${code}`;
  const [program, ...args] = [...before, process.execPath, '--input-type=module', '-e', text];
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** What a process says next. */
const said = async (child: ChildProcess): Promise<string> =>
  String(((await once(child.stdout as NodeJS.EventEmitter, 'data')) as [Buffer])[0]);

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
        `for (let i = 0; i < ${rounds(15, 50)}; i++) await withLock(lock, { waitMs: 60000, tidy: true }, async () => {});`,
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
    for (let round = 0; round < rounds(3, 8); round++) {
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

  const NAMED: [what: string, content: string, named: string][] = [
    ['a file without a holder', '', 'no process'],
    [
      'a process of another machine, container or start of this one',
      holderText(NOBODY, 'elsewhere'),
      'a process of another machine or container',
    ],
    ['a live process, which may have been asleep', holderText(process.pid), `process ${process.pid}`],
    [
      'a process that an earlier version has named',
      JSON.stringify({ pid: NOBODY, host: processSpace(), token: 'x' }),
      'a process of another machine or container',
    ],
  ];
  // Each waits for its beats, all of them at the same time.
  it('respects all who may be alive for three beats after their last one, and no longer (F-01)', async () => {
    const respected = NAMED.map(async ([what, content, named], at) => {
      const own = `${lock}${at}`;
      await leaveLock(own, content, 0);
      const error = await refusal(() => withLock(own, { waitMs: 100 }, async () => undefined));
      expect(error, what).toMatchObject({
        code: 'unavailable',
        // Anyone may have written it, so nothing is said beyond what it says.
        message: `${own} is a lock, which names ${named}.`,
        reason: 'locked',
      });
      expect(await readFile(own, 'utf8'), what).toBe(content);
      const { mtimeMs } = await stat(own);
      const waited = await withLock(own, PATIENT, async () => Date.now() - mtimeMs);
      expect(waited, what).toBeGreaterThanOrEqual(3_000);
    });
    await Promise.all(respected);
  });

  it.skipIf(process.platform !== 'linux').each([
    ['has ended', holderText(NOBODY)],
    ['had the number of a later one', holderText(process.pid).replace(/"start":"\d+"/, '"start":"1"')],
  ])('takes the lock of a process that %s at once, though its last beat is fresh', async (_what, content) => {
    await leaveLock(lock, content, 0);
    const onWait = (): void => expect.unreachable();
    expect(await withLock(lock, { waitMs: 0, onWait }, async (tookOver) => tookOver)).toBe(true);
    expect(await readdir(join(folder, 'locks'))).toEqual([]);
  });

  it('tells a process that stood still for three beats that it lost its lock, and lets it write nothing more', async () => {
    const file = join(folder, 'file');
    const holder = await other(`process.stdin.once('data', () => goOn());
      const going = new Promise((resolve) => (globalThis.goOn = resolve));
      const why = await withLock(lock, { waitMs: 0 }, async () => {
        process.stdout.write('held');
        await going;
        await writeAtomic(folder + '/file', 'by the one that stood still');
      }).catch((error) => error.reason);
      process.stdout.write(String(why));
      process.exit();`);
    expect(await said(holder)).toBe('held');
    holder.kill('SIGSTOP');
    holder.stdin?.write('go on');
    await withLock(lock, PATIENT, () => writeFile(file, 'by the next one'));
    holder.kill('SIGCONT');
    expect(await said(holder)).toBe('lost');
    expect(await readFile(file, 'utf8')).toBe('by the next one');
  });

  it('tells a process that it lost its lock also if it only found that out after its work', async () => {
    const taken = withLock(lock, PATIENT, () =>
      leaveLock(lock, holderText(process.ppid, 'elsewhere', 'y'), 0),
    );
    await expect(taken).rejects.toMatchObject({ code: 'conflict', reason: 'lost' });
    expect(await readFile(lock, 'utf8')).toContain('elsewhere');
  });

  it('knows a holder by its beats while its clock jumps back and forth', async () => {
    const holder = await other(`let hours = 0;
      globalThis.Date = class extends Date { constructor() { super(Date.now() + (hours = 5 - hours) * 3600000); } };
      await withLock(lock, { waitMs: 0 }, () => new Promise((resolve) => {
        process.stdin.once('data', resolve);
        process.stdout.write('held');
      }));
      process.stdout.write('whole');
      process.exit();`);
    expect(await said(holder)).toBe('held');
    expect((await refusal(() => withLock(lock, { waitMs: 4_000 }, async () => undefined))).reason).toBe(
      'locked',
    );
    holder.stdin?.write('go on');
    expect(await said(holder)).toBe('whole');
  });

  it.skipIf(!canBeApart)(
    `loses nothing of what processes of two spaces write, on a busy machine (F-01)${NEEDED}`,
    async () => {
      const EACH = rounds(10, 80);
      const files = ['0', '1', '2', '3', '4'].slice(0, rounds(2, 5));
      for (const name of files) await writeFile(join(folder, name), '0');
      for (let loop = 0; loop < 2; loop += 1) {
        const busy = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
        onTestFinished(() => void busy.kill('SIGKILL'));
      }
      const code = `await Promise.all(${JSON.stringify(files)}.map(async (name) => {
        for (let i = 0; i < ${EACH}; i++) await withLock(lock + name, { waitMs: 120000 }, async () => {
          const count = Number(await readFile(folder + '/' + name, 'utf8'));
          await writeAtomic(folder + '/' + name, String(count + 1));
        });
      }));`;
      const writers = [[], [], APART, APART].map((before) => ended(other(code, before)));
      expect(await Promise.all(writers)).toEqual([0, 0, 0, 0]);
      for (const name of files) expect(await readFile(join(folder, name), 'utf8')).toBe(String(4 * EACH));
    },
  );

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
    await leaveLock(lock, holderText(NOBODY, undefined, 'dead'));
    const named = createHash('sha256').update('dead').digest('hex').slice(0, 16);
    await leaveLock(`${lock}.${named}.takeover`, holderText(NOBODY, undefined, '../guard'));
    expect(await withLock(lock, PATIENT, async () => 'done')).toBe('done');
    expect(await readdir(join(folder, 'locks'))).toEqual([]);
  });

  it('lets go when the work fails', async () => {
    await expect(withLock(lock, PATIENT, () => Promise.reject(new Error('work')))).rejects.toThrow('work');
    expect(await readdir(join(folder, 'locks'))).toEqual([]);
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
