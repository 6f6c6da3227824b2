import { execFileSync } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { linkFolder, writeFiles } from '../../../tests/support/folders.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import { contextFiles } from './context-files.ts';

const RULES = { hide: String, signal: new AbortController().signal };

/** A project with these files, as the real application knows it; in a repository or without one. */
async function projectOf(files: Record<string, string>, isRepository = false) {
  const root = await temporaryFolder(onTestFinished);
  await writeFiles(root, files);
  if (isRepository) execFileSync('git', ['init', '-q'], { cwd: root, stdio: 'pipe' });
  const context = await contextIn(root, { env: { PATH: process.env['PATH'] } });
  onTestFinished(() => context.close());
  const state = await context.state();
  return {
    root,
    read: (...names: string[]) => contextFiles(state, names, RULES),
    refused: (name: string) => refusal(() => contextFiles(state, [name], RULES)),
  };
}

describe('files that a caller names', () => {
  it('lose their passwords, also those that look like words (S-16)', async () => {
    const { read } = await projectOf({ 'deploy/db.yml': 'user: shop\npass: kornblume\nsmtp_pass: amsel\n' });
    expect(await read('deploy/db.yml')).toEqual([
      { path: 'deploy/db.yml', text: 'user: shop\npass: ***\nsmtp_pass: ***\n' },
    ]);
  });

  it.each(['.git/config', 'sub/.git/HEAD', '.ssh/known_hosts', '.aws/config', './.git/../.git/config'])(
    'are never those of a folder for keys and passwords: %s',
    async (name) => {
      const { refused } = await projectOf({
        '.git/config': 'url = https://ada:hunter2@example.org/shop.git\n',
        'sub/.git/HEAD': 'ref: x\n',
        '.ssh/known_hosts': 'x\n',
        '.aws/config': 'x\n',
      });
      const error = await refused(name);
      expect(error).toMatchObject({ code: 'forbidden' });
      expect(error.message).toContain('contains secrets');
    },
  );
});

const FILES = {
  '.gitignore': 'notes.txt\nprivate/\n_bmad-output/\n',
  'a.md': 'tracked',
  '.github/ci.yml': 'on: push',
  'notes.txt': 'mine alone',
  'private/b.md': 'mine alone',
  'private/repository/': '',
  'sub/c.md': 'below',
  '.bash_history': 'mine',
  '.hidden/x.md': 'mine',
  '_bmad-output/prd.md': 'the plan',
  '_bmad/core/config.yaml': 'user_name: Ada\n',
};

describe('of a repository, files that a caller names (X-12)', () => {
  it('are those that git tracks or would track, and BMAD’s own', async () => {
    const { root, read } = await projectOf(FILES, true);
    const names = ['a.md', '.github/ci.yml', 'sub/c.md', '_bmad-output/prd.md', '_bmad/core/config.yaml'];
    expect((await read(...names)).map(({ path }) => path)).toEqual(names);
    // A file that is tracked stays so, whatever the rules say later.
    execFileSync('git', ['add', '-f', 'notes.txt'], { cwd: root });
    expect(await read('notes.txt')).toMatchObject([{ text: 'mine alone' }]);
    // A repository inside, such as a submodule, says itself what it tracks.
    await writeFiles(root, { 'inner/d.md': 'inner', 'inner/.gitignore': 'e.md', 'inner/e.md': 'mine' });
    execFileSync('git', ['init', '-q'], { cwd: join(root, 'inner') });
    expect(await read('inner/d.md')).toMatchObject([{ text: 'inner' }]);
    await expect(read('inner/e.md')).rejects.toThrow('git ignores it');
  });

  it.each(['notes.txt', 'private/b.md', './private/../notes.txt', 'link.md', 'folder/b.md'])(
    'are none that it ignores: %s',
    async (name) => {
      const { root, refused } = await projectOf(FILES, true);
      await symlink('notes.txt', join(root, 'link.md'));
      await linkFolder(join(root, 'private'), join(root, 'folder'));
      const error = await refused(name);
      expect(error).toMatchObject({ code: 'forbidden', subject: name });
      expect(error.message).toContain('git ignores it, or it is hidden');
      // Nor are they named beside one that is not there.
      expect((await refused('note.txt')).suggestions).toEqual(['.gitignore', 'a.md']);
    },
  );
});

describe('a folder that the project calls its output', () => {
  const files = (output: string): Record<string, string> => ({
    '.gitignore': 'node_modules/\n.keys.d/\n_bmad-output/\nplans/\n',
    '_bmad/core/config.yaml': `output_folder: ${output}\n`,
    [`${output}/prod`]: 'mine alone',
    [`${output}/x/index.js`]: 'mine alone',
    [`${output}/prd.md`]: 'the plan',
  });

  it.each(['.keys.d', 'node_modules', 'plans'])(
    'opens of what git ignores only what BMAD writes: %s (X-12)',
    async (output) => {
      const { read, refused } = await projectOf(files(output), true);
      expect(await read(`${output}/prd.md`)).toMatchObject([{ text: 'the plan' }]);
      for (const name of ['prod', 'x/index.js'])
        expect((await refused(`${output}/${name}`)).message).toContain('git ignores it, or it is hidden');
    },
  );

  it('is open as a whole where its name says that it is nothing else', async () => {
    const { read } = await projectOf(files('_bmad-output'), true);
    expect(await read('_bmad-output/prod', '_bmad-output/x/index.js')).toHaveLength(2);
  });
});

describe('without a repository, files that a caller names (X-12)', () => {
  it('are those that are neither hidden nor named in an ignore file, and BMAD’s own', async () => {
    const { read } = await projectOf(FILES);
    const names = ['a.md', 'sub/c.md', '_bmad-output/prd.md'];
    expect((await read(...names)).map(({ path }) => path)).toEqual(names);
  });

  it.each(['.github/ci.yml', '.hidden/x.md', 'notes.txt', 'private/b.md'])(
    'are not others: %s',
    async (name) => {
      const { refused } = await projectOf(FILES);
      expect((await refused(name)).message).toContain('git ignores it, or it is hidden');
    },
  );
});
