import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { commitAll } from '../../../tests/support/contract-project.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import {
  gitAdditions,
  gitFiles,
  gitHead,
  gitIsRelated,
  gitLog,
  type GitQuestion,
  gitWorkTree,
} from './git.ts';

const run = promisify(execFile);
const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org'];
const env = { PATH: process.env['PATH'], HOME: '/nonexistent' };
const asked: GitQuestion = { env, timeoutMs: 60_000, signal: new AbortController().signal };

const git = (root: string, ...args: string[]) => run('git', ['-C', root, ...who, ...args], { env });

/** A repository of somebody else's, and a program that leaves a trace when it runs. */
async function repository(): Promise<{ folder: string; root: string; ran: string; evil: string }> {
  const folder = await temporaryFolder(onTestFinished);
  const [root, ran, evil] = [join(folder, 'project'), join(folder, 'ran'), join(folder, 'evil.sh')];
  await writeFile(evil, `#!/bin/sh\ntouch "${ran}"\n[ $# -gt 0 ] || cat\n`, { mode: 0o755 });
  await writeFiles(root, { 'a.txt': 'one\n', 'b/c.md': 'two\n' });
  await commitAll(root);
  await writeFile(join(root, 'a.txt'), 'one\nmore\n');
  await git(root, 'commit', '-qam', 'second');
  return { folder, root, ran, evil };
}

const gitStatus = async (root: string, question: GitQuestion) =>
  (await gitWorkTree(root, question))?.status();

/** Every verb, as callers use it. */
async function askAll(root: string, question = asked) {
  const status = await gitStatus(root, question);
  const files = await gitFiles(root, question);
  await gitFiles(root, question, { paths: ['a.txt', 'b'] });
  await gitFiles(root, question, { byFilesAlone: true });
  const log = await gitLog(root, question);
  await gitLog(root, question, { paths: ['a.txt'], added: true });
  const additions = await gitAdditions(root, question, { paths: files ?? ['a.txt'], most: 10 });
  const head = await gitHead(root, question);
  if (head !== undefined) await gitIsRelated(root, question, { commit: head, others: [head] });
  return { status, files, log, additions, head };
}

/** The content has to be compared, which goes through filters. */
const touch = (...parts: string[]) => utimes(join(...parts), 1, 1);

describe.runIf(process.platform !== 'win32')('no verb of git runs a program', () => {
  it('that the settings of a submodule name as a filter (X-01)', async () => {
    const { root, ran, evil } = await repository();
    const inner = join(root, 'sub');
    await writeFiles(inner, { 'a.txt': 'text\n', '.gitattributes': '* filter=evil\n' });
    await commitAll(inner);
    await git(inner, 'config', 'filter.evil.clean', evil);
    await writeFile(
      join(root, '.gitmodules'),
      '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n',
    );
    await git(root, '-c', 'advice.addEmbeddedRepo=false', 'add', '-A');
    await git(root, 'commit', '-qm', 'submodule');
    await git(root, 'config', 'diff.ignoreSubmodules', 'none');
    await git(root, 'config', 'status.submoduleSummary', 'true');
    await touch(inner, 'a.txt');
    await git(root, 'status');
    expect(existsSync(ran)).toBe(true);
    await rm(ran);
    await touch(inner, 'a.txt');
    expect(await askAll(root)).toMatchObject({ status: { changed: [] } });
    expect(existsSync(ran)).toBe(false);
    // That it is at another commit is told.
    await writeFile(join(inner, 'b.txt'), 'text\n');
    await git(inner, 'add', 'b.txt');
    await git(inner, '-c', 'filter.evil.clean=', 'commit', '-qm', 'next');
    await rm(ran, { force: true });
    expect((await gitStatus(root, asked))?.changed).toEqual(['sub']);
    expect(existsSync(ran)).toBe(false);
  });

  it('that shows the difference of a submodule (X-01)', async () => {
    const { root, ran, evil } = await repository();
    const inner = join(root, 'sub');
    await writeFiles(inner, { 'a.txt': 'text\n' });
    await commitAll(inner);
    await git(root, '-c', 'advice.addEmbeddedRepo=false', 'add', 'sub');
    await git(root, 'commit', '-qm', 'submodule');
    await writeFile(join(inner, 'a.txt'), 'other\n');
    await git(inner, 'commit', '-qam', 'next');
    await git(inner, 'config', 'diff.external', evil);
    await git(root, 'commit', '-qam', 'moved');
    await git(root, 'config', 'diff.submodule', 'diff');
    await git(root, 'log', '--patch', '--', 'sub');
    expect(existsSync(ran)).toBe(true);
    await rm(ran);
    await askAll(root);
    expect(existsSync(ran)).toBe(false);
  });

  it.each(['diff.external', 'diff.evil.command', 'diff.evil.textconv'])(
    'that shows differences: %s (X-01)',
    async (key) => {
      const { root, ran, evil } = await repository();
      await writeFile(join(root, '.git/info/attributes'), '* diff=evil\n');
      await git(root, 'config', key, evil);
      await git(root, 'log', '--patch', '--ext-diff');
      expect(existsSync(ran)).toBe(true);
      await rm(ran);
      expect((await askAll(root)).additions?.map(({ file, line }) => `${file}: ${line}`)).toContain(
        'a.txt: more',
      );
      expect(existsSync(ran)).toBe(false);
    },
  );

  it('that is a pager, an editor, an alias, a monitor, a hook or a transport in its settings (X-01)', async () => {
    const { root, ran, evil } = await repository();
    const verbs = ['status', 'log', 'ls-files', 'rev-parse', 'merge-base', 'config'];
    const keys =
      'core.pager core.editor core.sshCommand core.askPass core.gitProxy core.fsmonitor core.alternateRefsCommand';
    const others =
      'sequence.editor gpg.program gpg.ssh.program credential.helper interactive.diffFilter remote.origin.uploadpack';
    for (const key of `${keys} ${others}`.split(' ')) await git(root, 'config', key, evil);
    for (const verb of verbs) {
      await git(root, 'config', `alias.${verb}`, `!${evil}`);
      await git(root, 'config', `pager.${verb}`, evil);
    }
    for (const hook of ['post-index-change', 'pre-auto-gc', 'fsmonitor-watchman', 'reference-transaction'])
      await writeFile(join(root, '.git/hooks', hook), `#!/bin/sh\ntouch "${ran}"\n`, { mode: 0o755 });
    await touch(root, 'a.txt');
    await rm(ran, { force: true });
    expect(await askAll(root)).toMatchObject({ status: { changed: [] }, head: expect.any(String) as string });
    expect(existsSync(ran)).toBe(false);
  });

  it.each(['a worktree', 'a folder inside the project', 'a folder outside of the project'])(
    'that the settings name, where .git is a file that leads to %s (X-01)',
    async (kind) => {
      const { folder, root, ran, evil } = await repository();
      const moved = join(kind.includes('inside') ? root : folder, 'elsewhere.git');
      let place = root;
      if (kind === 'a worktree') {
        place = join(folder, 'worktree');
        await git(root, 'worktree', 'add', '-q', place);
      } else {
        await run('mv', [join(root, '.git'), moved]);
        await writeFile(join(root, '.git'), `gitdir: ${moved}\n`);
      }
      await writeFile(join(place, '.gitattributes'), '* filter=evil diff=evil\n');
      await git(place, 'config', 'filter.evil.clean', evil);
      await git(place, 'config', 'diff.evil.textconv', evil);
      await touch(place, 'a.txt');
      await git(place, 'status');
      expect(existsSync(ran)).toBe(true);
      await rm(ran);
      await touch(place, 'a.txt');
      const { status, files } = await askAll(place);
      expect(existsSync(ran)).toBe(false);
      expect(status?.changed).toEqual([]);
      expect(files).toContain('.gitattributes');
      expect(files).toContain('b/c.md');
    },
  );

  it('that a repository inside the project names, or one around it (X-01)', async () => {
    const { root, ran, evil } = await repository();
    const inner = join(root, 'inner');
    await writeFiles(inner, { 'a.txt': 'text\n', '.gitattributes': '* filter=evil\n' });
    await commitAll(inner);
    for (const each of [root, inner]) await git(each, 'config', 'filter.evil.clean', evil);
    await writeFile(join(root, '.git/info/attributes'), '* filter=evil\n');
    await touch(root, 'b/c.md');
    await touch(inner, 'a.txt');
    expect((await gitStatus(root, asked))?.changed).toEqual([]);
    expect((await (await gitWorkTree(root, asked))?.files())?.untracked).toEqual(['inner/']);
    expect(await gitFiles(join(root, 'b'), asked)).toEqual(['c.md']);
    await askAll(inner);
    await askAll(join(root, 'b'));
    expect(existsSync(ran)).toBe(false);
  });

  it('of the project by a name in the settings of the user (X-10)', async () => {
    const { folder, root, ran } = await repository();
    await writeFile(join(folder, '.gitconfig'), '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n');
    await writeFiles(root, { '.gitattributes': '* filter=lfs\n' });
    await mkdir(join(root, 'bin'));
    await writeFile(join(root, 'bin/git-lfs'), `#!/bin/sh\ntouch "${ran}"\n`, { mode: 0o755 });
    await touch(root, 'b/c.md');
    const path = [join(root, 'bin'), 'bin', '', env.PATH].join(delimiter);
    await gitStatus(root, { ...asked, env: { HOME: folder, PATH: path } });
    expect(existsSync(ran)).toBe(false);
  });
});

describe('git about a project', () => {
  it('is not asked where the settings say that the files are elsewhere, or that there are none (X-01)', async () => {
    const { folder, root } = await repository();
    await writeFiles(folder, { 'home/diary.md': 'secret\n' });
    await git(root, 'config', 'core.worktree', join(folder, 'home'));
    expect(await askAll(root)).toEqual({});
    await git(root, 'config', '--unset', 'core.worktree');
    await git(root, 'config', 'core.bare', 'true');
    expect(await askAll(root)).toEqual({});
    await run('git', ['init', '-q', '--bare', join(folder, 'bare.git')], { env });
    expect(await askAll(join(folder, 'bare.git'))).toEqual({});
    expect(await askAll(join(folder, 'home'))).toEqual({});
  });

  it('tells the history as it is, and not as replacements and grafts have it', async () => {
    const { root } = await repository();
    const [newer = '', older = ''] = (await git(root, 'rev-list', 'HEAD')).stdout.split('\n');
    await git(root, 'checkout', '-q', '--orphan', 'other');
    await git(root, 'commit', '-qm', 'other');
    const other = (await gitHead(root, asked)) ?? '';
    const isRelated = (commit: string, ...others: string[]) => gitIsRelated(root, asked, { commit, others });
    const tells = async () => [
      await isRelated(newer, older),
      await isRelated(older, newer),
      await isRelated(other, older),
      await isRelated(other, newer, older),
      await isRelated(newer, other, older),
      await isRelated(other, newer, other),
    ];
    const truth = [true, true, false, false, true, true];
    expect(await tells()).toEqual(truth);
    await appendFile(join(root, '.git/info/grafts'), `${other} ${newer}\n`);
    expect(await tells()).toEqual(truth);
    await rm(join(root, '.git/info/grafts'));
    await git(root, 'replace', other, newer);
    expect(await tells()).toEqual(truth);
    const unknown = 'f'.repeat(40);
    expect(await isRelated(newer, unknown)).toBe(false);
    expect(await isRelated(unknown, newer)).toBe(false);
    expect(await isRelated(newer, unknown, older)).toBe(true);
    expect(await isRelated(newer)).toBe(false);
    expect(await isRelated('HEAD', '--all')).toBe(false);
  });

  it('counts for a proof what only the repository’s own settings leave out', async () => {
    const { folder, root } = await repository();
    await writeFiles(folder, { 'home/.config/git/ignore': '*.swp\n', all: 'seen.ts\n' });
    await writeFiles(root, {
      '.gitignore': '*.log\n',
      'a.log': '',
      'b.swp': '',
      'hidden.ts': '',
      'seen.ts': '',
    });
    await appendFile(join(root, '.git/info/exclude'), 'hidden.ts\n');
    await git(root, 'config', 'core.excludesFile', join(folder, 'all'));
    const question = { ...asked, env: { ...env, HOME: join(folder, 'home') } };
    const shown = ['.gitignore', 'a.txt', 'b/c.md'];
    expect((await gitFiles(root, question))?.sort()).toEqual([...shown, 'b.swp'].sort());
    const all = await gitFiles(root, question, { byFilesAlone: true });
    expect(all?.sort()).toEqual([...shown, 'hidden.ts', 'seen.ts'].sort());
    await writeFiles(folder, {
      'home/.gitconfig': '[core]\n\texcludesFile = ~/mine\n',
      'home/mine': 'seen.ts\n',
    });
    expect((await gitFiles(root, question, { byFilesAlone: true }))?.sort()).toEqual(
      [...shown, 'b.swp', 'hidden.ts'].sort(),
    );
  });

  it('lists files by their names, and takes none for a pattern or an option', async () => {
    const { root } = await repository();
    const names = ['[ab].txt', ':(top)x', '--cached', 'two\nlines', 'é.md', '*'];
    await writeFiles(
      root,
      Object.fromEntries([...names, 'ignored.log', '.gitignore'].map((name) => [name, 'x\n'])),
    );
    await writeFile(join(root, '.gitignore'), '*.log\n');
    const sorted = async (paths?: string[]) => (await gitFiles(root, asked, paths && { paths }))?.sort();
    expect(await sorted(names)).toEqual([...names].sort());
    expect(await sorted(['a.txt', 'b', 'ignored.log', 'missing'])).toEqual(['a.txt', 'b/c.md']);
    expect(await sorted([])).toEqual([]);
    expect(await sorted()).toEqual(['.gitignore', 'a.txt', 'b/c.md', ...names].sort());
    expect(await readFile(join(root, 'ignored.log'), 'utf8')).toBe('x\n');
  });

  it('counts the lines of a difference, so that none passes for the head of another file', async () => {
    const { root } = await repository();
    await writeFile(join(root, 'a.txt'), '++ b/b/c.md\n@@ -1 +1 @@\nStatus: done\nno end');
    await git(root, 'commit', '-qam', 'third');
    const added = await gitAdditions(root, asked, { paths: ['a.txt', 'b/c.md'], most: 1 });
    expect(added?.map(({ file, line }) => [file, line])).toEqual(
      ['++ b/b/c.md', '@@ -1 +1 @@', 'Status: done', 'no end'].map((line) => ['a.txt', line]),
    );
  });
});
