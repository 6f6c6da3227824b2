import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repository } from './support/app.ts';

/** Names of `node:fs` that neither open a file nor follow a link to decide about one. */
const HARMLESS = new Set(
  'chmod constants lstat lstatSync lutimes mkdir mkdirSync readdir readlink realpath realpathSync rename rm rmdir statfs symlink'.split(
    ' ',
  ),
);

/** Who may take more of `node:fs`, and why. Whatever opens a file is in the first. */
const MAY_TAKE: Record<string, { names: readonly string[]; why: string }> = {
  'base/files/open-file.ts': {
    names: ['open', 'openSync', 'closeSync', 'fstatSync', 'readlinkSync', 'statSync'],
    why: 'the one place that opens files, and finds out what was opened',
  },
  'base/files/files.ts': {
    names: ['statSync', 'closeSync', 'fstatSync', 'read', 'readSync', 'readdirSync'],
    why: 'what is a folder, and when it changed; a link has been resolved before, and nothing is opened after it; reads what open-file.ts has opened',
  },
  'base/files/file-state.ts': {
    names: ['access', 'stat', 'readdirSync'],
    why: 'permissions that a new version keeps, sizes and times; names in folders of our own',
  },
  'base/files/leftovers.ts': {
    names: ['readFileSync', 'readlinkSync'],
    why: 'which space the number of a process belongs to, and when it began, as the system has it in /proc',
  },
  'base/files/file-tree.ts': {
    names: ['statSync'],
    why: 'whether a store that is open is still the file at its path',
  },
  'base/files/repository.ts': {
    names: ['stat'],
    why: 'whether a link leads to a pipe, which would keep a program waiting',
  },
  'base/files/file-stamps.ts': {
    names: ['statSync'],
    why: 'whether what was read is still as it was; which folder is missing, and what is in its place',
  },
  'base/files/file-systems.ts': {
    names: ['readFileSync'],
    why: 'how many folders a user may watch, as the system has it in /proc',
  },
  'base/files/user-cache.ts': {
    names: ['readFileSync', 'readdirSync', 'renameSync', 'rmSync', 'statSync', 'writeFileSync'],
    why: 'compiled programs and first answers in the cache of the user, before anything else of ours is loaded',
  },
  'base/files/watch-folders.ts': {
    names: ['watch', 'readdirSync'],
    why: 'that something has happened in a folder; what it was is found out elsewhere, and which folders are in one',
  },
  'base/files/find-program.ts': { names: ['access', 'stat'], why: 'whether a program of the PATH may run' },
};

const source = join(repository, 'src');
const entries = await readdir(source, { recursive: true, withFileTypes: true });
const production = entries
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
  .map((entry) => relative(source, join(entry.parentPath, entry.name)).split(sep).join('/'));

describe('the code', () => {
  it('opens files in one place only, and looks at them without opening where it is said why', async () => {
    const taken = new Set<string>();
    const wrong: string[] = [];
    for (const file of production.filter((name) => !name.startsWith('base/files/')))
      if (/(?:'|")(?:node:)?fs(?:\/promises)?(?:'|")/.test(await readFile(join(source, file), 'utf8')))
        wrong.push(`${file} names node:fs`);
    for (const file of production.filter((name) => name.startsWith('base/files/'))) {
      const text = await readFile(join(source, file), 'utf8');
      if (/import\s+(?:\*|\w+\s+from)[^;]*'(?:node:)?fs|require\(|import\('(?:node:)?fs/.test(text))
        wrong.push(`${file} takes all of node:fs`);
      for (const [, names = ''] of text.matchAll(/import \{([^}]*)\} from '(?:node:)?fs(?:\/promises)?'/g))
        for (const name of names.split(',').map((each) => each.trim())) {
          if (name === '' || name.startsWith('type ') || HARMLESS.has(name)) continue;
          taken.add(`${file} ${name}`);
          if (!(MAY_TAKE[file]?.names.includes(name) ?? false)) wrong.push(`${file} imports ${name}`);
        }
    }
    expect(wrong).toEqual([]);
    const allowed = Object.entries(MAY_TAKE).flatMap(([file, { names }]) =>
      names.map((name) => `${file} ${name}`),
    );
    expect(allowed.filter((pair) => !taken.has(pair))).toEqual([]);
  });

  it('compares paths as the system itself writes them, whatever their case and form (20)', async () => {
    // Of the ways to ask Node, only this one does not tell how the disk writes a name.
    const wrong: string[] = [];
    for (const file of production)
      if (/\brealpathSync\(/.test(await readFile(join(source, file), 'utf8'))) wrong.push(file);
    expect(wrong).toEqual([]);
  });

  /** What is read though its name says that it holds secrets: no one is shown it, or the user has named it. */
  const READS_ALL: Record<string, string> = {
    'services/completion/programs.ts':
      'what package managers read, such as .npmrc; values of credentials are masked',
    'services/completion/tree.ts': 'names of files for a proof, of which only digests are kept',
    'base/files/files.ts': 'whether something is there, and when it changed, without reading it',
    'base/files/repository.ts': 'where git keeps a worktree, which is not shown',
    'operations/delegation/context-files.ts': 'where a file is, to refuse it in words of its own',
    'app/app.ts': 'a file that the user has named on the command line',
  };

  it('reads a file of secrets only where it is said why (S-25)', async () => {
    const reading: string[] = [];
    for (const file of production)
      if (/secrets: 'mine'/.test(await readFile(join(source, file), 'utf8'))) reading.push(file);
    expect(reading.sort()).toEqual(Object.keys(READS_ALL).sort());
  });
});
