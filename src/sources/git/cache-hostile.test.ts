import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { childProgram } from '../../../tests/support/child-program.ts';
import { gitCacheIn, teamRepository, textsIn } from '../../../tests/support/git-cache.ts';
import { makeRepository, type TestRepository } from '../../../tests/support/git-repository.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import { parseGitAddress } from './address.ts';
import type { GitCache } from './cache.ts';

let folder: string;

beforeEach(async () => {
  folder = await temporaryFolder((cleanUp) => onTestFinished(cleanUp));
});

const open = (more: Parameters<typeof gitCacheIn>[1] = {}): GitCache => gitCacheIn(folder, more);

describe('GitCache with repositories of strangers', () => {
  let team: TestRepository;
  let first: string;
  let second: string;

  beforeEach(async () => {
    ({ team, first, second } = await teamRepository(folder));
  });

  it('obeys no configuration of the folder it was started in', async () => {
    const evil = join(folder, 'evil');
    await mkdir(evil);
    await team.git('init', '--quiet', evil);
    const config = `[core]\nsshCommand = touch ${join(folder, 'pwned')}\n[url "${team.folder}"]\ninsteadOf = ssh://git@localhost/\n`;
    await writeFile(join(evil, '.git/config'), config);
    // As a whole process, because the folder a process runs in is its own.
    const code = `const { GitCache } = await import(${JSON.stringify(pathToFileURL(await childProgram('src/sources/git/cache.ts')).href)});
      const { parseGitAddress } = await import(${JSON.stringify(pathToFileURL(await childProgram('src/sources/git/address.ts')).href)});
      const cache = new GitCache({ folder: ${JSON.stringify(join(evil, 'cache'))}, env: { PATH: process.env.PATH, HOME: ${JSON.stringify(folder)}, GIT_SSH_COMMAND: 'false' }, timeoutMs: 20000, besides: [], now: Date.now });
      await cache.refresh(parseGitAddress('git+ssh://git@localhost/x/y.git')).then(() => process.exit(3), () => process.exit(0));`;
    execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: evil });
    expect(await readdir(folder)).not.toContain('pwned');
  });

  it('takes a full id for a commit, and refuses a name that a branch and a tag have', async () => {
    const cache = open();
    await team.git('push', '--quiet', 'origin', `${second}:refs/heads/${first}`, `${second}:refs/heads/v1`);
    expect((await cache.refresh(parseGitAddress(`${team.source}#${first}`))).commit).toBe(first);
    const both = await refusal(() => cache.refresh(parseGitAddress(`${team.source}#v1`)));
    expect([both.code, both.hint]).toEqual([
      'ambiguous',
      'Specify which one you mean: #refs/heads/v1 or #refs/tags/v1.',
    ]);
    const tag = parseGitAddress(`${team.source}#refs/tags/v1`);
    expect((await cache.refresh(tag)).commit).toBe(first);
    expect(await cache.sighting(tag)).toMatchObject({ kind: 'tag' });
    expect((await cache.refresh(parseGitAddress(`${team.source}#refs/heads/v1`))).commit).toBe(second);
  });

  it('does not take a branch for what goes on from a tag', async () => {
    const cache = open();
    const main = parseGitAddress(`${team.source}#main`);
    await cache.refresh(main);
    expect(await cache.relate(main, { commit: first, kind: 'tag' })).toBe('moved tag');
    await cache.refresh(main);
    expect(await cache.relate(main, { commit: first, kind: 'default' })).toBe('unknown');
  });

  it('stops at a tree that is far larger than the repository', async () => {
    const { work } = team;
    await team.git('status');
    const make = (type: string, input: string | Buffer): string =>
      execFileSync('git', ['hash-object', '-w', '--stdin', '-t', type, '--literally'], { cwd: work, input })
        .toString()
        .trim();
    const many = (mode: string, id: string): Buffer =>
      Buffer.concat(
        Array.from({ length: 40 }, (_, n) => Buffer.from(`${mode} n${String(n).padStart(2, '0')}\0`)).map(
          (head) => Buffer.concat([head, Buffer.from(id, 'hex')]),
        ),
      );
    let id = make('tree', many('100644', make('blob', 'x')));
    for (let depth = 0; depth < 4; depth++) id = make('tree', many('40000', id));
    const bomb = await team.git('commit-tree', id, '-m', 'bomb');
    await team.git('push', '--quiet', 'origin', `${bomb}:refs/heads/bomb`);
    expect(await refusal(() => open().refresh(parseGitAddress(`${team.source}#bomb`)))).toMatchObject({
      code: 'too_large',
      hint: expect.stringContaining('subpath') as string,
    });
  });

  it('gives the same digest on another machine, whatever its line ends and attributes are', async () => {
    await team.commit({
      '.gitattributes': '*.md text eol=crlf\n*.txt filter=evil ident\n',
      'a.md': 'x\ny\n',
      'b.txt': '$Id$\n',
    });
    await writeFile(
      join(folder, '.gitconfig'),
      `[core]\nautocrlf = true\n[filter "evil"]\nsmudge = touch ${join(folder, 'pwned')}\nrequired = true\n`,
    );
    const address = parseGitAddress(team.source);
    const one = await open().refresh(address);
    const two = await open({ folder: join(folder, 'second') }).refresh(address);
    expect(two.digest).toBe(one.digest);
    expect(await textsIn(one.folder)).toMatchObject({ 'a.md': 'x\ny\n', 'b.txt': '$Id$\n' });
    expect(await readdir(folder)).not.toContain('pwned');
  });

  it('runs no hook, fetches no submodule, and writes no link that leads out', async () => {
    const hooks = join(folder, 'hooks');
    await mkdir(hooks);
    for (const name of ['reference-transaction', 'post-checkout', 'post-merge']) {
      await writeFile(join(hooks, name), `#!/bin/sh\ntouch ${join(folder, 'pwned')}\n`);
      await chmod(join(hooks, name), 0o755);
    }
    await writeFile(
      join(folder, '.gitconfig'),
      `[core]\nhooksPath = ${hooks}\n[init]\ntemplateDir = ${folder}\n`,
    );
    const other = await makeRepository(folder, 'other', { 'secret.md': 'secret' });
    const { work } = team;
    // The file that a link leads to is really there.
    await other.git('status');
    await team.git('submodule', '--quiet', 'add', other.folder, 'sub');
    await symlink('/etc/passwd', join(work, 'absolute.md'));
    await symlink('../../other-work/secret.md', join(work, 'agents', 'up.md'));
    await symlink('ada.md', join(work, 'agents', 'inside.md'));
    await team.commit({});
    const { folder: place, skipped } = await open().refresh(parseGitAddress(team.source));
    expect((await readdir(place)).sort()).toEqual(['.gitmodules', 'agents', 'packs']);
    expect((await readdir(join(place, 'agents'))).sort()).toEqual(['ada.md', 'inside.md']);
    expect(skipped.map((line) => line.replace(/:.*/, '')).sort()).toEqual([
      'absolute.md',
      'agents/up.md',
      'sub',
    ]);
    expect(await readdir(folder)).not.toContain('pwned');
  });

  it('never writes through a link that a forged tree puts above a file', async () => {
    const { work } = team;
    await team.git('status');
    const make = (type: string, input: string | Buffer): string =>
      execFileSync('git', ['hash-object', '-w', '--stdin', '-t', type, '--literally'], { cwd: work, input })
        .toString()
        .trim();
    const entry = (mode: string, name: string, id: string): Buffer =>
      Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]);
    const link = make('blob', '..');
    const inner = make('tree', entry('100644', 'evil.md', make('blob', 'evil')));
    const tree = make(
      'tree',
      Buffer.concat([entry('120000', 'a', link), entry('40000', 'a', inner), entry('40000', '..', inner)]),
    );
    const commit = (await team.git('commit-tree', tree, '-m', 'forged')).trim();
    await team.git('push', '--quiet', 'origin', `${commit}:refs/heads/forged`);
    const { folder: place, skipped } = await open().refresh(parseGitAddress(`${team.source}#forged`));
    expect(await readdir(place)).toEqual([]);
    expect(skipped.join('\n')).toMatch(/evil\.md/);
    expect(await readdir(join(place, '..'))).not.toContain('evil.md');
  });
});
