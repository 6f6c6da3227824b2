import { programsBesides } from '../files/find-program.ts';
import { runProgram, type ProgramEnvironment, type ProgramOptions, type ProgramResult } from './process.ts';

/** How git is called for one purpose, beside what every call has. */
export interface GitPurpose {
  env: ProgramEnvironment;
  /** The projects that provide neither git nor what git starts by its name, such as ssh. */
  besides: readonly string[];
  settings: Readonly<Record<string, string>>;
  variables: Readonly<Record<string, string>>;
  /** Variables of git that are handed on; all others could turn it to another repository, or make it talk. */
  kept?: RegExp;
}

/**
 * The only place where git is started, and only verbs call it: those about a project (project-git.ts) and those that fetch
 * sources (sources/git/git.ts). Undefined where there is no git.
 */
export async function runGit(
  { env, besides, settings, variables, kept }: GitPurpose,
  args: readonly string[],
  options: Omit<ProgramOptions, 'env'>,
): Promise<ProgramResult | undefined> {
  const programs = await programsBesides({ env, besides });
  const git = await programs.find('git');
  if (git === undefined) return undefined;
  const around = Object.entries(programs.env).filter(
    ([name]) => !/^GIT_/i.test(name) || kept?.test(name) === true,
  );
  const switched = Object.entries({ ...SETTINGS, ...settings }).flatMap(([key, value]) => [
    '-c',
    `${key}=${value}`,
  ]);
  return runProgram(git, ['--no-pager', ...switched, ...args], {
    ...options,
    env: { ...Object.fromEntries(around), ...VARIABLES, ...variables },
  });
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
