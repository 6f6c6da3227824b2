import { once } from '../base/async.ts';
import type { Log } from '../base/log.ts';
import { forAll } from '../base/text/message.ts';
import type { Changes, MovedListener, WatchReport, Workspace } from '../operations/context.ts';
import type { Project } from '../sources/project-root.ts';
import type { Settings } from './settings.ts';
import type { ProjectWatch } from './watch-project.ts';
import type { Workspaces } from './workspaces.ts';

export type Watching = ReturnType<typeof createWatching>;

/** After a call, others often follow at once. */
const QUIET_MS = 200;

/**
 * Notices what happens on disk while somebody listens, and once a server that stays has asked for it. Before that nothing is
 * loaded or watched, nor after the last listener has left.
 */
export function createWatching(settings: Settings, workspaces: LateWorkspaces) {
  const listeners = new Set<MovedListener>();
  let open: Promise<ProjectWatch | undefined> | undefined;
  let current: ProjectWatch | undefined;
  let stays = false;

  async function start(): Promise<ProjectWatch | undefined> {
    try {
      const { watchProject } = await import('./watch-project.ts');
      // Whoever has left meanwhile is not waited for.
      if (listeners.size === 0 && !stays) return undefined;
      current = watchProject(settings, workspaces, listeners);
      return current;
    } catch (error) {
      settings.log.error('watching', { error: String(error) });
      return undefined;
    }
  }

  function stop(): void {
    const stopped = open;
    open = undefined;
    current = undefined;
    void stopped?.then((watch) => watch?.close());
  }

  return {
    onMoved(listener: MovedListener): () => void {
      if (settings.config.watch === 'off') return () => undefined;
      listeners.add(listener);
      if (listeners.size === 1) current?.catchUp();
      open ??= start();
      return () => {
        if (listeners.delete(listener) && listeners.size === 0 && !stays) stop();
      };
    },
    /** The server is going to be asked many times. */
    stay(): void {
      // Other systems report changes too late to rely on.
      stays = settings.config.watch === 'auto' && settings.outside.platform === 'linux';
    },
    /** Everything was compared because nobody could answer for it; when there is time, somebody will. */
    compared(): void {
      if (open !== undefined && listeners.size === 0) current?.catchUp();
      if (open === undefined && stays) setTimeout(() => void (stays && (open ??= start())), QUIET_MS).unref();
    },
    watch: () => current?.watch,
    report: (): WatchReport | undefined => current?.report(),
    close(): void {
      stays = false;
      listeners.clear();
      stop();
    },
  };
}

export type LateWorkspaces = ReturnType<typeof lateWorkspaces>;

/**
 * The worlds of projects before the first is asked for, which most starts never do: they are made with the first call. What
 * they report is in English, because every later caller gets it too.
 */
export function lateWorkspaces(make: (tell: (changes: Changes) => void) => Promise<Workspaces>, log: Log) {
  const listeners = new Set<(changes: Changes) => void>();
  let made: Workspaces | undefined;
  const workspaces = once(async () => (made = await make(tell)));

  function tell(changes: Changes): void {
    for (const listener of listeners) {
      try {
        listener(changes);
      } catch (error) {
        log.error('listener', { error: error instanceof Error ? error.message : String(error) });
      }
    }
  }

  return {
    get: async (project?: string): Promise<Workspace> =>
      forAll(async () => (await workspaces()).get(project)),
    project: async (project?: string): Promise<Project> =>
      forAll(async () => (await workspaces()).project(project)),
    refresh: async (project?: string): Promise<Changes> =>
      forAll(async () => (await workspaces()).refresh(project)),
    onChange(listener: (changes: Changes) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    lookAgain: (): void => made?.lookAgain(),
  };
}
