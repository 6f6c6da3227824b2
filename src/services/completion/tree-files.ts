import { present } from '../../base/present.ts';
import { walkFiles } from '../../base/process/project-files.ts';
import { gitFiles, gitStatus } from '../../base/process/project-git.ts';
import type { LeftOut } from './left-out.ts';
import type { Receipt } from './receipts.ts';
import type { Environment } from './run.ts';

export interface TreeFiles {
  /** Below the root, with slashes. */
  paths: string[];
  listed: 'git' | 'walk';
  /** Whether not all could be listed, or there are too many. */
  cut: boolean;
}

const GIT_MS = 30_000;

/** The files of a project: those that git tracks or would track, else all that no ignore file names. */
export async function listTree(root: string, env: Environment, signal: AbortSignal): Promise<TreeFiles> {
  // What only the repository's own settings leave out counts: no file of the project would tell of it.
  const paths = await gitFiles(root, { env, signal, timeoutMs: GIT_MS }, { byFilesAlone: true });
  return paths === undefined
    ? { ...(await walkTree(root, signal)), listed: 'walk' }
    : { paths, listed: 'git', cut: false };
}

/** Where the repository of a project stands; nothing without one. What agents write does not make it dirty. */
export async function gitState(
  root: string,
  leftOut: LeftOut,
  env: Environment,
  signal: AbortSignal,
): Promise<Receipt['git']> {
  const status = await gitStatus(root, { env, signal, timeoutMs: GIT_MS });
  if (status === undefined) return undefined;
  const { commit, branch, changed } = status;
  // Something of what is verified differs from the commit, or is not in it.
  const dirty = changed.some((path) => !leftOut(path));
  return present<NonNullable<Receipt['git']>>({ commit, branch, dirty });
}

const FOREIGN =
  /(?:^|\/)(?:\.git|\.hg|\.svn|node_modules|\.venv|venv|__pycache__|\.terraform|\.tox|\.mypy_cache|\.pytest_cache)\/?$/;
/** More would fill the memory. */
const MOST_PATHS = 1_000_000;

/** Without git. What programs keep keys in counts too: only digests of it are kept. */
export function walkTree(root: string, signal: AbortSignal, from = ''): Promise<Omit<TreeFiles, 'listed'>> {
  return walkFiles(root, {
    from,
    ignoring: ['.gitignore'],
    skips: (path) => FOREIGN.test(path),
    links: true,
    most: MOST_PATHS,
    rules: { secrets: 'mine' },
    signal,
  });
}
