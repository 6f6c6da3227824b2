import { unlessShort } from '../../base/expected.ts';
import { listInside, readInside } from '../../base/files/files.ts';
import { ignoreRules, type IgnoreRules } from '../../base/text/ignore-rules.ts';
import { present } from '../../base/present.ts';
import { askGit } from '../../base/process/project-git.ts';
import type { LeftOut } from './left-out.ts';
import type { Receipt } from './receipts.ts';
import type { Environment } from './run.ts';

export interface TreeFiles {
  /** Below the root, with slashes, sorted. */
  paths: string[];
  listed: 'git' | 'walk';
}

const GIT_MS = 30_000;

/** What git says, as the parts between zero bytes; nothing without git or outside a repository. */
async function git(
  root: string,
  args: readonly string[],
  env: Environment,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  const ran = await askGit(root, args, { env, timeoutMs: GIT_MS, signal });
  if (ran?.code !== 0) return undefined;
  return ran.output.split('\0').filter((part) => part !== '');
}

/** The files of a project: those that git tracks or would track, else all that no ignore file names. */
export async function listTree(
  root: string,
  env: Environment,
  signal: AbortSignal,
  most = MOST_PATHS,
): Promise<TreeFiles> {
  const listed = await git(
    root,
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    env,
    signal,
  );
  // An ignored folder of a larger repository has no files for git; somebody has made it their project all the same.
  return listed === undefined || listed.length === 0
    ? { paths: (await walk(root, signal, most)).sort(), listed: 'walk' }
    : { paths: [...new Set(listed)].sort(), listed: 'git' };
}

/** Where the repository of a project stands; nothing without one. What agents write does not make it dirty. */
export async function gitState(
  root: string,
  leftOut: LeftOut,
  env: Environment,
  signal: AbortSignal,
): Promise<Receipt['git']> {
  // A submodule has a configuration of its own, with programs of its own, so nobody looks into it.
  const looking = ['--porcelain=v2', '--branch', '--ignore-submodules=dirty', '-z'];
  const all = ['--untracked-files=all', '--no-renames'];
  const lines = await git(root, ['status', ...looking, ...all, '--', '.'], env, signal);
  if (lines === undefined) return undefined;
  const header = (name: string): string | undefined =>
    lines.find((line) => line.startsWith(`# branch.${name} `))?.slice(`# branch.${name} `.length);
  const commit = header('oid');
  return present<NonNullable<Receipt['git']>>({
    commit: commit === '(initial)' ? undefined : commit,
    branch: header('head'),
    // Something differs from the commit, or is not in it.
    dirty: await hasOwn(root, lines.map(changedPath).filter(isNamed), leftOut, env, signal),
  });
}

/** How many words come before the path, by the kind of line; others tell of no file. */
const BEFORE_PATH: Readonly<Record<string, number>> = { '1': 8, u: 10, '?': 1 };

/** The path that a line of the state is about, from the top of the repository. */
function changedPath(line: string): string | undefined {
  const before = line[1] === ' ' ? BEFORE_PATH[line[0] ?? ''] : undefined;
  return before === undefined ? undefined : line.split(' ').slice(before).join(' ');
}

const isNamed = (path: string | undefined): path is string => path !== undefined;

/** Whether one of some paths of the repository is one of what is verified. */
async function hasOwn(
  root: string,
  paths: readonly string[],
  leftOut: LeftOut,
  env: Environment,
  signal: AbortSignal,
): Promise<boolean> {
  if (paths.length === 0) return false;
  const [prefix = ''] = (await git(root, ['rev-parse', '--show-prefix'], env, signal)) ?? [];
  return paths.some((path) => !leftOut(path.slice(prefix.trimEnd().length)));
}

const FOREIGN = new Set(
  '.git .hg .svn node_modules .venv venv __pycache__ .terraform .tox .mypy_cache .pytest_cache'.split(' '),
);
const MOST_PATHS = 100_000;
const RULES_BYTES = 256 * 1024;

type PlacedRules = { folder: string; rules: IgnoreRules }[];

/** Without git. Links are listed and not followed, so there is no way out of the root and no loop. */
async function walk(root: string, signal: AbortSignal, most: number): Promise<string[]> {
  const found: string[] = [];
  const open: { folder: string; rules: PlacedRules }[] = [{ folder: '', rules: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    signal.throwIfAborted();
    if (found.length > most) break;
    const { folder } = next;
    const entries = await listInside(root, folder).catch(unlessShort([]));
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
  return found;
}

/** The ignore file nearest to a path has the last word. */
function isIgnored(placed: PlacedRules, path: string, folder: boolean): boolean {
  let verdict: boolean | undefined;
  for (const { folder: place, rules } of placed)
    verdict = rules.verdict(path.slice(place.length), folder) ?? verdict;
  return verdict === true;
}
