import { readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isFolder, isNamed } from './file-stamps.ts';
import { readInside } from './files.ts';
import { upwards } from './open-file.ts';

/** A file in place of the folder says where that is, in a line or two. */
const MOST_BYTES = 4_096;

interface Repository {
  /** The folder of git itself. */
  own: string;
  /** The one that it shares with other worktrees; the same where it is none. */
  shared: string;
  /** The `.git` that it knows its files by, where it is a worktree. */
  knows: string | undefined;
}

/** Git's own lines about itself, which nobody is shown. */
const lineOf = async (at: string, name: string, most = MOST_BYTES): Promise<string> =>
  (await readInside(at, name, most, { secrets: 'mine' }).catch(() => Buffer.alloc(0)))
    .toString('utf8')
    .trim();

/** The repository whose files are in a folder, if it is the top of one. */
export async function repositoryAt(folder: string): Promise<Repository | undefined> {
  const git = join(folder, '.git');
  if (!isNamed(git)) return undefined;
  if (isFolder(git)) return { own: git, shared: git, knows: undefined };
  const named = /^gitdir: (.+)$/.exec(await lineOf(folder, '.git'))?.[1];
  if (named === undefined) return { own: git, shared: git, knows: undefined };
  const own = resolve(folder, named);
  // A worktree has its own index and shares the rest.
  return { own, shared: resolve(own, await lineOf(own, 'commondir')), knows: await lineOf(own, 'gitdir') };
}

/**
 * The commit that is checked out, read from git's own files: it is asked for with each line that is written, and a program
 * takes many times as long. Empty outside of a repository and before the first commit.
 */
export async function headAt(folder: string): Promise<string> {
  const repository = await repositoryAround(folder);
  return repository === undefined ? '' : headOf(repository);
}

/** The branch that is checked out, where one is. */
export async function branchAt(folder: string): Promise<string | undefined> {
  const repository = await repositoryAround(folder);
  const head = repository === undefined ? '' : await lineOf(repository.own, 'HEAD');
  return /^ref: refs\/heads\/(.+)$/.exec(head)?.[1];
}

async function repositoryAround(folder: string): Promise<Repository | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const repository = await repositoryAt(at);
    if (repository !== undefined || dirname(at) === at) return repository;
  }
}

const MOST_REFS = 64 * 1024 * 1024;

async function headOf({ own, shared }: Repository): Promise<string> {
  const head = await lineOf(own, 'HEAD');
  const ref = /^ref: (.+)$/.exec(head)?.[1];
  if (ref === undefined) return head;
  const loose = (await lineOf(own, ref)) || (await lineOf(shared, ref));
  if (loose !== '') return loose;
  const packed = await lineOf(shared, 'packed-refs', MOST_REFS);
  const line = packed.split('\n').find((each) => each.endsWith(` ${ref}`));
  // A branch that has no commit yet is told from the next one by its name.
  return line?.split(' ')[0] ?? ref;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The files outside of the project's own that decide what git lists: its index and settings, ignore files above the project,
 * and those of the user. An ignore file that the settings name elsewhere is not among them.
 */
export async function decidingFiles(root: string, env: Environment): Promise<string[]> {
  const found: string[] = [];
  for (const folder of upwards(root)) {
    if (folder !== root) found.push(join(folder, '.gitignore'));
    const repository = await repositoryAt(folder);
    if (repository !== undefined) {
      const { own, shared } = repository;
      found.push(
        join(folder, '.git'),
        join(own, 'index'),
        join(shared, 'config'),
        join(shared, 'info', 'exclude'),
      );
      break;
    }
  }
  const settings = usersGit(env);
  return [...found, join(homeIn(env), '.gitconfig'), join(settings, 'config'), join(settings, 'ignore')];
}

const homeIn = (env: Environment): string => env['HOME'] || env['USERPROFILE'] || '/';

/** Where git keeps what is the user's own, such as the file `ignore` for all projects. */
export const usersGit = (env: Environment): string =>
  join(env['XDG_CONFIG_HOME'] || join(homeIn(env), '.config'), 'git');

/** Files that programs look for wherever they look, and open without asking what they are. */
const HELPERS = new Set(['.gitignore', '.gitattributes', '.ignore', '.rgignore', '.git']);
/** More than any project has; what is looked at is kept in memory. */
const MOST_FOLDERS = 500_000;

/**
 * Whether a folder has a pipe or a device somewhere that a program such as git would open and never come back from: in
 * place of a helper file, or of one that git keeps for itself. Looks until it is told to stop.
 */
export async function hasBlockingFile(root: string, signal: AbortSignal): Promise<boolean> {
  const open = [{ folder: root, ofGit: false }];
  for (const { folder, ofGit } of open) {
    if (signal.aborted) return false;
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, entry.name);
      const isDirectory = entry.isDirectory();
      if ((ofGit || HELPERS.has(entry.name)) && !entry.isFile() && !isDirectory && (await blocks(path)))
        return true;
      if (isDirectory && open.length < MOST_FOLDERS)
        open.push({ folder: path, ofGit: ofGit || entry.name === '.git' });
    }
  }
  return false;
}

/**
 * A program that opens one waits for someone to write to it, or reads for ever. Links are followed by some programs,
 * wherever they lead. The null device ends at once: files are switched off with it.
 */
async function blocks(path: string): Promise<boolean> {
  const kind = await stat(path).catch(() => undefined);
  if (kind === undefined) return false;
  if (!kind.isCharacterDevice()) return kind.isFIFO();
  const empty = await stat('/dev/null').catch(() => undefined);
  return kind.rdev !== empty?.rdev;
}
