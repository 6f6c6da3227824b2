import { findProgram } from '../files/file-digest.ts';
import { outputOf, type ProgramEnvironment } from './process.ts';
import { unlessBlocked } from './unblocked.ts';

export interface GitQuestion {
  env: ProgramEnvironment;
  timeoutMs: number;
  signal: AbortSignal;
  /** Of more than this the beginning is kept. */
  mostBytes?: number;
}

/**
 * Asks git about a project. A repository that came as an archive has a configuration of somebody else's, and git would run
 * the programs it names because somebody looks: monitors and hooks, filters that clean a file before it is compared,
 * programs that check signatures, and transports that fetch an object the repository lacks. None of them runs. Nothing
 * without git, and where a pipe in the project would keep git waiting.
 */
export async function askGit(
  root: string,
  args: readonly string[],
  { env, timeoutMs, signal, mostBytes }: GitQuestion,
): Promise<{ code: number | undefined; output: string } | undefined> {
  // By its path: Windows would look for it in the working folder first, which is often the project, and npm puts
  // folders of the project before all others.
  const git = await findProgram('git', env['PATH'] ?? env['Path'], root);
  if (git === undefined) return undefined;
  return unlessBlocked(root, signal, async (either) => {
    const options = { env: gitEnvironment(env), timeoutMs, signal: either };
    const ask = (words: readonly string[], most?: number) =>
      outputOf(git, [...OFF, '-C', root, ...words], options, most);
    const filters = await filterNames(ask);
    if (filters === undefined) return undefined;
    const off = filters.flatMap((name) =>
      NO_FILTER.flatMap((setting) => ['-c', `filter.${name}.${setting}`]),
    );
    return ask([...off, ...args], mostBytes);
  });
}

const OFF = [
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.hooksPath=/dev/null',
  // A log that shows signatures runs the program that is to check them.
  'log.showSignature=false',
  // Files with the names of a repository's own can be committed, so a clone can bring another configuration.
  'safe.bareRepository=explicit',
].flatMap((setting) => ['-c', setting]);
const NO_FILTER = ['clean=', 'smudge=', 'process=', 'required=false'];
const MOST_FILTERS = 100;

/** Variables of git would name another repository than the one that is asked about. */
function gitEnvironment(env: ProgramEnvironment): Record<string, string | undefined> {
  const kept = Object.entries(env).filter(([name]) => !/^GIT_/i.test(name));
  return {
    ...Object.fromEntries(kept),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    // Versions that do not know the line above find no transport to fetch with.
    GIT_ALLOW_PROTOCOL: 'none',
  };
}

type Ask = (words: readonly string[]) => ReturnType<typeof outputOf>;

/**
 * The filters that the repository itself defines; those of the user are the user's choice. Nothing where they cannot be
 * told or switched off: git is not asked at all then.
 */
async function filterNames(ask: Ask): Promise<string[] | undefined> {
  const asked = ['-z', '--get-regexp', String.raw`^filter\.`];
  const scoped = await ask(['config', '--show-scope', ...asked]);
  // Before git 2.26 there are no scopes: then all filters are switched off.
  const told = scoped?.code === 129 ? await ask(['config', ...asked]) : scoped;
  // 1: there are none.
  if (told === undefined || (told.code !== 0 && told.code !== 1)) return undefined;
  const parts = told.output.split('\0').filter((part) => part !== '');
  const keys =
    told === scoped
      ? parts.filter((_, index) => index % 2 === 1 && !/^(?:system|global)$/.test(parts[index - 1] ?? ''))
      : parts;
  // The key ends with its line; the value may have any number of them.
  const names = new Set(
    keys.flatMap((entry) => /^filter\.(.*)\.[^.]*$/.exec(entry.split('\n', 1)[0] ?? '')?.[1] ?? []),
  );
  // Names are bytes: one that is no text would have to be switched off by another name than its own.
  const odd = names.size > MOST_FILTERS || [...names].some((name) => /[=\uFFFD]/.test(name));
  return odd ? undefined : [...names];
}
