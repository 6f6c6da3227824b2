import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memoryForget, memoryList, memoryStatus } from '../../src/operations/memory/memory-operations.ts';
import { recallStructured } from '../../src/operations/memory/recall-structured.ts';
import { rememberStructured } from '../../src/operations/memory/remember.ts';
import { temporaryFolder } from '../support/app.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { sessionIn, type OpenSession } from '../support/operations.ts';
import { some } from '../support/how-much.ts';

const LINES = '_bmad/_memory/.bmad-memory';
const outside = { flags: { embedder: 'none' }, env: { PATH: process.env['PATH'] } };

const remember = async (session: OpenSession, text: string): Promise<string> => {
  const { data } = await session.ok(rememberStructured, { type: 'decisions', agent: 'dev', text });
  return (data['memory'] as { id: string }).id;
};

async function texts(session: OpenSession): Promise<string[]> {
  const { data } = await session.ok(memoryList);
  const own = (data['memories'] as { text: string }[]).map(({ text }) => text);
  return own.filter((text) => text.startsWith('Decided')).sort();
}

async function repository(folder?: string) {
  const root = folder ?? (await temporaryFolder(onTestFinished));
  const as = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', HOME: root };
  const git = (...args: string[]) =>
    promisify(execFile)('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
      cwd: root,
      env: as,
    });
  await writeFiles(root, KIT_FILES);
  await git('init', '-q', '-b', 'main');
  await git('add', '-A');
  await git('commit', '-qm', 'first');
  return { root, git };
}

type Git = Awaited<ReturnType<typeof repository>>['git'];

/** What takes the lines out of the project while a server runs. */
const LOSSES: [string, (root: string, git: Git) => Promise<unknown>][] = [
  ['git clean -fdX', (_, git) => git('clean', '-fdX')],
  [
    'the checkout of an older branch that has other lines',
    async (root, git) => {
      await git('checkout', '-qb', 'with-lines');
      await rm(join(root, LINES, '.gitignore'));
      await git('add', '-A');
      await git('commit', '-qm', 'lines');
      await git('checkout', '-q', 'main');
    },
  ],
  ['rm -rf of the folder', (root) => rm(join(root, LINES), { recursive: true })],
  ['git clean -fdx and reset --hard', (_, git) => git('clean', '-fdx').then(() => git('reset', '--hard'))],
  ['git stash --all', (_, git) => git('stash', '--all')],
  [
    'rm -rf of its files',
    async (root) => {
      for (const name of await readdir(join(root, LINES)))
        if (/^\d/.test(name)) await rm(join(root, LINES, name), { recursive: true });
    },
  ],
  ['a new name for the folder', (root) => rename(join(root, LINES), join(root, 'elsewhere'))],
];

describe('memories whose lines vanish while hosts use them', () => {
  it.each(some(3, LOSSES))('are kept through %s, and after a restart (R-01)', async (_, lose) => {
    const { root, git } = await repository();
    const [one, two] = [await sessionIn(root, outside), await sessionIn(root, outside)];
    await remember(one, 'Decided before the loss');
    const forgotten = await remember(one, 'Decided and given up');
    await one.ok(memoryForget, { id: forgotten });
    expect(await texts(two)).toEqual(['Decided before the loss']);
    await lose(root, git);
    const kept = await sessionIn(root, outside);
    for (const host of [one, two, kept]) expect(await texts(host)).toEqual(['Decided before the loss']);
    await remember(two, 'Decided after the loss');
    const both = ['Decided after the loss', 'Decided before the loss'];
    for (const host of [one, two, kept]) expect(await texts(host)).toEqual(both);
    expect((await one.ok(memoryStatus)).data).toMatchObject({ memories: 2, degraded: false });
    for (const host of [one, two, kept]) host.close();
    const later = await sessionIn(root, outside);
    expect(await texts(later)).toEqual(both);
    expect(await readdir(join(root, LINES))).toContain('.gitignore');
    later.close();
  });

  it('are kept with the user when the whole BMAD folder is gone (R-01)', async () => {
    const { root } = await repository();
    const session = await sessionIn(root, outside);
    await remember(session, 'Decided while there was a folder');
    await rm(join(root, '_bmad'), { recursive: true });
    const { data } = await session.ok(recallStructured, { query: 'decided folder' });
    expect((data['hits'] as { snippet: string }[])[0]?.snippet).toBe('Decided while there was a folder');
    await remember(session, 'Decided when there was none');
    session.close();
    const later = await sessionIn(root, outside);
    expect(await texts(later)).toEqual(['Decided when there was none', 'Decided while there was a folder']);
    expect((await later.ok(memoryStatus)).data).toMatchObject({ owner: 'user' });
    later.close();
  });
});

describe('the mirror of a project', () => {
  it('is not that of another project that comes to stand in the same place', async () => {
    const { root } = await repository();
    const session = await sessionIn(root, outside);
    await remember(session, 'Decided by the project before');
    session.close();
    for (const name of await readdir(root)) await rm(join(root, name), { recursive: true });
    await writeFile(join(root, 'other.txt'), 'another history\n');
    const { git } = await repository(root);
    const other = await sessionIn(root, outside);
    expect(await texts(other)).toEqual([]);
    await remember(other, 'Decided by the next one');
    await git('clean', '-fdX');
    expect(await texts(other)).toEqual(['Decided by the next one']);
    other.close();
  });

  it('stays that of a project that gets its first commit', async () => {
    const root = await temporaryFolder(onTestFinished);
    await writeFiles(root, KIT_FILES);
    const first = await sessionIn(root, outside);
    await remember(first, 'Decided before there was a repository');
    const { git } = await repository(root);
    await remember(first, 'Decided after the first commit');
    const next = await sessionIn(root, outside);
    const both = ['Decided after the first commit', 'Decided before there was a repository'];
    expect(await texts(next)).toEqual(both);
    next.close();
    first.close();
    await git('clean', '-fdX');
    const last = await sessionIn(root, outside);
    expect(await texts(last)).toEqual(both);
    last.close();
  });
});

describe('lines that are links out of the project', () => {
  it.each(['the folder', 'a day', 'a file'])('are not followed where %s is one (R-01)', async (what) => {
    const elsewhere = await temporaryFolder(onTestFinished);
    const theirs = await repository(elsewhere);
    const user = await sessionIn(theirs.root, outside);
    await remember(user, 'Decided by the user, for nobody else');
    user.close();
    const day = (await readdir(join(elsewhere, LINES))).find((name) => /^\d/.test(name)) ?? '';
    const [file = ''] = await readdir(join(elsewhere, LINES, day));
    const { root } = await repository();
    const folder = join(root, LINES);
    if (what === 'the folder') await symlink(join(elsewhere, LINES), folder);
    else if (what === 'a day') {
      await mkdir(folder);
      await symlink(join(elsewhere, LINES, day), join(folder, day));
    } else {
      await mkdir(join(folder, day), { recursive: true });
      await symlink(join(elsewhere, LINES, day, file), join(folder, day, file));
    }
    const session = await sessionIn(root, outside);
    const before = await readFile(join(elsewhere, LINES, day, file), 'utf8');
    // Refused or answered without it.
    const listed = await session.ok(memoryList).then(({ data }) => JSON.stringify(data), String);
    expect(listed).not.toContain('for nobody else');
    await remember(session, 'Decided in the project').catch(() => undefined);
    session.close();
    expect(await readFile(join(elsewhere, LINES, day, file), 'utf8')).toBe(before);
    expect(await readdir(join(elsewhere, LINES, day))).toEqual([file]);
  });
});
