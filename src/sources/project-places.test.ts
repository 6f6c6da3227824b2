import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { projectInWords } from '../../tests/support/said.ts';
import { temporaryFolder } from '../../tests/support/app.ts';
import { linkFolder, writeFiles } from '../../tests/support/folders.ts';
import { refusal } from '../../tests/support/thrown.ts';
import { DISK } from './tree.ts';
import { type ProjectHints, unfitness } from './project-root.ts';

const HIDDEN = 'it is a hidden folder of the home folder or is inside one';
const KEYS = 'programs keep keys, passwords or their own data there';

/** A home as many have it, with what nobody is to read through the server, and projects in it and beside it. */
async function machine() {
  const folder = await temporaryFolder(afterAll);
  const home = join(folder, 'people/me');
  await writeFiles(home, {
    'Documents/diary.md': 'Dear diary',
    'shop/.git/HEAD': 'ref: refs/heads/main\n',
    'shop/packages/web/package.json': '{}',
    'shop/packages/plain/a.ts': '',
    'started/': '',
    '.dotfiles/.git/HEAD': '',
    '.dotfiles/nested/package.json': '{}',
    '.config/tool/package.json': '{}',
    '.ssh/.git/HEAD': '',
    '.ssh/deep/package.json': '{}',
    '.kube/_bmad/': '',
    '.kube/config': '',
    '.local/state/bmad-mcp-server/http-token': 'x',
    '.local/state/bmad-mcp-server/package.json': '{}',
    'bare/HEAD': '',
    'bare/objects/': '',
    'bare/refs/': '',
    'bare/package.json': '{}',
  });
  await writeFiles(folder, { 'srv/credentials/app/.git/HEAD': '', 'state/x/package.json': '{}' });
  const hints: ProjectHints = { cwd: join(home, 'started'), home, own: [join(folder, 'state')] };
  const find = (call: string, more: Partial<ProjectHints> = {}) =>
    projectInWords({ ...hints, call: join(home, call), ...more });
  return { folder, home, hints, find };
}

describe('a folder that a call names (X-12)', () => {
  it.each([
    ['.ssh', KEYS],
    ['.ssh/deep', KEYS],
    ['.SSH/../.ssh', KEYS],
    ['.kube', KEYS],
    ['shop/.git', KEYS],
    ['shop/.git/hooks/..', KEYS],
    ['.dotfiles', HIDDEN],
    ['.dotfiles/nested', HIDDEN],
    ['.config/tool', HIDDEN],
    ['.local/state/bmad-mcp-server', HIDDEN],
    ['../../state', 'the server keeps its own files there'],
    ['../../state/x', 'the server keeps its own files there'],
    ['..', 'it is the home folder or contains it'],
    ['../..', 'it is the home folder or contains it'],
    ['.', 'it is the home folder or contains it'],
    ['bare', 'it is a repository of git without files'],
  ])('is not a project though it has a marker: %s', async (call, reason) => {
    const { find, home, hints } = await machine();
    await mkdir(join(home, 'shop/.git/hooks'), { recursive: true });
    if (call.includes('SSH')) await mkdir(join(home, '.SSH'), { recursive: true });
    const error = await refusal(() => find(call));
    expect(error.message).toContain(`cannot be used: ${reason}.`);
    expect(error.hint).not.toBe('');
    // Nor by a link, nor by the way that the system has to every file.
    await linkFolder(join(home, call), join(home, 'shop/link'));
    expect((await refusal(() => find('shop/link'))).message).toContain(reason);
    if (process.platform === 'linux')
      expect(
        (await refusal(() => projectInWords({ ...hints, call: `/proc/self/root${join(home, call)}` })))
          .message,
      ).toContain(reason);
  });

  it.each(['Documents', 'shop/packages/plain'])('is not a project without a marker: %s', async (call) => {
    const { find } = await machine();
    const error = await refusal(() => find(call));
    expect([error.code, error.message]).toEqual([
      'forbidden',
      expect.stringMatching(/^The folder ".*" is not a project\.$/) as string,
    ]);
    expect(error.hint).toContain('--project');
  });

  it.each(['shop', 'shop/packages/web', 'started', '../../srv/credentials/app'])(
    'is a project with one, or where the server was started: %s',
    async (call) => {
      const { find, home } = await machine();
      expect(await find(call)).toEqual({ root: join(home, call), from: 'the call' });
    },
  );

  it('is the host’s, though nothing marks it', async () => {
    const { find, home } = await machine();
    const root = join(home, 'Documents');
    expect(await find('Documents', { host: root })).toEqual({ root, from: 'the call' });
    expect(await find('Documents', { roots: [root] })).toEqual({ root, from: 'the call' });
  });
});

describe('a project that the user has set', () => {
  it('is the one that calls may name, with what is in it (X-12)', async () => {
    const { find, home } = await machine();
    const configured = join(home, 'shop');
    expect((await find('shop', { configured })).root).toBe(configured);
    expect((await find('shop/packages/web', { configured })).root).toBe(join(configured, 'packages/web'));
    for (const call of ['started', 'Documents', '.dotfiles', '.ssh', 'gone', '.', '..'])
      expect((await refusal(() => find(call, { configured }))).message).toMatch(
        /^This server does not serve/,
      );
    const allowed = [join(home, 'started')];
    expect((await find('started', { configured, allowed })).root).toBe(allowed[0]);
  });

  it('may be a hidden folder of the home folder, which is said (X-12)', async () => {
    const { find, home, hints } = await machine();
    const configured = join(home, '.dotfiles');
    const set = { configured, configuredBy: 'flag --project' };
    expect(await projectInWords({ ...hints, ...set })).toEqual({
      root: configured,
      from: `flag --project, although ${HIDDEN}`,
    });
    expect((await find('.dotfiles/nested', set)).root).toBe(join(configured, 'nested'));
    // What holds hidden folders was not named for their sake.
    for (const call of ['.dotfiles', '.config/tool'])
      expect((await refusal(() => find(call, { allowed: [home], fixed: true }))).message).toContain(HIDDEN);
  });

  it.each(['.ssh', '.kube', '../../state', '.', '..', 'shop/.git'])(
    'is never a folder of keys, of the server, or the home folder: %s (X-12)',
    async (name) => {
      const { hints, home } = await machine();
      const configured = join(home, name);
      await expect(projectInWords({ ...hints, configured })).rejects.toThrow('cannot be used');
      // A host or a working directory that is one does not count.
      expect((await projectInWords({ ...hints, host: configured })).from).toBe('the working directory');
      expect((await projectInWords({ ...hints, roots: [configured] })).from).toBe('the working directory');
    },
  );

  it('is not found from a hidden folder of the home folder', async () => {
    const { hints, home } = await machine();
    expect(await projectInWords({ ...hints, cwd: join(home, '.dotfiles/nested') })).toEqual({
      root: undefined,
      from: `nowhere: the working directory cannot be a project, because ${HIDDEN}`,
    });
    expect((await projectInWords({ ...hints, cwd: join(home, 'shop/.git') })).root).toBe(join(home, 'shop'));
  });
});

describe('a worktree in a hidden folder of the home folder', () => {
  it('is a project as its repository is; a file .git alone makes none (X-12)', async () => {
    const { find, home, hints } = await machine();
    const git = (cwd: string, ...args: string[]): void => {
      const env = { PATH: process.env['PATH'], HOME: home, GIT_CONFIG_NOSYSTEM: '1' };
      execFileSync('git', args, { cwd: join(home, cwd), env, stdio: 'pipe' });
    };
    const commit = '-c user.name=T -c user.email=t@e commit -q --allow-empty -m 1'.split(' ');
    for (const name of ['work', '.secret-work']) {
      await writeFiles(home, { [`${name}/`]: '' });
      git(name, 'init', '-q');
      git(name, ...commit);
      git(name, 'worktree', 'add', '-q', '-b', 'other', join(home, `.cursor/worktrees/${name}`));
    }
    const root = join(home, '.cursor/worktrees/work');
    expect((await find('.cursor/worktrees/work')).root).toBe(root);
    expect(await projectInWords({ ...hints, cwd: root })).toEqual({
      root,
      from: 'the nearest folder with .git',
    });
    expect((await refusal(() => find('.cursor/worktrees/.secret-work'))).message).toContain(HIDDEN);
    await writeFiles(home, { '.mail/.git': `gitdir: ${join(home, 'work/.git/worktrees/work')}\n` });
    expect((await refusal(() => find('.mail'))).message).toContain(HIDDEN);
  });
});

describe('places of the system', () => {
  const judge = async (place: string, platform: NodeJS.Platform = 'linux', home = '/home/me') =>
    (await unfitness(place, { home, platform, disk: DISK }))?.why;

  it.each([
    '/etc',
    '/etc/nginx',
    '/proc/1',
    '/dev',
    '/run/user/1000',
    '/var/log/app',
    '/var',
    '/usr/share/app',
    '/home',
    '/private/etc',
    '/Library/Keychains',
    '/mnt/c/Windows/System32',
  ])('are no projects: %s (X-12)', async (place) => {
    expect(await judge(place, 'linux', '/nobody/me')).toBe('it belongs to the operating system');
    expect(await judge(place, 'linux', '/')).toBe('it belongs to the operating system');
  });

  it.each([
    ['C:\\Windows\\System32', 'win32'],
    ['C:\\Program Files\\x', 'win32'],
    ['\\\\localhost\\C$\\Users\\me', 'win32'],
  ] as const)('are none on %s either', async (place, platform) => {
    expect(await judge(place, platform)).toBe('it belongs to the operating system');
  });

  it.each([
    '/tmp/x',
    '/srv/x',
    '/opt/x',
    '/var/www/x',
    '/var/lib/jenkins/workspace/x',
    '/var/home/other/x',
    '/home/other',
    '/home/other/work',
    '/root/x',
    '/mnt/c/Users/me/x',
    '/media/me/stick/x',
    '/run/media/me/stick',
    '/dev/shm/x',
    '/usr/src/app',
    '/private/var/folders/zz/T/x',
    '/workspaces/x',
    '/__w/x/x',
    '/Users/me/x',
    '/etcetera',
  ])('may be projects for somebody: %s', async (place) => {
    for (const home of ['/home/me', '/', '/root', '/nonexistent'])
      expect(await judge(place, 'linux', home)).toBeUndefined();
  });

  it.each([
    ['/home/other/.config/x', 'linux', HIDDEN],
    ['/home/me/Library/Mail/x', 'darwin', HIDDEN],
    ['/home/me/Library/Mobile Documents/x', 'darwin', undefined],
    ['/home/me/.x/y', 'linux', HIDDEN],
    ['/home/me/a/.x', 'linux', undefined],
    ['/home/other/.aws/x', 'linux', KEYS],
  ] as const)('are hidden in homes: %s (X-12)', async (place, platform, reason) => {
    expect(await judge(place, platform)).toBe(reason);
  });
});

describe('a hidden folder', () => {
  it('is not a project because the server was started in it: only the user names it (X-12)', async () => {
    const { home, find } = await machine();
    const cwd = join(home, '.config');
    for (const call of ['.config', '.config/tool'])
      expect((await refusal(() => find(call, { cwd }))).message).toContain(HIDDEN);
    expect((await find('.config/tool', { cwd, configured: cwd })).root).toBe(join(home, '.config/tool'));
  });

  it('is none because its repository is another that says the same of it (X-12)', async () => {
    const { home, hints } = await machine();
    const places = ['.a', '.b'].map((name) => join(home, name));
    for (const [at, place] of places.entries()) {
      const other = places[1 - at] ?? '';
      await writeFiles(place, {
        '.git': `gitdir: ${place}/own\n`,
        'own/commondir': `${other}/shared\n`,
        'own/gitdir': `${place}/.git\n`,
        'own/HEAD': 'ref: refs/heads/main\n',
        'shared/HEAD': '',
      });
    }
    const around = { ...hints, disk: DISK };
    expect((await unfitness(places[0] ?? '', around))?.why).toBe(HIDDEN);
  });

  it('is one by its whole name, on every system', async () => {
    const { home, hints } = await machine();
    await mkdir(join(home, 'library-api'));
    const around = { ...hints, disk: DISK, platform: 'darwin' as const };
    expect(await unfitness(join(home, 'library-api'), around)).toBeUndefined();
    await mkdir(join(home, 'Library/x'), { recursive: true });
    expect((await unfitness(join(home, 'Library/x'), around))?.why).toBe(HIDDEN);
  });
});
