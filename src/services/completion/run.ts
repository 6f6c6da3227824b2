import { t } from '../../base/text/message.ts';
import { FAMILY_FOLDERS } from '../../base/product.ts';
import { join, relative, resolve, sep } from 'node:path';
import { BmadError, quoted } from '../../base/errors.ts';
import { readInside, realFolder } from '../../base/files/files.ts';
import { isBelow } from '../../base/files/open-file.ts';
import { findProgram, type FoundProgram } from '../../base/files/find-program.ts';
import { runWatched } from '../../base/process/process.ts';
import { nearest } from '../../base/text/suggest.ts';
import { CONTRACT_SCRIPT } from '../../kit/configuration.ts';
import { KIT_STACKS, type KitStack } from '../../kit/stacks.ts';
import type { OutputKeeper } from './output.ts';
import { judge, VerdictReader, type Judgement, type Step } from './verdict.ts';
import { present } from '../../base/values.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What of the outside programs are started with. */
export interface ProgramSetup {
  env: Environment;
  /** Names of further variables that programs of a contract are given. */
  addedEnv: readonly string[];
  platform: NodeJS.Platform;
  timeoutMs: number;
}

/** What runs, where, and for how long. */
export interface RunRequest extends ProgramSetup {
  /** The real path of the project. */
  root: string;
  /** The folder that is verified: below the root, and its real path. */
  folder: string;
  place: string;
  stack: KitStack | undefined;
  /** Where the project's script would be. */
  scriptPath: string;
  keeper: OutputKeeper;
  /** Hears every line that the keeper hears. */
  reader: VerdictReader;
  signal: AbortSignal;
}

export interface RunResult extends Judgement {
  stacks: string[];
  steps: Step[];
  timedOut: boolean;
  exitCode?: number;
  signal?: string;
}

export interface Script {
  /** Below the root. */
  path: string;
  content: Buffer;
}

const SCRIPT_BYTES = 1_000_000;

/** The places of the script in a project, the layout it has first. */
export function scriptPaths(folder: string): string[] {
  return [...new Set([folder, ...FAMILY_FOLDERS])].map((each) => `${each}/${CONTRACT_SCRIPT}`);
}

/** The script of the project; nothing when it has none. A link that leads out of the project is refused. */
export async function findScript(root: string, paths: readonly string[]): Promise<Script | undefined> {
  for (const path of paths) {
    try {
      return { path, content: await readInside(root, path, SCRIPT_BYTES) };
    } catch (error) {
      if (!(error instanceof BmadError)) throw error;
      if (error.code === 'not_found') continue;
      throw new BmadError(error.code, t`The completion script cannot be used. ${error.message}`, {
        subject: path,
        hint: t`Put a readable script of at most ${SCRIPT_BYTES} bytes at ${path}, or remove it to use the built-in checks.`,
      });
    }
  }
  return undefined;
}

/** Bash takes the invisible half of such a line end for a part of the command, and runs half of the script. */
export function refuseWindowsLines({ path, content }: Script): void {
  if (!content.includes('\r\n')) return;
  throw new BmadError('invalid_input', t`${path} has Windows line endings (CRLF), which bash cannot run.`, {
    subject: path,
    hint: t`Convert it, e.g. with "sed -i 's/\\r$//' ${path}", and add the line "*.sh text eol=lf" to .gitattributes.`,
  });
}

/** Runs the script of the project: the folder by position and the stack by variable, which is what all versions take. */
export async function runScript(script: Script, request: RunRequest): Promise<RunResult> {
  const { root, place, stack, keeper, reader, timeoutMs, signal } = request;
  const ended = await runWatched(await bashFor(request), [join(root, script.path), place], {
    cwd: place,
    env: contractEnvironment(request.env, request.addedEnv, {
      CC_STACK: stack && (SCRIPT_NAMES[stack] ?? stack),
    }),
    timeoutMs,
    signal,
    onOutput: (chunk, from) => keeper.add(chunk, from),
  });
  keeper.flush();
  const read = reader.read;
  return {
    ...judge(read, { ...ended, timeoutMs }, stack),
    stacks: read.stacks,
    steps: read.steps,
    timedOut: ended.timedOut,
    ...present({ exitCode: ended.code, signal: ended.signal }),
  };
}

/** The names that the script knows a stack by. */
const SCRIPT_NAMES: Partial<Record<KitStack, string>> = { kubernetes: 'k8s' };

/** On Windows the first bash of the PATH is often that of another system, which knows no paths of this one. */
const GIT_BASH = ['C:\\Program Files\\Git\\bin', 'C:\\Program Files (x86)\\Git\\bin'];

/** Never one of the project's own, which nobody was shown: package managers put folders of it first on the PATH. */
async function bashFor({ env, platform, scriptPath, root }: RunRequest): Promise<FoundProgram> {
  const known = platform === 'win32' ? { before: GIT_BASH } : { after: ['/bin'] };
  const found = await findProgram('bash', { env, besides: [root], ...known });
  if (found !== undefined) return found;
  throw new BmadError('unavailable', t`${scriptPath} needs bash, which is not on the PATH.`, {
    hint: t`Install bash (on Windows it comes with Git), then try again.`,
  });
}

interface Folder {
  /** Below the root, with slashes; `.` for the root itself. */
  folder: string;
  place: string;
}

/** The folder that is to be verified: there, a folder, and inside the project also after links are followed. */
export async function folderInside(root: string, wanted: string | undefined): Promise<Folder> {
  const place = resolve(root, wanted ?? '.');
  const outside = (): BmadError =>
    new BmadError('forbidden', t`${quoted(wanted ?? '')} is outside the project.`, {
      subject: 'working_dir',
      hint: t`Name a folder inside the project, relative to its root; links that lead outside are not followed.`,
    });
  const inside = (path: string): boolean => isBelow(root, path);
  const real = await realFolder(place);
  // Whether something exists outside is nobody's business.
  if (!inside(place) && (real === undefined || !inside(real))) throw outside();
  if (real === undefined)
    throw new BmadError('not_found', t`There is no folder ${quoted(wanted ?? '')} in the project.`, {
      subject: 'working_dir',
      hint: t`Name a folder inside the project, relative to its root, or omit it to verify the whole project.`,
    });
  if (!inside(real)) throw outside();
  return { folder: relative(root, real).split(sep).join('/') || '.', place: real };
}

/**
 * The variables that programs of a contract are given. Everything else stays with the server: what hosts hand to an MCP
 * server are often keys, and a script that prints its environment would show them.
 */
const GIVEN = new Set(
  (
    'PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TEMP TMP ' +
    // Where toolchains and their caches are.
    'GOPATH GOROOT GOCACHE GOMODCACHE GOFLAGS JAVA_HOME VIRTUAL_ENV PYENV_ROOT PYENV_VERSION NVM_DIR NVM_BIN VOLTA_HOME ' +
    'FNM_DIR ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR BUN_INSTALL PNPM_HOME CARGO_HOME RUSTUP_HOME DENO_DIR ' +
    'XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR DOCKER_HOST DOCKER_CONTEXT KUBECONFIG TF_DATA_DIR ' +
    // What Windows cannot do without.
    'SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERPROFILE USERNAME APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES ' +
    'PROGRAMFILES(X86) HOMEDRIVE HOMEPATH NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE'
  ).split(' '),
);

/** What programs are told whatever the server was told: nobody watches, and there are no colours. */
const SET = { CI: 'true', NO_COLOR: '1', TERM: 'dumb' };

/** The environment of a contract's programs: the names above, those the user has added, and our own. */
export function contractEnvironment(
  env: Environment,
  added: readonly string[],
  own: Environment = {},
): Record<string, string> {
  const wanted = new Set(added);
  const given = Object.entries(env).filter(
    ([name]) => GIVEN.has(name.toUpperCase()) || /^LC_[A-Z]+$/.test(name) || wanted.has(name),
  );
  return Object.fromEntries(
    Object.entries({ ...Object.fromEntries(given), ...SET, ...own }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );
}

/** Other names people and hosts use. */
const OTHER_NAMES: Readonly<Record<string, KitStack>> = {
  ts: 'typescript',
  javascript: 'typescript',
  js: 'typescript',
  node: 'typescript',
  react: 'typescript',
  golang: 'go',
  py: 'python',
  tf: 'terraform',
  k8s: 'kubernetes',
  sh: 'shell',
  bash: 'shell',
};

/** The stack a caller means; nothing for `auto`, which the kit's script does not know. */
export function stackNamed(name: string | undefined): KitStack | undefined {
  const wanted = name?.trim().toLowerCase() ?? 'auto';
  if (wanted === 'auto') return undefined;
  const known = KIT_STACKS.find((stack) => stack === wanted) ?? OTHER_NAMES[wanted];
  if (known !== undefined) return known;
  throw new BmadError('invalid_input', t`There is no stack ${quoted(name ?? '')}.`, {
    subject: 'stack',
    suggestions: nearest(wanted, KIT_STACKS, 1),
    hint: t`Stacks: auto, ${KIT_STACKS.join(', ')} (short forms: k8s, ts, py, tf, sh).`,
  });
}
