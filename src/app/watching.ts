import type { MovedListener, WatchReport } from '../operations/context.ts';
import type { Settings } from './settings.ts';
import type { ProjectWatch } from './watch-project.ts';
import type { LateWorkspaces } from './late-workspaces.ts';

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
    witness: () => current?.witness,
    report: (): WatchReport | undefined => current?.report(),
    close(): void {
      stays = false;
      listeners.clear();
      stop();
    },
  };
}
