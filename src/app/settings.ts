import { dirname, join, resolve } from 'node:path';
import { once } from '../base/async.ts';
import { BmadError, quoted } from '../base/errors.ts';
import { keepPrivate } from '../base/files/file-modes.ts';
import { createLog, type Log } from '../base/log.ts';
import { createSecrets, type Secrets } from '../base/secrets/rules.ts';
import { isSecretName } from '../base/secrets/names.ts';
import { type Said, t } from '../base/text/message.ts';
import { type ConfigInput, loadConfig, type LoadedConfig } from '../config/load.ts';
import {
  ignoredVariables,
  PROJECT_CONFIG_FILE,
  userCacheFolder,
  userConfigFile,
  userStateFolder,
} from '../config/locations.ts';
import type { Config, RawSettings } from '../config/schema.ts';
import type { StateDatabase } from '../services/shared-state/shared-state.ts';
import { findProject, type Project } from '../sources/project-root.ts';
import { realFolder } from '../base/files/files.ts';

/** What the programs know about the outside world; nothing else reads it. */
export interface Outside {
  flags: RawSettings;
  /** Defaults of this program that differ from the common ones. */
  presets: RawSettings;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  home: string;
  platform: NodeJS.Platform;
  /** Folder of the built-in BMAD content. */
  contentRoot: string;
  /** Program and arguments that start the MCP server. */
  serverCommand: readonly [string, ...string[]];
  /** Program and arguments that start the command line, where it need not be on the user's PATH. */
  ownProgram?: readonly string[];
  writeError(text: string): void;
  /** Says what is going on before a call can; not there where nobody waits for it. */
  tell?(message: string): void;
  /** Whether stderr is a terminal that a person looks at. */
  terminal: boolean;
  /** Whether the program waits for content that has to be fetched first; a server answers with what it has. */
  patient: boolean;
  /** Whether callers are others than the user of this machine: they may name only the projects that are allowed. */
  forOthers?: boolean;
  /** Projects that the user has opened in other ways, which calls may name as well. */
  knownProjects?(): Promise<readonly string[]>;
}

/** What is known before any part is made. */
export interface Settings extends LoadedConfig {
  /** Reads the configuration again, as it is now in these files. */
  load(): Promise<LoadedConfig>;
  configFiles: readonly string[];
  outside: Outside;
  /** The project whose file was read, as far as it is known without the configuration. */
  root: string | undefined;
  /** The user's folders for what is kept and for what can be made again. */
  state: string;
  cache: string;
  /** These and the one of the user's configuration are for the user alone. */
  privateFolders: readonly string[];
  /** The folder of everything that is built in. */
  builtIn: string;
  secrets: Secrets;
  log: Log;
  team: TeamDatabase;
}

export async function readSettings(outside: Outside): Promise<Settings> {
  const state = userStateFolder(outside);
  const userCache = userCacheFolder(outside);
  const privateFolders = ownFolders(outside);
  await keepPrivate(privateFolders);
  const secrets = createSecrets();
  for (const [name, value] of Object.entries(outside.env))
    if (value !== undefined && isSecretVariable(name, value)) secrets.add(value);
  const { flags, env, presets, writeError: write } = outside;
  const root = await earlyRoot(outside);
  const files = configFiles(outside, root);
  const load = (): Promise<LoadedConfig> => loadConfig({ flags, env, presets, files });
  const loaded = await load();
  const { config } = loaded;
  for (const name of ignoredVariables(outside))
    loaded.warnings.push(t`${name} is not an absolute path and is ignored.`);
  for (const key of [config.qdrantApiKey, config.openaiApiKey, config.httpToken, config.httpSecret])
    if (key !== undefined) secrets.add(key);
  return {
    ...loaded,
    load,
    configFiles: files.map((file) => file.path),
    outside,
    root,
    state,
    privateFolders,
    cache: config.cache === undefined ? userCache : resolve(outside.cwd, config.cache),
    builtIn: dirname(outside.contentRoot),
    secrets,
    log: createLog({ level: config.logLevel, write, json: !outside.terminal, secrets }),
    team: teamDatabase(config, { root, cwd: outside.cwd, secrets }),
  };
}

/** The project, as far as it is known without the configuration. */
export async function earlyRoot(outside: Outside): Promise<string | undefined> {
  const { flags, env } = outside;
  const named = [flags.project ?? []].flat().at(-1) ?? (env['BMAD_PROJECT_ROOT'] || undefined);
  const early = await findProject({ ...projectHints(outside), configured: named }).catch(() => undefined);
  return early?.root;
}

/** The configuration files, the stronger first. */
export function configFiles(outside: Outside, root: string | undefined): ConfigInput['files'] {
  const path = join(root ?? '', PROJECT_CONFIG_FILE);
  return [
    ...(root === undefined ? [] : [{ label: 'project file', path, ofProject: true as const }]),
    { label: 'user file', path: userConfigFile(outside) },
  ];
}

/** Whatever the environment calls a token, a key or a password must not come out again. PWD is the working folder. */
function isSecretVariable(name: string, value: string): boolean {
  return value !== '' && isSecretName(name) && !/^(?:OLD)?PWD$/i.test(name);
}

/** Where the project may be, as far as the surroundings tell, and where it cannot be. */
export function projectHints(outside: Outside, config?: Config) {
  const { env, cwd, home, platform } = outside;
  const cache = config?.cache === undefined ? [] : [resolve(cwd, config.cache)];
  return {
    host: env['CLAUDE_PROJECT_DIR'],
    cwd,
    home,
    platform,
    own: [...ownFolders(outside), ...cache],
    configured: config?.project,
  };
}

function ownFolders(outside: Outside): string[] {
  return [userStateFolder(outside), userCacheFolder(outside), dirname(userConfigFile(outside))];
}

export function rootOf({ root, from }: Project): string {
  if (root !== undefined) return root;
  throw new BmadError('invalid_input', t`There is no project to read state from (${from}).`, {
    hint: t`Start the server in a project, or name its folder with --project or BMAD_PROJECT_ROOT.`,
  });
}

/** The database that has the lines of projects, where one is set: one connection for all of them, opened with its first use. */
interface TeamDatabase {
  get(): Promise<StateDatabase | undefined>;
  /** Another one. The caller closes it. */
  at(given: string): Promise<StateDatabase>;
  /** Why it could not be used last; nothing where it could, or where there is none. */
  trouble(): BmadError | undefined;
  close(): void;
}

function teamDatabase(
  { state, projectKey }: Config,
  { root, cwd, secrets }: { root: string | undefined; cwd: string; secrets: Secrets },
): TeamDatabase {
  // What it is called is said by the file of the project that the server was started for.
  const named = (folder: string): string | undefined => (folder === root ? projectKey : undefined);
  let opened: StateDatabase | undefined;
  const at = async (given: string): Promise<StateDatabase> => {
    const { isDatabaseAddress, StateDatabase } = await import('../services/shared-state/shared-state.ts');
    const address = isDatabaseAddress(given) ? given : resolve(cwd, given);
    return StateDatabase.at(address, named, (password) => secrets.add(password));
  };
  return {
    get: once(async () => (opened = state === undefined ? undefined : await at(state))),
    at,
    trouble: () => opened?.trouble,
    close: () => void opened?.close(),
  };
}

export interface ServedProjects {
  /** The one of calls that name none. */
  own: Project;
  allowed: readonly string[];
}

/**
 * What a server over HTTP serves. A folder that is not there is refused: its owner would learn of the mistake only when the
 * calls of others are.
 */
export async function servedProjects(
  outside: Outside,
  config: Config,
  configFrom: { readonly project: Said; readonly allowProjects: Said },
): Promise<ServedProjects> {
  const own = await findProject({ ...projectHints(outside, config), configuredBy: configFrom.project });
  const allowed: string[] = [];
  for (const folder of config.allowProjects) {
    const real = await realFolder(resolve(outside.cwd, folder));
    if (real === undefined)
      throw new BmadError('invalid_input', t`--allow-project: there is no folder ${quoted(folder)}.`, {
        hint: t`Name an existing folder. The value comes from ${configFrom.allowProjects}.`,
      });
    allowed.push(real);
  }
  return { own, allowed };
}
