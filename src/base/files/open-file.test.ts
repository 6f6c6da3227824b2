import { execFileSync, spawnSync } from 'node:child_process';
import { link, mkdir, readdir, readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { childProgram } from '../../../tests/support/child-program.ts';
import { swapFolder } from '../../../tests/support/folder-swapper.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import { BmadError } from '../errors.ts';
import { withLock } from './file-lock.ts';
import { appendLog, readLog } from './file-log.ts';
import { appendLine, removeShared, replaceShared } from './file-shared.ts';
import { readState, stateNames, writeAtomic, writeNew } from './file-state.ts';
import { ensureFolder } from './file-modes.ts';
import { listInside, readInside } from './files.ts';
import { whileAppending, whileReading } from './open-file.ts';

let root: string;
let outside: string;

beforeEach(async () => {
  [root, outside] = [await temporaryFolder(onTestFinished), await temporaryFolder(onTestFinished)];
  await mkdir(join(root, 'docs'));
  await writeFile(join(root, 'docs/file'), 'inside');
  await writeFile(join(outside, 'file'), 'SECRET');
});

/** Does something again and again while a folder on the way is swapped for a link; answers how each time went. */
async function whileSwapped<T>(
  times: number,
  work: (round: number) => Promise<T>,
  mostMs?: number,
): Promise<(T | string)[]> {
  const stop = await swapFolder(join(root, 'docs'), outside, mostMs);
  const seen: (T | string)[] = [];
  try {
    for (let round = 0; round < times; round += 1)
      seen.push(
        await work(round).catch((error: unknown) => {
          if (error instanceof BmadError) return error.code;
          throw error;
        }),
      );
  } finally {
    await stop();
  }
  return seen;
}

const nothing = (): Promise<void> => Promise.resolve();

describe('a folder that becomes a link after it was checked', () => {
  it('leaks nothing of what the link leads to (S-10)', async () => {
    const seen = await whileSwapped(3_000, async () =>
      (await readInside(root, 'docs/file', 1_000)).toString('utf8'),
    );
    expect(seen.filter((text) => text === 'SECRET')).toHaveLength(0);
    // The attack did take place: some reads came while the folder was a link or away, some while it was itself.
    expect(seen.filter((text) => text === 'inside').length).toBeGreaterThan(10);
    expect(seen.filter((text) => text === 'forbidden' || text === 'not_found').length).toBeGreaterThan(10);
  });

  it('does not get past the check of names either (S-10)', async () => {
    await mkdir(join(root, 'private'));
    await writeFile(join(root, 'private/file'), 'SECRET');
    outside = join(root, 'private');
    const serves = (path: string): boolean => !path.startsWith('/private');
    const seen = await whileSwapped(2_000, async () =>
      (await readInside(root, 'docs/file', 1_000, { serves })).toString('utf8'),
    );
    expect(seen.filter((text) => text === 'SECRET')).toHaveLength(0);
    expect(seen.filter((text) => text === 'inside').length).toBeGreaterThan(10);
  });

  it('leaks no names (S-10)', async () => {
    await writeFile(join(outside, 'theirs'), '');
    const seen = await whileSwapped(2_000, async () =>
      (await listInside(root, 'docs')).map(({ name }) => name).join(' '),
    );
    expect(seen.filter((names) => names.includes('theirs'))).toHaveLength(0);
    expect(seen.filter((names) => names === 'file').length).toBeGreaterThan(10);
  });

  it('leaks nothing of our own state, whichever way it is read (S-10)', async () => {
    await writeFile(join(root, 'docs/log'), 'inside\n');
    await writeFile(join(outside, 'log'), 'SECRET\n');
    const inside = root;
    const seen = await whileSwapped(
      1_500,
      async () => {
        const lines: string[] = [];
        await readLog(
          join(root, 'docs/log'),
          undefined,
          () => undefined,
          (line) => lines.push(line),
          inside,
        );
        const names = (await stateNames(join(root, 'docs'), inside)).join(' ');
        return `${(await readState(join(root, 'docs/file'), { inside })) ?? ''} ${lines.join(' ')} ${names}`;
      },
      1,
    );
    expect(seen.filter((text) => text.includes('SECRET'))).toHaveLength(0);
    expect(seen.filter((text) => text.startsWith('inside inside')).length).toBeGreaterThan(10);
  });

  it('has nothing written, appended, made or removed where the link leads (S-10)', async () => {
    await writeFile(join(outside, 'gone'), 'theirs');
    const inside = root;
    const seen = await whileSwapped(
      500,
      async (round) => {
        await replaceShared(root, 'docs/replaced', 'ours');
        await appendLine(root, 'docs/file', 'ours');
        await writeNew(join(root, `docs/new-${round}`), Buffer.from('ours'), inside);
        await appendLog(join(root, 'docs/log'), ['ours'], inside);
        await writeAtomic(join(root, 'docs/atomic'), 'ours', { inside });
        await removeShared(root, 'docs/gone');
        await withLock(join(root, 'docs/.lock'), { waitMs: 2_000, inside }, () => Promise.resolve());
        return 'done';
      },
      1,
    );
    expect((await readdir(outside)).sort()).toEqual(['file', 'gone']);
    expect(await readFile(join(outside, 'file'), 'utf8')).toBe('SECRET');
    expect(seen.length).toBe(500);
    expect(await readdir(join(root, 'docs'))).toContain('replaced');
  });

  it('has folders made in one that is not there yet', async () => {
    await ensureFolder(join(root, 'new/state/tasks'), join(root, 'new/state'));
    expect(await readdir(join(root, 'new/state'))).toEqual(['tasks']);
  });

  it('has no folder made where the link leads (S-28)', async () => {
    const inside = root;
    const seen = await whileSwapped(
      1_000,
      async (round) => {
        await ensureFolder(join(root, `docs/made-${round}/inner`), inside);
        return 'done';
      },
      1,
    );
    expect(await readdir(outside)).toEqual(['file']);
    expect(seen.filter((text) => text === 'done').length).toBeGreaterThan(10);
    expect(seen.filter((text) => text !== 'done').length).toBeGreaterThan(10);
  });
});

describe('what lies where a file of ours belongs', () => {
  it.each([
    ['a link to a device', (place: string) => symlink('/dev/zero', place), /is a link; it was not followed/],
    ['a link to stdin', (place: string) => symlink('/dev/stdin', place), /is a link; it was not followed/],
    ['a link that leads nowhere', (place: string) => symlink('nowhere', place), /is a link/],
    ['a link to itself', (place: string) => symlink('it', place), /is a link/],
    [
      'a pipe',
      (place: string) => Promise.resolve(void execFileSync('mkfifo', [place])),
      /it is not a regular file/,
    ],
    ['a folder', (place: string) => mkdir(place), /it is a folder|cannot be written/],
  ])('is refused at once if it is %s, by everything that opens it (S-07)', async (_, make, words) => {
    const place = join(root, 'it');
    await make(place);
    const attempts: [string, () => Promise<unknown>][] = [
      ['reading', () => readState(place)],
      ['reading inside', () => readState(place, { inside: root })],
      [
        'reading a log',
        () =>
          readLog(
            place,
            undefined,
            () => undefined,
            (line) => line,
            root,
          ),
      ],
      ['appending', () => appendLog(place, ['line'], root)],
      ['appending in a folder of the user', () => appendLog(place, ['line'])],
      ['opening to read', () => whileReading(place, {}, nothing)],
      ['opening to append', () => whileAppending(place, 0o600, {}, nothing)],
      ['locking', () => withLock(place, { waitMs: 60_000 }, () => Promise.resolve())],
      ['locking inside', () => withLock(place, { waitMs: 60_000, inside: root }, () => Promise.resolve())],
    ];
    for (const [what, attempt] of attempts) expect((await refusal(attempt)).message, what).toMatch(words);
    expect(await writeNew(place, Buffer.from('x'))).toBe(false);
    expect((await readdir(root)).sort()).toEqual(['docs', 'it']);
  });

  it('is followed where links are the user’s own business, and only to a regular file', async () => {
    await symlink(join(root, 'docs/file'), join(root, 'link'));
    await symlink(join(outside, 'file'), join(root, 'away'));
    expect(await readState(join(root, 'link'), { follow: true })).toBe('inside');
    expect(await readState(join(root, 'link'), { follow: true, inside: root })).toBe('inside');
    expect(await readState(join(root, 'away'), { follow: true })).toBe('SECRET');
    const error = await refusal(() => readState(join(root, 'away'), { follow: true, inside: root }));
    expect(error).toMatchObject({ code: 'forbidden', reason: 'outside' });
  });

  it('is not written through a parent that leads outside (S-02)', async () => {
    await symlink(outside, join(root, 'trees'));
    const inside = root;
    for (const attempt of [
      () => writeAtomic(join(root, 'trees/x'), 'x', { inside }),
      () => writeNew(join(root, 'trees/x'), Buffer.from('x'), inside),
      () => appendLog(join(root, 'trees/x'), ['x'], inside),
      () => withLock(join(root, 'trees/x/.lock'), { waitMs: 0, inside }, () => Promise.resolve()),
      () => stateNames(join(root, 'trees'), inside),
    ])
      expect(await refusal(attempt)).toMatchObject({ code: 'forbidden', reason: 'outside' });
    expect(await readdir(outside)).toEqual(['file']);
  });

  it('is not read without end if it is a log without lines', async () => {
    const file = join(root, 'log');
    await writeFile(file, '');
    // Where files have holes it costs nothing, and nobody could read it to its end.
    await truncate(file, process.platform === 'win32' ? 40 * 1024 * 1024 : 2 ** 40);
    const error = await refusal(() =>
      readLog(
        file,
        undefined,
        () => undefined,
        () => undefined,
      ),
    );
    expect(error.message).toBe(`${file} cannot be read: it has a line that is too long.`);
  });
});

describe('a plain file where a folder belongs', () => {
  it('is called one (R-11)', async () => {
    const error = await refusal(() => writeAtomic(join(root, 'docs/file/below/x'), 'x'));
    expect(error.message).toBe(`${join(root, 'docs/file')} is a file, but a folder belongs there.`);
  });

  it('is named as well where it has the very name of the folder, with a jail around it and without one', async () => {
    for (const inside of [undefined, root]) {
      const error = await refusal(() => ensureFolder(join(root, 'docs/file'), inside));
      expect(error.message).toBe(`${join(root, 'docs/file')} is a file, but a folder belongs there.`);
    }
  });
});

describe('a system where no path can begin at a handle', () => {
  const unshared = ['--mount', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh', process.execPath];
  const mayMount = spawnSync('unshare', [...unshared, '-e', '0']).status === 0;

  it.runIf(mayMount)('refuses the same, by comparing what was opened with what was checked', async () => {
    const load = async (file: string): Promise<string> =>
      JSON.stringify(pathToFileURL(await childProgram(`src/base/files/${file}`)).href);
    const program = `
      import { existsSync } from 'node:fs';
      import { readInside } from ${await load('files.ts')};
      import { readState, writeAtomic } from ${await load('file-state.ts')};
      import { appendLog } from ${await load('file-log.ts')};
      const [root, outside] = process.argv.slice(1);
      const told = [existsSync('/proc/self')];
      for (const work of [
        async () => String(await readInside(root, 'docs/file', 100)),
        async () => String(await readInside(root, 'away/file', 100)),
        async () => readState(root + '/docs/file', { inside: root }),
        async () => readState(root + '/away/file', { inside: root }),
        async () => writeAtomic(root + '/docs/new', 'x', { inside: root }),
        async () => writeAtomic(root + '/away/new', 'x', { inside: root }),
        async () => void (await appendLog(root + '/docs/log', ['x'], root)),
        async () => appendLog(root + '/away/log', ['x'], root),
      ]) told.push(await work().then((value) => value ?? 'done', (error) => error.code));
      process.stdout.write(JSON.stringify(told));`;
    await symlink(outside, join(root, 'away'));
    const { stdout, stderr } = spawnSync(
      'unshare',
      [...unshared, '--input-type=module', '-e', program, root, outside],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    expect((JSON.parse(stdout) as unknown[]).join(' ')).toBe(
      'false inside forbidden inside forbidden done forbidden done forbidden',
    );
    expect(await readdir(outside)).toEqual(['file']);
    expect((await stat(join(root, 'docs/new'))).size).toBe(1);
  });
});

describe('a file of the project that is another file as well', () => {
  it('is not written through, and replaced without a change to the other (N-08)', async () => {
    const [other, place] = [join(outside, 'file'), join(root, 'docs/log')];
    await link(other, place);
    const writes: (() => Promise<unknown>)[] = [
      () => appendLog(place, ['ours'], root),
      () => appendLine(root, 'docs/log', 'ours'),
      () => whileAppending(place, 0o600, { inside: root }, nothing),
    ];
    for (const write of writes) {
      const error = await refusal(write);
      expect(error).toMatchObject({ code: 'forbidden' });
      expect(error.message).toContain('more than one name');
      expect(await readFile(other, 'utf8')).toBe('SECRET');
    }
    await writeAtomic(place, 'ours', { inside: root });
    expect([await readFile(other, 'utf8'), await readFile(place, 'utf8')]).toEqual(['SECRET', 'ours']);
    await appendLog(place, ['more'], root);
    expect(await readFile(other, 'utf8')).toBe('SECRET');
  });
});
