import { say, t } from '../../base/text/message.ts';
import { dirname, join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { pathExists } from '../../base/files/files.ts';
import { present } from '../../base/values.ts';
import { runGit } from '../../base/process/git.ts';
import { intake, type ProgramResult } from '../../base/process/process.ts';
import { notStarted } from '../../base/process/start-program.ts';
import { stripUrlCredentials } from '../../base/secrets/rules.ts';
import { visible } from '../../base/text/hidden.ts';
import { oneLine } from '../../base/text/text.ts';
import type { GitAddress } from './address.ts';

export interface GitOptions {
  signal?: AbortSignal | undefined;
  /** Hears what git reports about long work, at most a few times a second. */
  progress?: ((message: string) => void) | undefined;
}

interface RunOptions extends GitOptions {
  input?: string;
  consume?: (output: AsyncIterable<Buffer>) => Promise<void>;
  /** The source the call is for; its host is spoken to, and its credentials are used. */
  remote?: GitAddress;
}

/** What is to be fetched: the newest commit of a ref alone, or all of its history. */
export interface Fetch {
  refs: readonly string[];
  history: 'none' | 'all';
}

export interface GitSetup {
  env: Readonly<Record<string, string | undefined>>;
  timeoutMs: number;
  /** A folder of ours in which git runs: in any other, the configuration of a repository around it would be obeyed. */
  workFolder: string;
  /** The projects that are served: they provide no program. */
  besides: readonly string[];
}

export type Git = ReturnType<typeof createGit>;

/** The system's git, set up so that it never prompts, runs nothing from the content, and finishes in time. */
export function createGit({ env, timeoutMs, workFolder, besides }: GitSetup) {
  async function run(
    args: readonly string[],
    { input, consume, remote, signal, progress }: RunOptions = {},
  ): Promise<string[]> {
    const variables = {
      ...VARIABLES,
      // Nor may it look for a repository above that folder.
      GIT_CEILING_DIRECTORIES: dirname(workFolder),
      ...credentialsOf(remote),
    };
    const purpose = { env, besides, settings: SETTINGS, variables, kept: KEPT };
    let result: ProgramResult | undefined;
    try {
      result = await runGit(purpose, args, {
        cwd: workFolder,
        timeoutMs,
        signal,
        ...present({ input, consume, onError: progress && percentages(progress) }),
      });
    } catch (error) {
      if (notStarted(error) === 'ENOENT')
        throw (await pathExists(workFolder)) ? noGit() : noFolder(workFolder);
      throw error;
    }
    if (result === undefined) throw noGit();
    signal?.throwIfAborted();
    if (result.code === 0) return result.lines;
    throw result.timedOut ? tooSlow(remote, timeoutMs) : failure(result.stderr, remote);
  }
  const inside = (repository: string, words: readonly string[], options: RunOptions): Promise<string[]> =>
    run(['--git-dir', repository, ...words], options);
  return {
    /** The refs of a remote. All lines, however many: hosts have a ref for every pull request, and they come before the tags. */
    async refs(remote: GitAddress, options: GitOptions): Promise<string[]> {
      const { consume, text } = intake();
      await run(['ls-remote', '--symref', '--', remote.url], { ...options, remote, consume });
      return text().split('\n');
    },
    /** Makes an empty bare repository. */
    async init(repository: string, options: GitOptions): Promise<void> {
      await run(['init', '--quiet', '--bare', '--template=', '--', repository], options);
    },
    async fetch(
      repository: string,
      remote: GitAddress,
      { refs, history }: Fetch,
      options: GitOptions,
    ): Promise<void> {
      const always = [
        '--progress',
        '--no-tags',
        '--no-recurse-submodules',
        '--no-write-commit-graph',
        '--force',
      ];
      const shallow = history === 'all' && (await pathExists(join(repository, 'shallow')));
      const depth = history === 'none' ? ['--depth=1'] : shallow ? ['--unshallow'] : [];
      await inside(repository, ['fetch', ...always, ...depth, '--', remote.url, ...refs], {
        ...options,
        remote,
      });
    },
    /** The full id of the commit that a name stands for. */
    async commit(repository: string, name: string, { signal }: GitOptions): Promise<string> {
      const words = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
      const [id = ''] = await inside(repository, words, { signal });
      return id;
    },
    /** Whether one commit is in the history of another. */
    async isAncestor(repository: string, older: string, newer: string, { signal }: GitOptions) {
      const words = ['rev-list', '--count', '--max-count=1', '--end-of-options', older, `^${newer}`];
      return (await inside(repository, words, { signal }))[0] === '0';
    },
    /** The entries of a tree with all below it, as lines between zero bytes. */
    async tree(repository: string, tree: string, consume: Consume, options: GitOptions): Promise<void> {
      await inside(repository, ['ls-tree', '-r', '-z', '-l', '--full-tree', '--end-of-options', tree], {
        ...options,
        consume,
      });
    },
    /** The content of objects, one after another, each behind a line with its id, kind and size. */
    async objects(repository: string, ids: readonly string[], consume: Consume, { signal }: GitOptions) {
      const input = ids.map((id) => `${id}\n`).join('');
      await inside(repository, ['cat-file', '--batch'], { signal, input, consume });
    },
  };
}

type Consume = (output: AsyncIterable<Buffer>) => Promise<void>;

/** The hosts that are spoken to are the user's choice, and so are the ways to them. */
const SETTINGS = {
  'http.lowSpeedLimit': '500',
  'http.lowSpeedTime': '30',
  'protocol.version': '2',
  'transfer.bundleURI': 'false',
};

/** The variables of git that say how to reach a host. */
const KEPT =
  /^GIT_(?:SSH(?:_COMMAND|_VARIANT)?|SSL_.*|PROXY_.*|HTTP_(?:USER_AGENT|PROXY_AUTHMETHOD)|EXEC_PATH|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM))$/;

const VARIABLES = {
  GCM_INTERACTIVE: 'never',
  // Other transports can run commands. A user's own rewriting of addresses may lead to any of these.
  GIT_ALLOW_PROTOCOL: 'https:ssh:file',
};

/**
 * In the environment, because all users of the machine can read the arguments of a program. Git would pass the header
 * on to any host it is redirected to, so with our credentials redirects are not followed.
 */
function credentialsOf(remote: GitAddress | undefined): Record<string, string> {
  if (remote?.credentials === undefined) return {};
  const { username, password } = remote.credentials;
  const value = Buffer.from(`${username}:${password}`).toString('base64');
  return {
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: `http.${new URL('/', remote.url).href}.extraHeader`,
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${value}`,
    GIT_CONFIG_KEY_1: 'http.followRedirects',
    GIT_CONFIG_VALUE_1: 'false',
  };
}

/** Git rewrites one line again and again; a message goes out when the tens of the percentage change. */
function percentages(progress: (message: string) => void): (text: string) => void {
  let last = '';
  return (text) => {
    const found = [...text.matchAll(/(Receiving objects|Resolving deltas|Counting objects): +(\d+)%/g)].at(
      -1,
    );
    if (found === undefined) return;
    const message = `${found[1] ?? ''} ${Math.floor(Number(found[2]) / 10) * 10} %`;
    if (message !== last) progress(message);
    last = message;
  };
}

function noGit(): BmadError {
  return new BmadError('unavailable', t`git was not found: it is not installed or not on the PATH.`, {
    hint: t`Install git (https://git-scm.com). Copies fetched earlier are still served.`,
  });
}

function noFolder(folder: string): BmadError {
  return new BmadError('unavailable', t`The folder ${folder} does not exist.`, {
    hint: t`Check the cache folder, or choose another with --cache.`,
  });
}

const shownUrl = (remote: GitAddress | undefined): string => remote?.url ?? t`the repository`;

function tooSlow(remote: GitAddress | undefined, timeoutMs: number): BmadError {
  return new BmadError(
    'unavailable',
    t`${shownUrl(remote)} did not respond within ${Math.round(timeoutMs / 1000)} s.`,
    {
      hint: t`Check the network and the host. BMAD_GIT_TIMEOUT_MS allows more time.`,
    },
  );
}

/** What git says, by its cause. The words of git are given in English whatever the language of the machine is. */
const CAUSES: readonly (readonly [RegExp, 'not_found' | 'unavailable', string, string])[] = [
  [/No space left|disk quota/i, 'unavailable', 'the disk is full', 'Free some space, then try again.'],
  [
    /Host key verification failed/i,
    'unavailable',
    'the ssh host is not known',
    'Connect to it once in a terminal with ssh and check its key.',
  ],
  [
    /dubious ownership/i,
    'unavailable',
    'it belongs to another user of this machine',
    'Allow it with "git config --global --add safe.directory <folder>" if you trust it.',
  ],
  [
    /repository [^\n]{0,200}not found|does not exist|does not appear to be a git repository|No such file or directory|returned error: 404/i,
    'not_found',
    'there is no such repository, or you may not see it',
    'Check the address; for a private repository, check your credentials.',
  ],
  [
    /Authentication failed|could not read (?:Username|Password)|Permission denied|unable to update url base from redirection|terminal prompts disabled|returned error: 40[13]|Invalid username/i,
    'unavailable',
    'it asks for credentials that git does not have',
    'Run "git ls-remote" with this address in a terminal until it works without prompting: use a credential helper, or a key in the ssh agent.',
  ],
  [
    /Could not resolve host|Failed to connect|Couldn't connect|Connection (?:refused|timed out|reset|closed)|Network is unreachable|No route to host|Operation timed out|unable to access|early EOF|hung up unexpectedly/i,
    'unavailable',
    'the host cannot be reached',
    'Check the address and the network.',
  ],
  [
    // The last words of ssh whatever the reason was; the reasons above come first.
    /Could not read from remote repository/i,
    'unavailable',
    'it asks for credentials that git does not have, or does not respond',
    'Run "git ls-remote" with this address in a terminal until it works without prompting: use a key in the ssh agent, or another address.',
  ],
];

function failure(stderr: string, remote: GitAddress | undefined): BmadError {
  const lines = stderr.split(/[\r\n]+/);
  const said = [
    ...lines.filter((line) => /^(?:fatal|error|ssh)\b/i.test(line)),
    // What the host has to say, but not how far it is.
    ...lines.filter((line) => /^remote: (?!(?:Enumerating|Counting|Compressing|Total)\b)\S/i.test(line)),
  ]
    .map((line) => oneLine(visible(stripUrlCredentials(line)), 300))
    .slice(0, 2)
    .join(' ');
  const cause = CAUSES.find(([pattern]) => pattern.test(stderr));
  const [, code, reason, hint] = cause ?? [
    undefined,
    'unavailable' as const,
    t`git failed`,
    t`Try again later.`,
  ];
  return new BmadError(code, `${shownUrl(remote)}: ${say(reason)}${said === '' ? '' : t` (git: ${said})`}.`, {
    hint: say(hint),
  });
}
