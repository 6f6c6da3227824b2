import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { once } from '../base/async.ts';
import { PROJECT_CONFIG_FILE, PROJECT_LOCK_FILE, userConfigFile, userLockFile } from '../config/locations.ts';
import { diskSeenBy } from '../sources/tree.ts';
import { findProject, type Project } from '../sources/project-root.ts';
import { createCodebases, createModel, forSearch, openBuiltIn } from './codebases.ts';
import { createServedSources, type ServedSources } from './git-sources.ts';
import { createWatching, lateWorkspaces, type Watching } from './watching.ts';
import { createMemories } from './memories.ts';
import type { WorkspaceParts } from './served-workspace.ts';
import { createRankings } from './rankings.ts';
import { projectHints, type Settings } from './settings.ts';

export type Parts = Awaited<ReturnType<typeof createParts>>;

/** The parts of the application. Each loads what is heavy when it is first used. */
export async function createParts(settings: Settings) {
  const { config, builtIn, log } = settings;
  const table = openBuiltIn(builtIn);
  const model = createModel(config.embedder === 'none' ? undefined : table, log);
  const gitSources = await openGitSources(settings);
  const configured = once(async () => {
    const { liveSettings } = await import('./open-workspace.ts');
    return liveSettings(settings, gitSources);
  });
  const rankings = createRankings(settings);
  const roots = new ClientRoots();
  const embedder = forSearch(model, builtIn, log);
  const own = { gitSources, rankings, embedder, readings: new Map() };
  const workspaces = openWorkspaces(settings, roots, own, { configured, watching: () => watching });
  const watching: Watching = createWatching(settings, workspaces);
  const memories = createMemories(settings, table);
  return {
    /** As they are named now. */
    async team() {
      await (
        await configured()
      )();
      return gitSources.sources();
    },
    gitSources,
    rankings,
    roots,
    workspaces,
    watching,
    codebases: createCodebases(settings, model),
    memories,
    async projectState(project: Project) {
      const { projectState } = await import('./project-state.ts');
      return projectState(project, settings, memories, watching);
    },
  };
}

function openGitSources(settings: Settings): Promise<ServedSources> {
  const { outside, config, gathered, root, state, cache, secrets, log } = settings;
  const inProject = (file: string): string => join(root ?? '', file);
  return createServedSources({
    given: gathered.git ?? [],
    used: () => config.discovery === 'auto' || config.discovery === 'strict',
    env: outside.env,
    state,
    cache,
    decisions: async () => (await import('./project-state.ts')).decisionBook(settings),
    user: { config: userConfigFile(outside), lock: userLockFile(outside) },
    project:
      root === undefined
        ? undefined
        : { config: inProject(PROJECT_CONFIG_FILE), lock: inProject(PROJECT_LOCK_FILE), inside: root },
    timeoutMs: config.gitTimeoutMs,
    approval: config.gitApproval,
    refreshMinutes: config.gitRefresh,
    patient: outside.patient,
    tell: (message) => outside.tell?.(secrets.redact(message)),
    secrets,
    log,
  });
}

function openWorkspaces(
  settings: Settings,
  roots: ClientRoots,
  parts: WorkspaceParts,
  { configured, watching }: { configured(): Promise<() => Promise<number>>; watching(): Watching },
) {
  const { outside, config, from, log } = settings;
  return lateWorkspaces(async (tell) => {
    const { createWorkspaces, openWorkspace } = await import('./open-workspace.ts');
    return createWorkspaces({
      tell,
      watching: watching(),
      find: async (call, seen) =>
        findProject({
          ...projectHints(outside, config),
          roots: roots.folders,
          call,
          disk: diskSeenBy(seen),
          configuredBy: from.project,
          allowed:
            call === undefined ? [] : [...config.allowProjects, ...((await outside.knownProjects?.()) ?? [])],
          ...(outside.forOthers === true ? { fixed: true } : {}),
        }),
      open: (project, keeper) => openWorkspace(project, settings, parts, keeper),
      version: async () => `${await (await configured())()} ${await parts.gitSources.version()}`,
    });
  }, log);
}

/** A client that does not respond is not given more time. */
const WAIT_MS = 1_500;

/** The folders that the client works in: which project is meant without a name may depend on them. */
class ClientRoots {
  folders: readonly string[] = [];
  /** Settled when the client has answered, or has had time to. */
  known: Promise<void> = Promise.resolve();

  offer(folders: Promise<readonly string[]>, changed: () => void): void {
    this.known = (async () => {
      try {
        this.folders = await Promise.race([folders, setTimeout(WAIT_MS, [], { ref: false })]);
        changed();
      } catch {
        // A client that cannot tell where it works is one that says nothing.
      }
    })();
  }
}
