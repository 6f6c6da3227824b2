import { execFileSync } from 'node:child_process';
import { rm, symlink } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { projectInWords } from '../../tests/support/said.ts';
import { temporaryFolder } from '../../tests/support/app.ts';
import { linkFolder, writeFiles } from '../../tests/support/folders.ts';
import { refusal } from '../../tests/support/thrown.ts';
import { type ProjectHints } from './project-root.ts';

/**
 * One row: what lies in a new folder, the working directory, the folder that must be found with the reason, and hints.
 * Hints and folders are relative to the new folder; those that begin with `=` are handed over as they are.
 */
type Row = [what: string, files: string, cwd: string, found: string | undefined, from: string, hints?: Hints];
type Hints = Omit<Partial<ProjectHints>, 'cwd'>;

const NOWHERE = 'nowhere: the working directory cannot be a project, because';
const AT_HOME = `${NOWHERE} it is the home folder or contains it`;
const CWD = 'the working directory';
const nearest = (marker: string): string => `the nearest folder with ${marker}`;

const ROWS: Row[] = [
  ['the call wins over all else', 'a/.git/ c/ d/_bmad/', 'd', 'a', 'the call', { call: 'a', host: 'c' }],
  [
    'the configuration wins over the host',
    'b/ c/ d/_bmad/',
    'd',
    'b',
    'flag --project',
    { configured: 'b', configuredBy: 'flag --project', host: 'c' },
  ],
  [
    'a configuration that does not say who it is',
    'b/ d/',
    'd',
    'b',
    'the configuration',
    { configured: 'b' },
  ],
  ['the host wins over the working directory', 'c/ d/_bmad/', 'd', 'c', 'CLAUDE_PROJECT_DIR', { host: 'c' }],
  ['an empty host', 'd/', 'd', 'd', CWD, { host: '=' }],
  ['a host that is gone', 'd/', 'd', 'd', CWD, { host: 'c' }],
  ['a host that is a file', 'd/ c', 'd', 'd', CWD, { host: 'c' }],
  ['a host that is home', 'd/', 'd', 'd', CWD, { host: 'home' }],
  ['a host that is the disk', 'd/', 'd', 'd', CWD, { host: '=/' }],
  ['a host below the working directory', 'd/e/', 'd', 'd/e', 'CLAUDE_PROJECT_DIR', { host: '=e' }],
  [
    'a call relative to the working directory',
    'd/e/f/go.mod d/g/',
    'd/e',
    'd/e/f',
    'the call',
    { call: '=f' },
  ],
  ['a call with dots', 'd/e/ d/g/package.json', 'd/e', 'd/g', 'the call', { call: '=../g/.' }],
  [
    'a call is taken to the letter, without walking up',
    'd/_bmad/ d/e/package.json',
    'd',
    'd/e',
    'the call',
    { call: '=e' },
  ],
  [
    'a configuration relative to the working directory',
    'd/e/',
    'd',
    'd/e',
    'the configuration',
    { configured: '=e' },
  ],
  ['_bmad right here', 'p/_bmad/', 'p', 'p', nearest('_bmad')],
  ['_bmad above', 'p/_bmad/ p/a/b/c/', 'p/a/b/c', 'p', nearest('_bmad')],
  ['the nearer of two _bmad', 'p/_bmad/ p/a/_bmad/ p/a/b/', 'p/a/b', 'p/a', nearest('_bmad')],
  ['the working directory inside _bmad', 'p/_bmad/bmm/agents/', 'p/_bmad/bmm', 'p', nearest('_bmad')],
  ['.bmad-core above', 'p/.bmad-core/ p/a/', 'p/a', 'p', nearest('.bmad-core')],
  ['bmad/_cfg above', 'p/bmad/_cfg/ p/a/', 'p/a', 'p', nearest('bmad/_cfg')],
  ['.bmad/_cfg above', 'p/.bmad/_cfg/ p/a/', 'p/a', 'p', nearest('.bmad/_cfg')],
  ['a folder bmad without _cfg', 'p/bmad/ p/a/', 'p/a', 'p/a', CWD],
  ['a folder .git', 'p/.git/ p/a/b/', 'p/a/b', 'p', nearest('.git')],
  ['a file .git', 'p/.git p/a/', 'p/a', 'p', nearest('.git')],
  ['_bmad wins over a nearer .git', 'p/_bmad/ p/a/.git/ p/a/b/', 'p/a/b', 'p', nearest('_bmad')],
  ['_bmad wins over a nearer .bmad-core', 'p/_bmad/ p/a/.bmad-core/', 'p/a', 'p', nearest('_bmad')],
  ['version 4 wins over a nearer .git', 'p/.bmad-core/ p/a/.git/', 'p/a', 'p', nearest('.bmad-core')],
  [
    'files with the names of BMAD folders mark nothing',
    'p/_bmad p/.bmad-core p/bmad/_cfg p/a/',
    'p/a',
    'p/a',
    CWD,
  ],
  ['the walk ends below the home folder', 'home/_bmad/ home/.git/ home/a/b/', 'home/a/b', 'home/a/b', CWD],
  [
    'a project in the home folder',
    'home/_bmad/ home/a/.git/ home/a/b/',
    'home/a/b',
    'home/a',
    nearest('.git'),
  ],
  ['the home folder itself', 'home/_bmad/', 'home', undefined, AT_HOME],
  ['a folder that holds the home folder', '.git/', '.', undefined, AT_HOME],
  ['the file system root', '', '=/', undefined, `${NOWHERE} it is the file system root`],
  ['a home folder that does not exist', 'a/', 'a', 'a', CWD, { home: 'gone' }],
  ['a plain folder', 'a/b/', 'a/b', 'a/b', CWD],
  [
    'a working directory that is gone',
    '',
    'gone',
    undefined,
    'nowhere: the working directory no longer exists',
  ],
  ['a working directory that is gone, with a host', 'c/', 'gone', 'c', 'CLAUDE_PROJECT_DIR', { host: 'c' }],
];

/** A folder in which nothing above can be taken for a project, with a home folder of its own. */
async function playground(files: readonly string[]): Promise<string> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, Object.fromEntries([...files, 'home/'].map((path) => [path, ''])));
  return folder;
}

const rootOf = (folder: string): string => parse(folder).root;

describe('the project', () => {
  it.each(ROWS)('%s', async (_what, files, cwd, found, from, hints = {}) => {
    const folder = await playground(files.split(' ').filter(Boolean));
    const place = (text: string): string =>
      text === '=/' ? rootOf(folder) : text.startsWith('=') ? text.slice(1) : join(folder, text);
    const { call, configured, configuredBy, host, home = 'home' } = hints;
    expect(
      await projectInWords({
        call: call === undefined ? undefined : place(call),
        configured: configured === undefined ? undefined : place(configured),
        host: host === undefined ? undefined : place(host),
        configuredBy,
        cwd: place(cwd),
        home: join(folder, home),
      }),
    ).toEqual({ root: found === undefined ? undefined : join(folder, found), from });
  });

  it('is the worktree, not the repository it was made from', async () => {
    const folder = await playground(['repository/a/']);
    const git = (cwd: string, ...args: string[]): void => {
      const env = { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
      execFileSync('git', args, { cwd: join(folder, cwd), env, stdio: 'pipe' });
    };
    git('repository', 'init', '-q');
    git(
      'repository',
      '-c',
      'user.name=T',
      '-c',
      'user.email=t@e',
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      '1',
    );
    git('repository', 'worktree', 'add', '-q', join(folder, 'tree'));
    await writeFiles(folder, { 'tree/src/deep/': '' });
    const home = join(folder, 'home');
    expect(await projectInWords({ cwd: join(folder, 'tree/src/deep'), home })).toEqual({
      root: join(folder, 'tree'),
      from: nearest('.git'),
    });
    expect(await projectInWords({ cwd: join(folder, 'repository/a'), home })).toEqual({
      root: join(folder, 'repository'),
      from: nearest('.git'),
    });
  });

  it('is the real folder behind links, and home is known behind one too', async () => {
    const folder = await playground(['p/_bmad/', 'p/a/', 'elsewhere/q/']);
    await linkFolder(join(folder, 'p'), join(folder, 'link'));
    await linkFolder(join(folder, 'home'), join(folder, 'house'));
    await linkFolder(join(folder, 'elsewhere'), join(folder, 'q/_bmad'));
    const home = join(folder, 'house');
    const root = join(folder, 'p');
    expect(await projectInWords({ call: join(folder, 'link'), cwd: join(folder, 'q'), home })).toMatchObject({
      root,
    });
    expect(await projectInWords({ host: join(folder, 'link'), cwd: folder, home })).toMatchObject({ root });
    expect(await projectInWords({ cwd: join(folder, 'link/a'), home })).toMatchObject({ root });
    expect(await projectInWords({ cwd: join(folder, 'q'), home })).toMatchObject({ from: nearest('_bmad') });
    expect(await projectInWords({ cwd: join(folder, 'home'), home })).toEqual({
      root: undefined,
      from: AT_HOME,
    });
  });

  it('is not marked by a link that leads nowhere', async () => {
    const folder = await playground(['p/a/']);
    await symlink(join(folder, 'gone'), join(folder, 'p/_bmad'));
    const found = await projectInWords({ cwd: join(folder, 'p/a'), home: join(folder, 'home') });
    expect(found).toEqual({ root: join(folder, 'p/a'), from: CWD });
  });

  it('follows a working directory that goes away and comes back', async () => {
    const folder = await playground(['p/']);
    const hints = { cwd: join(folder, 'p'), home: join(folder, 'home') };
    expect((await projectInWords(hints)).root).toBe(hints.cwd);
    await rm(hints.cwd, { recursive: true });
    expect((await projectInWords(hints)).root).toBeUndefined();
    await writeFiles(folder, { 'p/': '' });
    expect((await projectInWords(hints)).root).toBe(hints.cwd);
  });

  it.each([
    ['gone', 'there is no such folder'],
    ['file', 'there is no such folder'],
    ['file/below', 'there is no such folder'],
    ['nul\0byte', 'there is no such folder'],
    ['x'.repeat(5_000), 'there is no such folder'],
    ['home', 'it is the home folder or contains it'],
    ['house', 'it is the home folder or contains it'],
    ['.', 'it is the home folder or contains it'],
  ])('asked for by name must exist and be a project: %j', async (name, reason) => {
    const folder = await playground(['file']);
    await linkFolder(join(folder, 'home'), join(folder, 'house'));
    const common = { cwd: folder, home: join(folder, 'home') };
    const called = await refusal(() => projectInWords({ ...common, call: name, host: folder }));
    expect([called.code, called.message.split(' (from ')[1]]).toEqual([
      'invalid_input',
      `the call) cannot be used: ${reason}.`,
    ]);
    expect([called.message.length < 300, (called.subject?.length ?? 0) <= 200]).toEqual([true, true]);
    const hints = { ...common, configured: name, configuredBy: 'environment BMAD_PROJECT_ROOT' };
    const configured = await refusal(() => projectInWords(hints));
    expect(configured.message).toContain(`(from environment BMAD_PROJECT_ROOT) cannot be used: ${reason}.`);
  });

  it('is never the root of the disk, no matter who names it', async () => {
    const folder = await playground([]);
    const hints = { call: rootOf(folder), cwd: folder, home: join(folder, 'home') };
    expect((await refusal(() => projectInWords(hints))).message).toContain('the file system root');
  });
});

describe('a folder that a call may not name', () => {
  it.each([
    'lnk',
    'lnk/there',
    'lnk/nothere',
    'lnk/nothere/deeper',
    'lnk/file',
    'dead',
    'dead/x',
    'to-file',
    '../outside/x',
  ])('is refused in the same words, whether it is there or not: %s', async (call) => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, { 'project/': '', 'outside/there/': '', 'outside/file': '' });
    await linkFolder(join(folder, 'outside'), join(folder, 'project/lnk'));
    await symlink(join(folder, 'outside/nothere'), join(folder, 'project/dead'));
    await symlink(join(folder, 'outside/file'), join(folder, 'project/to-file'));
    const cwd = join(folder, 'project');
    const error = await refusal(() => projectInWords({ call, cwd, home: '/nobody', fixed: true }));
    expect(error.message).toContain('does not serve the project folder');
  });

  it('is one below that is not there, and it is said', async () => {
    const cwd = await temporaryFolder(afterAll);
    const error = await refusal(() => projectInWords({ call: 'none/x', cwd, home: '/nobody', fixed: true }));
    expect(error.message).toContain('there is no such folder');
  });
});
