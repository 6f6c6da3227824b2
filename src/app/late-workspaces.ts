import { once } from '../base/async.ts';
import type { Log } from '../base/log.ts';
import type { Changes, Workspace } from '../operations/context.ts';
import type { Project } from '../sources/project-root.ts';
import type { Workspaces } from './workspaces.ts';

export type LateWorkspaces = ReturnType<typeof lateWorkspaces>;

/** The worlds of projects before the first is asked for, which most starts never do: they are made with the first call. */
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
    get: async (project?: string): Promise<Workspace> => (await workspaces()).get(project),
    project: async (project?: string): Promise<Project> => (await workspaces()).project(project),
    refresh: async (project?: string): Promise<Changes> => (await workspaces()).refresh(project),
    onChange(listener: (changes: Changes) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    lookAgain: (): void => made?.lookAgain(),
  };
}
