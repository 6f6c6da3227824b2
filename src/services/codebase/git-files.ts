import { dirname, join, resolve } from 'node:path';
import { isNamed } from '../../base/files/file-stamps.ts';
import { readInside } from '../../base/files/files.ts';
import type { Environment } from './file-list.ts';

/** A file in place of the folder says where that is, in a line or two. */
const MOST_BYTES = 4_096;

/**
 * The files outside of the project's own that decide what git lists: its index and settings, ignore files above the project,
 * and those of the user. An ignore file that the settings name elsewhere is not among them.
 */
export async function decidingFiles(root: string, env: Environment): Promise<string[]> {
  const found: string[] = [];
  for (let folder = root; ; folder = dirname(folder)) {
    if (folder !== root) found.push(join(folder, '.gitignore'));
    const git = join(folder, '.git');
    if (isNamed(git)) {
      found.push(git, ...(await inRepository(folder, git)));
      break;
    }
    if (dirname(folder) === folder) break;
  }
  const home = env['HOME'] ?? env['USERPROFILE'] ?? '/';
  const settings = join(env['XDG_CONFIG_HOME'] ?? join(home, '.config'), 'git');
  return [...found, join(home, '.gitconfig'), join(settings, 'config'), join(settings, 'ignore')];
}

async function inRepository(folder: string, git: string): Promise<string[]> {
  const lineOf = async (at: string, name: string): Promise<string> =>
    (await readInside(at, name, MOST_BYTES).catch(() => Buffer.alloc(0))).toString('utf8').trim();
  const named = /^gitdir: (.+)$/.exec(await lineOf(folder, '.git'))?.[1];
  const own = named === undefined ? git : resolve(folder, named);
  // A worktree has its own index and shares the rest.
  const shared = resolve(own, named === undefined ? '' : await lineOf(own, 'commondir'));
  return [join(own, 'index'), join(shared, 'config'), join(shared, 'info', 'exclude')];
}
