import { isAbsolute, join } from 'node:path';
import { BmadError } from '../errors.ts';
import { changeMark, mayBeThere } from '../files/file-stamps.ts';
import { realFolder } from '../files/files.ts';
import { programsBesides } from '../files/find-program.ts';
import { upwards } from '../files/open-file.ts';
import {
  intake,
  type ProgramEnvironment,
  type ProgramOptions,
  type ProgramResult,
  runProgram,
  unlessBlocked,
} from './process.ts';
import {
  type Ask,
  type Filters,
  type GitSettings,
  ignoredByUser,
  settingsBy,
  withoutFilters,
} from './git-settings.ts';
import { isNoProgram } from './start-program.ts';

/** How git is called for one purpose, beside what every call has. */
interface GitPurpose {
  env: ProgramEnvironment;
  /** The projects that provide neither git nor what git starts by its name, such as ssh. */
  besides: readonly string[];
  settings: Readonly<Record<string, string>>;
  variables: Readonly<Record<string, string>>;
  /** Variables of git that are handed on; all others could turn it to another repository, or make it talk. */
  kept?: RegExp;
}

type Git = (
  args: readonly string[],
  options: Omit<ProgramOptions, 'env'>,
) => Promise<ProgramResult | undefined>;

/**
 * The only place where git is started, and only verbs call it: those about a project, below, and those that fetch sources
 * (sources/git/git.ts). Undefined where there is no git. Git is looked for once, for all that is asked of it then.
 */
async function findGit({ env, besides, settings, variables, kept }: GitPurpose): Promise<Git | undefined> {
  const programs = await programsBesides({ env, besides });
  const git = await programs.find('git');
  if (git === undefined) return undefined;
  const around = Object.entries(programs.env).filter(
    ([name]) => !/^GIT_/i.test(name) || kept?.test(name) === true,
  );
  const own = { ...Object.fromEntries(around), ...VARIABLES, ...variables };
  const switched = Object.entries({ ...SETTINGS, ...settings }).flatMap(([key, value]) => [
    '-c',
    `${key}=${value}`,
  ]);
  return (args, options) => runProgram(git, ['--no-pager', ...switched, ...args], { ...options, env: own });
}

export async function runGit(purpose: GitPurpose, ...call: Parameters<Git>): ReturnType<Git> {
  return (await findGit(purpose))?.(...call);
}

/**
 * What a repository could have git start or obey because somebody looks at it: hooks, monitors, editors, programs that ask
 * or that check signatures, background work, and all that is in a submodule.
 */
const SETTINGS = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.untrackedCache': 'false',
  'core.askPass': '',
  'core.editor': 'false',
  'core.pager': 'cat',
  'credential.interactive': 'false',
  'diff.submodule': 'short',
  'fetch.recurseSubmodules': 'false',
  'fetch.writeCommitGraph': 'false',
  'gc.auto': '0',
  'log.showSignature': 'false',
  'maintenance.auto': 'false',
  // Files with the names of a repository's own can be committed, so a clone can bring another configuration.
  'safe.bareRepository': 'explicit',
  'submodule.recurse': 'false',
};

const VARIABLES = {
  // The words of git are read by patterns.
  LC_ALL: 'C',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  // Empty means: do not ask, not even with the program of the desktop or the editor.
  GIT_ASKPASS: '',
  SSH_ASKPASS: '',
  SSH_ASKPASS_REQUIRE: 'never',
  GIT_LFS_SKIP_SMUDGE: '1',
  // Objects that stand in place of others would tell another history.
  GIT_NO_REPLACE_OBJECTS: '1',
};

/**
 * What git is asked about a project. A repository that came as an archive has a configuration of somebody else's, and git would
 * run the programs it names because somebody looks: filters that clean a file before it is compared, programs that show a
 * difference, and transports that fetch an object the repository lacks. None of them runs, here or in a submodule. All verbs
 * answer with nothing without git or a repository. Those about files do so, too, where a pipe in the project would keep git
 * waiting; those about history read none of the project's files, and fail where git does not answer in time.
 */
export interface GitQuestion {
  env: ProgramEnvironment;
  timeoutMs: number;
  signal: AbortSignal;
}

interface GitStatus {
  /** Nothing before the first commit. */
  commit: string | undefined;
  branch: string | undefined;
  /** Tracked files that differ from the commit, from the top of the project; of very many the first. */
  changed: string[];
}

interface GitCommit {
  id: string;
  parents: string[];
  /** When it was committed, in milliseconds. */
  at: number;
}

/** What a commit has added to a file. */
export interface GitAddition {
  at: number;
  file: string;
  line: string;
}

/** What is asked about the files of one repository. Where it is, and what is set for it, is asked once for all questions. */
export interface GitWorkTree {
  /** Of a submodule it tells only whether it is at another commit: nobody looks into one. */
  status(): Promise<GitStatus | undefined>;
  files(which?: GitFilesWanted): Promise<GitFiles | undefined>;
}

export interface GitFilesWanted {
  paths?: readonly string[];
  byFilesAlone?: true;
  /** Those that nobody wants to hear of: of tens of thousands, nothing else is made. */
  leftOut?: (path: string) => boolean;
  /** Answers what git has said with what was made of the same before. */
  known?: (said: readonly Buffer[], read: () => GitFiles) => GitFiles;
}

/** From the top of the project. */
export interface GitFiles {
  tracked: string[];
  /** What git would track. */
  untracked: string[];
}

export async function gitWorkTree(root: string, asked: GitQuestion): Promise<GitWorkTree | undefined> {
  const told = await unlessBlocked(root, asked.signal, (signal) => repositoryAt(root, { ...asked, signal }));
  if (told === undefined) return undefined;
  const { prefix, asking } = told;
  let known: GitSettings | undefined;
  const settings = async (ask: Ask): Promise<GitSettings | undefined> => (known ??= await settingsBy(ask));
  const within = <T>(work: (ask: Ask) => Promise<T>): Promise<T | undefined> =>
    unlessBlocked(root, asked.signal, (signal) => work(asking(signal)));
  return {
    status: () => within(async (ask) => statusBy(ask, prefix, withoutFilters(await settings(ask)))),
    files: (which = {}) =>
      within((ask) => filesBy(ask, which, async () => ignoredByUser(ask, asked.env, await settings(ask)))),
  };
}

async function statusBy(ask: Ask, prefix: string, off: Filters): Promise<GitStatus | undefined> {
  const all = ['--untracked-files=no', '--no-renames', '--ignore-submodules=dirty', '--', '.'];
  const lines =
    off && partsOf(await ask([...off, 'status', '--porcelain=v2', '--branch', '-z', ...all], STATUS_BYTES));
  if (lines === undefined) return undefined;
  const header = (name: string): string | undefined =>
    lines.find((line) => line.startsWith(`# branch.${name} `))?.slice(`# branch.${name} `.length);
  const commit = header('oid');
  return {
    commit: commit === '(initial)' ? undefined : commit,
    branch: header('head'),
    // Git names files from the top of the repository, which may be above the project.
    changed: lines.flatMap((line) => changedPath(line)?.slice(prefix.length) ?? []),
  };
}

/**
 * The files that git tracks or would track, from the top of the project: all, or those among some paths. Nothing, too, where
 * there is not one: an ignored folder of a larger repository has no files for git, but someone has made it their project.
 */
export async function gitFiles(
  root: string,
  asked: GitQuestion,
  which: GitFilesWanted = {},
): Promise<string[] | undefined> {
  const found = await (await gitWorkTree(root, asked))?.files(which);
  return found && [...found.tracked, ...found.untracked];
}

const END = '\0';
const TAG_LENGTH = '? '.length;

async function filesBy(
  ask: Ask,
  { paths, byFilesAlone, leftOut, known = (_, read) => read() }: GitFilesWanted,
  usersIgnored: () => Promise<string>,
): Promise<GitFiles | undefined> {
  const by = byFilesAlone === true ? byFiles(await usersIgnored()) : ['--exclude-standard'];
  const listed = async (some: readonly string[]): Promise<readonly Buffer[]> => {
    const ran = await ask(['ls-files', '-z', '-t', '--cached', '--others', ...by, '--', ...some]);
    return ran?.code === 0 ? ran.parts : [];
  };
  const said: Buffer[] = [];
  for (const some of inPieces(paths ?? ['.'])) said.push(...(await listed(some)));
  if (said.length === 0 && (paths === undefined || (await listed(['.'])).length === 0)) return undefined;
  return known(said, () => filesIn(Buffer.concat(said).toString('utf8'), leftOut));
}

function filesIn(lines: string, leftOut: GitFilesWanted['leftOut']): GitFiles {
  const [tracked, untracked]: [string[], string[]] = [[], []];
  let last = '';
  // What stands behind the last end is nothing, or a path that was cut.
  for (let from = 0, end = lines.indexOf(END); end >= 0; from = end + 1, end = lines.indexOf(END, from)) {
    const path = lines.slice(from + TAG_LENGTH, end);
    // A file with a conflict is listed once for each side.
    if (path !== last && leftOut?.(path) !== true)
      (lines.startsWith('?', from) ? untracked : tracked).push(path);
    last = path;
  }
  return { tracked, untracked };
}

/**
 * By the ignore files of the project and of the user. What `.git/info/exclude` or the settings of a repository leave out, no
 * file of the project says.
 */
function byFiles(users: string): string[] {
  return [
    '--exclude-per-directory=.gitignore',
    ...(isAbsolute(users) && changeMark(users) !== undefined ? [`--exclude-from=${users}`] : []),
  ];
}

/** Commits that have touched some paths, the newest first; with `added` only those in which a path first appears. */
export function gitLog(
  root: string,
  asked: GitQuestion,
  { paths = ['.'], most, added }: { paths?: readonly string[]; most?: number; added?: boolean } = {},
): Promise<GitCommit[] | undefined> {
  return inWorkTree(root, asked, async (ask) => {
    const which = [
      ...(most === undefined ? [] : [`--max-count=${most}`]),
      ...(added === true ? ['--diff-filter=A'] : []),
    ];
    const ran = await ask(['log', ...LOG, ...which, '--format=%H %ct %P', '--', ...paths]);
    if (ran?.code !== 0) return undefined;
    return ran.output
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [id = '', seconds, ...parents] = line.trimEnd().split(' ');
        return { id, parents, at: Number(seconds) * 1_000 };
      });
  });
}

/** The lines that the newest commits have added to some files, the oldest commit first. */
export function gitAdditions(
  root: string,
  asked: GitQuestion,
  { paths, most }: { paths: readonly string[]; most: number },
): Promise<GitAddition[] | undefined> {
  return inWorkTree(root, asked, async (ask) => {
    const patches = ['--patch', '--unified=0', '--relative', '--dst-prefix=b/', '--format=%x00%ct'];
    const ran = await ask(['log', ...LOG, `--max-count=${most}`, ...patches, '--', ...paths]);
    return ran?.code === 0 ? ran.output.split('\0').slice(1).toReversed().flatMap(additionsIn) : undefined;
  });
}

/** The commit that a project is at. */
export function gitHead(root: string, asked: GitQuestion): Promise<string | undefined> {
  return inHistory(root, asked, async (ask) => {
    const ran = await ask(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
    return ran?.code === 0 ? ran.output.trim() : undefined;
  });
}

/** What clones and worktrees of a repository have in common: its first commit, and where in it the folder is. */
export function gitOrigin(root: string, asked: GitQuestion): Promise<string | undefined> {
  return inHistory(root, asked, async (ask, prefix) => {
    // Of a history that was cut off, the first commit is not there.
    if ((await ask(['rev-parse', '--is-shallow-repository']))?.output.trim() !== 'false') return undefined;
    const ran = await ask(['rev-list', '--first-parent', '--max-parents=0', 'HEAD']);
    return ran?.code === 0 && ran.output !== '' ? `${ran.output.trim()} ${prefix}` : undefined;
  });
}

/** Whether a commit comes before or after one of some others, or is one of them; not where git cannot tell. */
export async function gitIsRelated(
  root: string,
  asked: GitQuestion,
  { commit, others }: { commit: string; others: readonly string[] },
): Promise<boolean> {
  if (![commit, ...others].every((id) => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id))) return false;
  const related = await inHistory(root, asked, async (ask) => {
    const listed = async (...words: string[]): Promise<string[] | undefined> => {
      // The commits themselves are read: what is written down about them can be forged.
      const ran = await ask(['-c', 'core.commitGraph=false', 'rev-list', ...words, '--'], COMMITS_BYTES);
      return ran?.code === 0 && ran.output.length < COMMITS_BYTES ? ran.output.trim().split('\n') : undefined;
    };
    // Some may have gone with a branch that nobody needed any more.
    const known = (await listed('--no-walk', '--ignore-missing', ...others))?.filter((id) => id !== '');
    if (known === undefined || known.length === 0) return false;
    const beyond = await listed('--max-count=1', commit, ...known.map((id) => `^${id}`));
    if (beyond?.[0] === '') return true;
    const apart = await listed(...known, `^${commit}`);
    return apart !== undefined && known.some((id) => !apart.includes(id));
  });
  return related === true;
}

const STATUS_BYTES = 20_000_000;
/** Some 480,000 commits. */
const COMMITS_BYTES = 20_000_000;
const PIECE_LENGTH = 50_000;

/** The difference as it is, by no program, and nothing that the settings of a repository would add. */
const LOG =
  '--no-ext-diff --no-textconv --no-renames --no-color --no-notes --no-show-signature --no-decorate --no-follow --submodule=short --ignore-submodules=all'.split(
    ' ',
  );

const READING = {
  // Names as they are, not as bytes in quotes.
  'core.quotePath': 'false',
  'core.sshCommand': 'false',
  'credential.helper': '',
  'gpg.program': 'false',
  'log.showRoot': 'true',
};
const QUIETLY = {
  // No name is a pattern.
  GIT_LITERAL_PATHSPECS: '1',
  GIT_NO_LAZY_FETCH: '1',
  // Versions that do not know the line above find no transport to fetch with.
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_GRAFT_FILE: '/dev/null',
};

/** Asks about commits, which other things hang on: no answer must not be taken for "there are none". */
async function inHistory<T>(root: string, asked: GitQuestion, work: Work<T>): Promise<T | undefined> {
  const told = await repositoryAt(root, asked, () => {
    throw new BmadError('unavailable', 'Git did not answer in time.', { hint: 'Try again.' });
  });
  return told && work(told.asking(asked.signal), told.prefix);
}

/** Asks about the files of the project, which may have a pipe in place of one that git reads. */
async function inWorkTree<T>(root: string, asked: GitQuestion, work: Work<T>): Promise<T | undefined> {
  return unlessBlocked(root, asked.signal, async (signal) => {
    const told = await repositoryAt(root, { ...asked, signal });
    return told && work(told.asking(signal), told.prefix);
  });
}

type Work<T> = (ask: Ask, prefix: string) => Promise<T | undefined>;

interface Repository {
  /** The folder that is asked about, from the top of the repository, with a slash at its end. */
  prefix: string;
  asking(signal: AbortSignal): Ask;
}

/**
 * The repository that has a folder's files. One whose settings say that its files are elsewhere would have git list another
 * folder than this.
 */
async function repositoryAt(
  root: string,
  { env, timeoutMs, signal: first }: GitQuestion,
  onLate?: () => never,
): Promise<Repository | undefined> {
  // To start a program that finds none takes many times as long.
  const real = await realFolder(root);
  if (real === undefined || !upwards(real).some((at) => mayBeThere(join(at, '.git')))) return undefined;
  const git = await findGit({ env, besides: [root], settings: READING, variables: QUIETLY });
  const asking =
    (signal: AbortSignal): Ask =>
    async (words, mostBytes) => {
      const { consume, parts, text } = intake(mostBytes);
      const ran = await git?.(['-C', root, ...words], { timeoutMs, signal, consume }).catch(
        (error: unknown) => {
          if (!isNoProgram(error)) throw error;
          return undefined;
        },
      );
      signal.throwIfAborted();
      if (ran?.timedOut === true) onLate?.();
      if (ran === undefined) return undefined;
      const { code } = ran;
      return {
        code,
        parts,
        get output() {
          return text();
        },
      };
    };
  const place = await asking(first)(['rev-parse', '--is-inside-work-tree', '--show-prefix']);
  const inside = 'true\n';
  return place?.code === 0 && place.output.startsWith(inside)
    ? { prefix: place.output.slice(inside.length, -1), asking }
    : undefined;
}

/** What stands behind the last end is nothing, or a path that was cut. */
function partsOf(ran: Awaited<ReturnType<Ask>>): string[] | undefined {
  return ran?.code === 0 ? ran.output.split('\0').slice(0, -1) : undefined;
}

/** A command line has room for so many names. */
function inPieces(paths: readonly string[]): string[][] {
  const pieces: string[][] = [];
  let room = 0;
  for (const path of paths) {
    room -= path.length + 1;
    if (room < 0) {
      pieces.push([]);
      room = PIECE_LENGTH;
    }
    pieces.at(-1)?.push(path);
  }
  return pieces;
}

/** How many words come before the path, by the kind of line; others tell of no file. */
const BEFORE_PATH: Readonly<Record<string, number>> = { '1': 8, u: 10 };

/** The path that a line of the state is about, from the top of the repository. */
function changedPath(line: string): string | undefined {
  const before = line[1] === ' ' ? BEFORE_PATH[line[0] ?? ''] : undefined;
  if (before === undefined) return undefined;
  let from = 0;
  for (let left = before; left > 0; left--) from = line.indexOf(' ', from) + 1;
  return line.slice(from);
}

/** The added lines of one commit in a log. A line of a file may look like the head of another, so lines are counted. */
function additionsIn(commit: string): GitAddition[] {
  const [seconds = '', ...lines] = commit.split('\n');
  const at = Number(seconds) * 1_000;
  const found: GitAddition[] = [];
  let [file, left] = ['', 0];
  for (const line of lines) {
    if (left > 0 && /^[-+]/.test(line)) {
      left -= 1;
      if (line.startsWith('+')) found.push({ at, file, line: line.slice(1) });
    } else if (line.startsWith('+++ ')) file = line.slice(4).replace(/^b\//, '').trim();
    else {
      const [, gone, come] = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line) ?? [];
      if (line.startsWith('@@ ')) left = Number(gone ?? 1) + Number(come ?? 1);
    }
  }
  return found;
}
