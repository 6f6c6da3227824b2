import { once } from '../base/async.ts';
import type { Log } from '../base/log.ts';
import { compareCatalogues } from '../catalogue/changes.ts';
import type { Changes, Workspace } from '../operations/context.ts';
import { createBounded } from './bounded.ts';
import type { Project } from '../sources/project-root.ts';

interface WorkspaceParts {
  /** The project that is meant; without an argument, the one the server runs for. */
  find(project?: string): Promise<Project>;
  open(project: Project): Promise<Workspace>;
  /** Changes when the content a workspace was built from is out of date. */
  version(): Promise<string>;
  log: Log;
}

const KEPT = 8;

const NOTHING = { added: [], changed: [], removed: [], lists: [], files: false } as const;

/** The worlds of the projects that are in use: opened when first asked for, kept, and replaced whole by a refresh. */
export function createWorkspaces({ find, open, version, log }: WorkspaceParts) {
  const kept = createBounded<{ version: string; opened: Promise<Workspace> }>(KEPT);
  const listeners = new Set<(changes: Changes) => void>();
  let current = once(() => find());

  const projectOf = (project: string | undefined): Promise<Project> =>
    project === undefined ? current() : find(project);

  async function get(project?: string): Promise<Workspace> {
    const found = await projectOf(project);
    const key = found.root ?? '';
    const wanted = await version();
    const known = kept.get(key);
    if (known?.version === wanted) return known.opened;
    if (known !== undefined) {
      await refresh(project);
      return (kept.get(key) ?? known).opened;
    }
    const opened = open(found);
    kept.set(key, { version: wanted, opened });
    opened.catch(() => {
      if (kept.get(key)?.opened === opened) kept.delete(key);
    });
    return opened;
  }

  async function rebuild(project: string | undefined): Promise<Changes> {
    // A BMAD folder that has appeared may make another folder the project than before.
    const found = await find(project);
    const previous = project === undefined ? await current().catch(() => found) : found;
    const before = await kept.get(previous.root ?? '')?.opened.catch(() => undefined);
    const wanted = await version();
    const after = await open(found);
    kept.set(found.root ?? '', { version: wanted, opened: Promise.resolve(after) });
    if (project === undefined) current = async () => found;
    const changes = {
      ...(before === undefined ? NOTHING : await compareCatalogues(before.catalogue, after.catalogue)),
      project: found,
      known: before !== undefined,
      current: found.root === (await current().catch(() => undefined))?.root,
    };
    if (changes.known) tell(changes);
    return changes;
  }

  function tell(changes: Changes): void {
    for (const listener of listeners) {
      try {
        listener(changes);
      } catch (error) {
        log.error('listener', { error: error instanceof Error ? error.message : String(error) });
      }
    }
  }

  const waiting = new Map<string, Promise<Changes>>();
  let last: Promise<unknown> = Promise.resolve();

  /** One at a time; callers share one that is still queued. */
  function refresh(project?: string): Promise<Changes> {
    const key = project ?? '';
    const shared = waiting.get(key);
    if (shared !== undefined) return shared;
    const turn = last.then(() => {
      waiting.delete(key);
      return rebuild(project);
    });
    waiting.set(key, turn);
    last = turn.catch(() => undefined);
    return turn;
  }

  return {
    get,
    /** Which project is meant, without reading it. */
    project: projectOf,
    refresh,
    onChange(listener: (changes: Changes) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    /** Something has changed that decides which project the server runs for. */
    lookAgain(): void {
      current = once(() => find());
    },
  };
}
