import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { once } from './base/async.ts';
import { BmadError } from './base/errors.ts';
import { realFolder } from './base/files.ts';
import { createLog, type Log } from './base/log.ts';
import { isSecretName } from './base/secret-names.ts';
import { createSecrets } from './base/secrets.ts';
import { loadConfig } from './config/load.ts';
import { PROJECT_CONFIG_FILE, userConfigFile } from './config/locations.ts';
import { settings, type Config, type RawSettings } from './config/schema.ts';
import type { Context, Workspace } from './operations/context.ts';
import { findProject, type Project } from './sources/project-root.ts';
import { folderTree } from './sources/tree.ts';
import { createWorkspaces } from './workspaces.ts';

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
  writeError(text: string): void;
  /** Whether stderr is a terminal that a person looks at. */
  terminal: boolean;
}

/** A client that does not answer is not waited for. */
const ROOTS_WAIT_MS = 1_500;

/** The composition root: reads the configuration and puts the parts together. Heavy parts load on first use. */
export async function createContext(outside: Outside): Promise<Context> {
  const secrets = createSecrets();
  for (const [name, value] of Object.entries(outside.env)) {
    if (value !== undefined && isSecretVariable(name, value)) secrets.add(value);
  }
  const early = await findProject({
    ...projectHints(outside),
    configured:
      [outside.flags.project ?? []].flat().at(-1) ?? (outside.env['BMAD_PROJECT_ROOT'] || undefined),
  }).catch(() => undefined);
  const loaded = await loadConfig({
    flags: outside.flags,
    env: outside.env,
    presets: outside.presets,
    files: [
      ...(early?.root === undefined
        ? []
        : [{ label: 'project file', path: join(early.root, PROJECT_CONFIG_FILE), ofProject: true as const }]),
      { label: 'user file', path: userConfigFile(outside) },
    ],
  });
  const { config, from, warnings } = loaded;
  const log = createLog({
    level: config.logLevel,
    write: outside.writeError,
    json: !outside.terminal,
    secrets,
  });
  for (const warning of warnings) log.warn(warning);

  const workspaces = createWorkspaces({
    find: (project) =>
      findProject({
        ...projectHints(outside),
        roots: clientRoots,
        call: project,
        configured: config.project,
        configuredBy: from.project,
      }),
    open: (project) => openWorkspace(project, outside, config, log),
    log,
  });

  let clientRoots: readonly string[] = [];
  let rootsKnown: Promise<void> = Promise.resolve();
  /** Which project is meant without a name may depend on what the client says. */
  async function settled<T>(project: string | undefined, then: () => Promise<T>): Promise<T> {
    if (project === undefined) await rootsKnown;
    return then();
  }
  return {
    config,
    configFrom: from,
    settingKeys: Object.fromEntries(settings().map(({ name, fileKey }) => [name, fileKey])),
    configWarnings: warnings,
    log,
    secrets,
    workspace: (project) => settled(project, () => workspaces.get(project)),
    refresh: (project) => settled(project, () => workspaces.refresh(project)),
    onChange: (listener) => workspaces.onChange(listener),
    offerRoots(folders) {
      rootsKnown = (async () => {
        try {
          clientRoots = await Promise.race([folders, setTimeout(ROOTS_WAIT_MS, [], { ref: false })]);
          workspaces.lookAgain();
        } catch {
          // A client that cannot tell where it works is one that says nothing.
        }
      })();
    },
    async describeProject() {
      try {
        return (await settled(undefined, () => workspaces.get())).project;
      } catch (error) {
        return { root: undefined, from: error instanceof BmadError ? error.message : 'it cannot be opened' };
      }
    },
    diagnosis: once(async () => {
      const { createDiagnosis } = await import('./services/diagnosis/diagnosis.ts');
      return createDiagnosis({ command: outside.serverCommand, cwd: outside.cwd, env: outside.env });
    }),
  };
}

/** Whatever the environment calls a token, a key or a password must not come out again. PWD is the working folder. */
function isSecretVariable(name: string, value: string): boolean {
  return value !== '' && isSecretName(name) && !/^(?:OLD)?PWD$/i.test(name);
}

function projectHints({ env, cwd, home }: Outside) {
  return { host: env['CLAUDE_PROJECT_DIR'], cwd, home };
}

/** Finds and reads everything for one project. What it needs is loaded here, after the first answer to the client. */
async function openWorkspace(
  project: Project,
  outside: Outside,
  config: Config,
  log: Log,
): Promise<Workspace> {
  const [{ packageSource }, { discoverSources }, { buildCatalogue }, { readers }, { createDelivery }] =
    await Promise.all([
      import('./sources/package.ts'),
      import('./sources/discover.ts'),
      import('./catalogue/build.ts'),
      import('./readers/index.ts'),
      import('./services/delivery/delivery.ts'),
    ]);
  const { maxFileBytes, discovery } = config;
  const { sources, warnings } = await discoverSources({
    mode: discovery,
    project: project.root,
    paths: config.paths.map((path) => resolve(outside.cwd, path)),
    root: config.root === undefined ? undefined : resolve(outside.cwd, config.root),
    home: outside.home,
    maxFileBytes,
  });
  for (const warning of warnings) log.warn(warning);
  if (discovery === 'auto') sources.push(await packageSource(outside.contentRoot, maxFileBytes));
  const catalogue = await buildCatalogue(sources, readers);
  return {
    project,
    warnings,
    catalogue,
    delivery: createDelivery({
      catalogue,
      projectRoot: project.root,
      async projectBmad() {
        const folder = project.root === undefined ? undefined : await realFolder(join(project.root, '_bmad'));
        return folder === undefined ? undefined : folderTree(folder, maxFileBytes);
      },
      today: () => new Date().toISOString().slice(0, 10),
    }),
    search: once(async () => {
      const { createSearch } = await import('./services/search/search.ts');
      return createSearch(catalogue);
    }),
  };
}
