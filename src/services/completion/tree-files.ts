import { unlessShort } from '../../base/expected.ts';
import { listInside, readInside } from '../../base/files/files.ts';
import { ignoreRules, type IgnoreRules } from '../../base/text/ignore-rules.ts';
import { present } from '../../base/present.ts';
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
  const listed = await gitFiles(root, { env, signal, timeoutMs: GIT_MS });
  // An ignored folder of a larger repository has no files for git; somebody has made it their project all the same.
  return listed === undefined || listed.length === 0
    ? { ...(await walk(root, signal)), listed: 'walk' }
    : { paths: listed, listed: 'git', cut: false };
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

const FOREIGN = new Set(
  '.git .hg .svn node_modules .venv venv __pycache__ .terraform .tox .mypy_cache .pytest_cache'.split(' '),
);
/** More would fill the memory. */
const MOST_PATHS = 1_000_000;
const RULES_BYTES = 256 * 1024;

type PlacedRules = { folder: string; rules: IgnoreRules }[];

/** Without git. Links are listed and not followed, so there is no way out of the root and no loop. */
export async function walk(root: string, signal: AbortSignal, from = ''): Promise<Omit<TreeFiles, 'listed'>> {
  const found: string[] = [];
  let isCut = false;
  const open: { folder: string; rules: PlacedRules }[] = [{ folder: from, rules: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    signal.throwIfAborted();
    if (found.length > MOST_PATHS) return { paths: found, cut: true };
    const { folder } = next;
    // What programs keep keys in counts too: only digests of it are kept. What cannot be listed may change unseen.
    const entries = await listInside(root, folder, { secrets: 'mine' }).catch(unlessShort(undefined));
    if (entries === undefined) {
      isCut = true;
      continue;
    }
    const ignore = entries.some(({ name }) => name === '.gitignore')
      ? await readInside(root, `${folder}.gitignore`, RULES_BYTES).catch(unlessShort(Buffer.alloc(0)))
      : undefined;
    const own = ignore === undefined ? [] : [{ folder, rules: ignoreRules(ignore.toString('utf8')) }];
    const rules = [...next.rules, ...own];
    for (const { name, kind, link } of entries) {
      const path = folder + name;
      if (FOREIGN.has(name) || isIgnored(rules, path, kind === 'folder')) continue;
      if (kind === 'file' || link === true) found.push(path);
      else open.push({ folder: `${path}/`, rules });
    }
  }
  return { paths: found, cut: isCut };
}

/** The ignore file nearest to a path has the last word. */
function isIgnored(placed: PlacedRules, path: string, folder: boolean): boolean {
  let verdict: boolean | undefined;
  for (const { folder: place, rules } of placed)
    verdict = rules.verdict(path.slice(place.length), folder) ?? verdict;
  return verdict === true;
}
