import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { once } from '../base/async.ts';
import { BmadError } from '../base/errors.ts';
import { keepPrivate } from '../base/files/file-modes.ts';
import { readInside } from '../base/files/files.ts';
import { createLog } from '../base/log.ts';
import { isSecretName } from '../base/secrets/secret-names.ts';
import { createSecrets } from '../base/secrets/secrets.ts';
import { createModel, forSearch } from './built-in-model.ts';
import { loadConfig } from '../config/load.ts';
import { openDelegation } from './delegations.ts';
import {
  PROJECT_CONFIG_FILE,
  PROJECT_LOCK_FILE,
  userCacheFolder,
  userConfigFile,
  userLockFile,
  userStateFolder,
} from '../config/locations.ts';
import { settings, type RawSettings } from '../config/schema.ts';
import { createMemories } from './memories.ts';
import type { Context } from '../operations/context.ts';
import { TOOLS } from '../operations/declared.prepared.ts';
import { checkToolNames, chooseTools } from '../operations/toolsets.ts';
import { createRankings } from './rankings.ts';
import { findProject } from '../sources/project-root.ts';
import { createCodebases } from './codebases.ts';
import { createTeam } from './git-sources.ts';
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
  /** Whether the program waits for content that has to be fetched first; a server answers with what it has. */
  patient: boolean;
  /** Whether callers are others than the user of this machine: they may name only the projects that are allowed. */
  forOthers?: boolean;
}

/** A client that does not answer is not waited for. */
const ROOTS_WAIT_MS = 1_500;

/** The composition root: reads the configuration and puts the parts together. Heavy parts load on first use. */
export async function createContext(outside: Outside): Promise<Context> {
  await keepPrivate([userStateFolder(outside), userCacheFolder(outside), dirname(userConfigFile(outside))]);
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
  const cache = config.cache === undefined ? userCacheFolder(outside) : resolve(outside.cwd, config.cache);
  const model = createModel(config.embedder === 'none' ? undefined : dirname(outside.contentRoot), log);
  const searchModel = forSearch(model, dirname(outside.contentRoot), log);
  const codebases = createCodebases({
    cache,
    writes: !config.readOnly,
    budgetMs: config.codeSearchMs,
    embedder: model,
    background: !outside.patient,
    env: outside.env,
    log,
  });
  const team = await createTeam({
    given: loaded.gathered.git ?? [],
    env: outside.env,
    cache,
    user: { config: userConfigFile(outside), lock: userLockFile(outside) },
    project:
      early?.root === undefined
        ? undefined
        : { config: join(early.root, PROJECT_CONFIG_FILE), lock: join(early.root, PROJECT_LOCK_FILE) },
    timeoutMs: config.gitTimeoutMs,
    approval: config.gitApproval,
    refreshMinutes: config.gitRefresh,
    patient: outside.patient,
    tell: (message) => outside.writeError(`${secrets.redact(message)} …\n`),
    secrets,
    log,
  });
  warnings.push(...team.warnings);
  const tracing = config.traces ? await tracingOr(warnings, from.traces) : undefined;
  for (const warning of warnings) log.warn(warning);

  const rankings = createRankings({
    config,
    state: userStateFolder(outside),
    background: !outside.patient,
    log,
  });
  const ownProject = () => findProject({ ...projectHints(outside), configured: config.project });
  const workspaces = createWorkspaces({
    find: async (project) =>
      findProject({
        ...projectHints(outside),
        roots: clientRoots,
        call: project,
        configured: config.project,
        configuredBy: from.project,
        ...(outside.forOthers === true && project !== undefined
          ? { allowed: [(await ownProject()).root ?? [], config.allowProjects].flat() }
          : {}),
      }),
    async open(project) {
      const { openWorkspace } = await import('./open-workspace.ts');
      return openWorkspace(project, outside, config, { team, rankings, embedder: searchModel, log });
    },
    version: team.version,
    log,
  });
  let clientRoots: readonly string[] = [];
  let rootsKnown: Promise<void> = Promise.resolve();
  /** Which project is meant without a name may depend on what the client says. */
  async function settled<T>(project: string | undefined, then: () => Promise<T>): Promise<T> {
    if (project === undefined) await rootsKnown;
    return then();
  }
  for (const key of [config.qdrantApiKey, config.openaiApiKey, config.httpToken, config.httpSecret])
    if (key !== undefined) secrets.add(key);
  const userState = userStateFolder(outside);
  const memories = createMemories({
    config,
    state: userState,
    modelFolder: dirname(outside.contentRoot),
    hide: (text) => secrets.hide(text),
    log,
    background: !outside.patient,
  });
  const stateSetup = {
    userState,
    hide: (text: string) => secrets.hide(text),
    contract: {
      env: outside.env,
      addedEnv: config.contractEnv,
      platform: outside.platform,
      timeoutMs: config.contractTimeoutMs,
      hide: (text: string) => secrets.redact(text),
    },
  };
  const settingKeys = Object.fromEntries(settings().map(({ name, fileKey }) => [name, fileKey]));
  const tools = chooseTools(TOOLS, { config, configFrom: from, settingKeys });
  // Only a tool that is named and is no fixed one needs the content to be read at the start.
  if (tools.unsettled.length > 0) {
    const workspace = await workspaces.get();
    // A name may be one of a git source that is still to come.
    if (workspace.absent.length === 0) {
      const { loadAgentTools } = await import('../operations/on-demand.ts');
      const { agentToolNames } = await loadAgentTools();
      checkToolNames(tools, [...agentToolNames(workspace, { tools }).keys()]);
    }
  }
  // Only now, so that a start that fails leaves nothing running.
  team.begin(
    () => void workspaces.refresh().catch((error: unknown) => log.info('refresh', { error: String(error) })),
  );
  return {
    config,
    configFrom: from,
    settingKeys,
    configWarnings: warnings,
    tools,
    log,
    secrets,
    tracing,
    workspace: (project) => settled(project, () => workspaces.get(project)),
    refresh: (project) =>
      settled(project, async () => {
        await team.retry();
        return workspaces.refresh(project);
      }),
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
    operation: async (name) => (await import('../operations/on-demand.ts')).loadOperation(name),
    diagnosis: once(async () => {
      const { createDiagnosis } = await import('../services/diagnosis/diagnosis.ts');
      return createDiagnosis({ command: outside.serverCommand, cwd: outside.cwd, env: outside.env });
    }),
    codebase: codebases.of,
    team: team.sources,
    readFolder: async (folder) => (await import('./open-workspace.ts')).readFolder(folder),
    memory: async (project, mayWrite) =>
      memories.of(await settled(project, () => workspaces.project(project)), mayWrite),
    async state(project) {
      const { projectState } = await import('./project-state.ts');
      return projectState(await settled(project, () => workspaces.project(project)), stateSetup);
    },
    usage: async (project) => rankings.usage(await settled(project, () => workspaces.project(project))),
    reranker: rankings.reranker,
    delegation: once(() => openDelegation(config)),
    memoriesAnswer: memories.answer,
    moveMemory: async () => memories.move(await settled(undefined, () => workspaces.project())),
    async readUserFile(path) {
      if (outside.forOthers === true)
        throw new BmadError('forbidden', 'Files of this machine are read at its command line only.');
      const place = resolve(outside.cwd, path);
      return (await readInside(dirname(place), basename(place), config.maxFileBytes)).toString('utf8');
    },
    close() {
      memories.close();
      codebases.stop();
      team.close();
    },
  };
}

/** Without the package everything else goes on; that it is missing is said like any other fault of the settings. */
async function tracingOr(warnings: string[], asked: string): Promise<Context['tracing']> {
  const { openTracing, TRACING_PACKAGE } = await import('../base/process/tracing.ts');
  const tracing = openTracing();
  if (tracing === undefined)
    warnings.push(
      `traces (${asked}): the package ${TRACING_PACKAGE} is not installed, so no spans are made. Install it beside the server.`,
    );
  return tracing;
}

/** Whatever the environment calls a token, a key or a password must not come out again. PWD is the working folder. */
function isSecretVariable(name: string, value: string): boolean {
  return value !== '' && isSecretName(name) && !/^(?:OLD)?PWD$/i.test(name);
}

/** Where the project may be, as far as the surroundings tell. */
export function projectHints({ env, cwd, home }: Outside) {
  return { host: env['CLAUDE_PROJECT_DIR'], cwd, home };
}
