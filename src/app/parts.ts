import { join } from 'node:path';
import { PROJECT_CONFIG_FILE, PROJECT_LOCK_FILE, userConfigFile, userLockFile } from '../config/locations.ts';
import { findProject, type Project } from '../sources/project-root.ts';
import { createModel, forSearch } from './built-in-model.ts';
import { ClientRoots } from './client-roots.ts';
import { createCodebases } from './codebases.ts';
import { createServedSources, type ServedSources } from './git-sources.ts';
import { createMemories } from './memories.ts';
import { createRankings, type Rankings } from './rankings.ts';
import { projectHints, type Settings } from './settings.ts';
import { createWorkspaces, type Workspaces } from './workspaces.ts';

export type Parts = Awaited<ReturnType<typeof createParts>>;

/** The parts of the application. Each loads what is heavy when it is first used. */
export async function createParts(settings: Settings) {
  const { outside, config, state, cache, builtIn, secrets, log } = settings;
  const { env, platform, patient } = outside;
  const hide = (text: string): string => secrets.hide(text);
  const embedder = createModel(config.embedder === 'none' ? undefined : builtIn, log);
  const writes = !config.readOnly;
  const budgetMs = config.codeSearchMs;
  const gitSources = await openGitSources(settings);
  const rankings = createRankings({ config, state, background: !patient, log });
  const roots = new ClientRoots();
  const workspaces = openWorkspaces(settings, roots, {
    gitSources,
    rankings,
    embedder: forSearch(embedder, builtIn, log),
  });
  return {
    gitSources,
    rankings,
    roots,
    workspaces,
    codebases: createCodebases({ cache, writes, budgetMs, embedder, background: !patient, env, log }),
    memories: createMemories({ config, state, modelFolder: builtIn, hide, log, background: !patient }),
    async projectState(project: Project) {
      const { projectState } = await import('./project-state.ts');
      return projectState(project, {
        userState: state,
        hide,
        completion: {
          env,
          addedEnv: config.contractEnv,
          platform,
          timeoutMs: config.contractTimeoutMs,
          hide: (text) => secrets.redact(text),
        },
      });
    },
  };
}

function openGitSources({
  outside,
  config,
  gathered,
  root,
  cache,
  secrets,
  log,
}: Settings): Promise<ServedSources> {
  const inProject = (file: string): string => join(root ?? '', file);
  return createServedSources({
    given: gathered.git ?? [],
    env: outside.env,
    cache,
    user: { config: userConfigFile(outside), lock: userLockFile(outside) },
    project:
      root === undefined
        ? undefined
        : { config: inProject(PROJECT_CONFIG_FILE), lock: inProject(PROJECT_LOCK_FILE) },
    timeoutMs: config.gitTimeoutMs,
    approval: config.gitApproval,
    refreshMinutes: config.gitRefresh,
    patient: outside.patient,
    tell: (message) => outside.writeError(`${secrets.redact(message)} …\n`),
    secrets,
    log,
  });
}

function openWorkspaces(
  { outside, config, from, log }: Settings,
  roots: ClientRoots,
  parts: { gitSources: ServedSources; rankings: Rankings; embedder: ReturnType<typeof forSearch> },
): Workspaces {
  const hints = { ...projectHints(outside), configured: config.project };
  /** Callers from outside may name the server's own project and those that are allowed. */
  const allowed = async (): Promise<{ allowed: string[] }> => ({
    allowed: [(await findProject(hints)).root ?? [], config.allowProjects].flat(),
  });
  return createWorkspaces({
    find: async (call) =>
      findProject({
        ...hints,
        roots: roots.folders,
        call,
        configuredBy: from.project,
        ...(outside.forOthers === true && call !== undefined ? await allowed() : {}),
      }),
    async open(project) {
      const { openWorkspace } = await import('./open-workspace.ts');
      return openWorkspace(project, outside, config, { ...parts, log });
    },
    version: parts.gitSources.version,
    log,
  });
}
