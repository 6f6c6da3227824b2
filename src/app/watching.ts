import type { MovedListener, WatchReport } from '../operations/context.ts';
import type { Settings } from './settings.ts';
import type { ProjectWatch } from './watch-project.ts';
import type { LateWorkspaces } from './late-workspaces.ts';

/**
 * Notices what happens on disk while somebody listens. Nothing is loaded or watched before the first listener, nor after
 * the last has left.
 */
export function createWatching(settings: Settings, workspaces: LateWorkspaces) {
  const listeners = new Set<MovedListener>();
  let open: Promise<ProjectWatch | undefined> | undefined;
  let current: ProjectWatch | undefined;

  async function start(): Promise<ProjectWatch | undefined> {
    try {
      const { watchProject } = await import('./watch-project.ts');
      // Whoever has left meanwhile is not waited for.
      if (listeners.size === 0) return undefined;
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
      open ??= start();
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) stop();
      };
    },
    report: (): WatchReport | undefined => current?.report(),
    close(): void {
      listeners.clear();
      stop();
    },
  };
}
