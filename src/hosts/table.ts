import { posix, win32 } from 'node:path';
import hosts from '../../assets/hosts/hosts.json' with { type: 'json' };

/** The systems whose paths differ; every other one is treated as Linux. */
export type System = 'linux' | 'darwin' | 'win32';
export type Scope = 'user' | 'project';
export type Format = 'json' | 'yaml' | 'toml';

/** How the server is started; both are absolute, because hosts choose the working folder and often have no PATH. */
export interface Start {
  command: string;
  args: readonly string[];
}

export type Entry = Record<string, unknown>;

/**
 * A path with a base: `~` is the home folder, `<config>` the folder in which the system keeps settings of programs, and
 * `$NAME|…` what a variable says, else what follows.
 */
type PathPattern = string;

interface HostFile {
  /** The paths that the host reads, the one it prefers first. The first that exists is used, otherwise the first. */
  paths: readonly PathPattern[];
  /** Where it differs from system to system; on a Mac some follow the custom of Linux. */
  on?: Partial<Record<System, readonly PathPattern[]>>;
  /** What is added to the entry in this file alone. */
  more?: Entry;
}

export interface Host {
  id: string;
  name: string;
  /** Other words for it. */
  aliases?: readonly string[];
  /** Folders or files that are there once the host has been installed. */
  traces: readonly PathPattern[];
  /** The programs that start it: on the PATH they say that it is there, even if it was never started. */
  programs?: readonly string[];
  format: Format;
  /** The key that holds the servers. */
  key: string;
  user?: HostFile;
  project?: HostFile;
  shape: 'standard' | 'typed' | 'zed' | 'opencode' | 'goose';
  more?: Entry;
  /** The command by which the host adds a server itself, before the command line of the server. */
  own?: string;
  /** What is left to do in the host, whatever its settings are. */
  after?: string;
  /** The folders in which it finds commands, where its own list of ours may come too late. */
  commands?: Record<Scope, PathPattern>;
  /** What its entry has where a person has allowed the tool that runs programs, which it refuses where it cannot ask. */
  approval?: Entry;
  limits?: HostLimits;
}

/** What a host puts up with; what is beyond is cut, left out or given up. */
interface HostLimits {
  /** Tools of all servers together. */
  tools?: number;
  /** How long a server may take to start. */
  startMs?: number;
  /** How long an answer may be. */
  answerBytes?: number;
  /** Where an answer has data beside its text, the model sees the data alone. */
  dataAlone?: true;
}

/** The tool that runs programs. */
export const CONTRACT_TOOL = 'run_completion_contract';
/** Every host that can be connected, where it reads its servers from, and how it writes them. */
export const HOSTS = hosts as readonly Host[];

/** What paths depend on. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  platform: NodeJS.Platform;
}

function systemOf(platform: NodeJS.Platform): System {
  return platform === 'darwin' || platform === 'win32' ? platform : 'linux';
}

/** A path of the table on this system. A variable counts only if it is absolute, so that it cannot point into a project. */
export function placeOf(pattern: string, { env, home, platform }: Surroundings): string {
  const path = platform === 'win32' ? win32 : posix;
  const absolute = (name: string): string | undefined => {
    const value = env[name] ?? '';
    return path.isAbsolute(value) ? value : undefined;
  };
  const variable = /^\$([A-Z_]+)\|(~\/[^/]+)(.*)$/.exec(pattern);
  if (variable !== null) {
    const [, name = '', usual = '', rest = ''] = variable;
    const base = absolute(name) ?? path.join(home, usual.slice(2));
    return path.join(base, rest);
  }
  if (pattern.startsWith('~/')) return path.join(home, pattern.slice(2));
  if (!pattern.startsWith('<config>/')) return path.normalize(pattern);
  const folders: Record<System, () => string> = {
    linux: () => absolute('XDG_CONFIG_HOME') ?? path.join(home, '.config'),
    darwin: () => path.join(home, 'Library', 'Application Support'),
    win32: () => absolute('APPDATA') ?? path.join(home, 'AppData', 'Roaming'),
  };
  return path.join(folders[systemOf(platform)](), pattern.slice('<config>/'.length));
}

/** All paths that a host reads in a scope, the one it prefers first; none where it has no such scope. */
export function pathsOf(
  host: Host,
  scope: Scope,
  surroundings: Surroundings,
  root: string | undefined,
): string[] {
  const file: HostFile | undefined = host[scope];
  if (file === undefined || (scope === 'project' && root === undefined)) return [];
  const patterns = file.on?.[systemOf(surroundings.platform)] ?? file.paths;
  const path = surroundings.platform === 'win32' ? win32 : posix;
  return patterns.map((pattern) =>
    scope === 'project' ? path.join(root ?? '', pattern) : placeOf(pattern, surroundings),
  );
}

const ENDINGS: Readonly<Partial<Record<System, readonly string[]>>> = { win32: ['.cmd', '.exe'] };

/** The places where a shell would find the programs of a host. */
export function programPaths({ programs = [] }: Host, { env, platform }: Surroundings): string[] {
  const path = platform === 'win32' ? win32 : posix;
  const folders = (env['PATH'] ?? env['Path'] ?? '')
    .split(path.delimiter)
    .filter((each) => path.isAbsolute(each));
  const names = programs.flatMap((name) => (ENDINGS[systemOf(platform)] ?? ['']).map((end) => name + end));
  return folders.flatMap((folder) => names.map((name) => path.join(folder, name)));
}
