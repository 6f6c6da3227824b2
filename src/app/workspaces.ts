import { createCatchingUp, inTurn } from '../base/async.ts';
import { ours } from '../base/errors.ts';
import { Keeper, type Seen, type Told } from '../base/files/keeper.ts';
import type { CatalogueChanges } from '../catalogue/changes.ts';
import type { Changes, Workspace } from '../operations/context.ts';
import { createBounded } from '../base/values.ts';
import type { Project } from '../sources/project-root.ts';

/** A world, and how it goes on. */
export interface Opened {
  workspace: Workspace;
  /**
   * The same after these places, and nothing else, have changed; nothing where everything has to be found and read again.
   * `files`: which files there are is as it was.
   */
  renewed(changed: readonly string[], files: boolean): Promise<Opened | undefined>;
}

interface WorkspaceParts {
  /** The project that is meant; without a name, the one the server runs for. */
  find(project: string | undefined, seen?: Seen): Promise<Project>;
  open(project: Project, keeper: Keeper): Promise<Opened>;
  /** Changes when the content a workspace was built from is out of date. */
  version(): Promise<string>;
  /** Hears of every world that was read again. */
  tell(changes: Changes): void;
  /** Who may answer for the places of the server's own project. */
  watching?: Told;
}

export type Workspaces = ReturnType<typeof createWorkspaces>;

/** A world, and what it was read from. */
interface Read {
  version: string;
  keeper: Keeper;
  opened: Promise<Opened>;
  /** Whether it has been read, and whether it has been gone on from. */
  isOpen: boolean;
  isSpent: boolean;
  /** What the last comparison has found to be different; nothing where all of it has to be read again. */
  changed: readonly string[] | undefined;
}

const KEPT = 8;

const NOTHING = { added: [], changed: [], removed: [], lists: [], files: false } as const;

/**
 * The worlds of the projects in use: opened when first asked for, and kept. Every call looks at the places that one was
 * read from, or asks the watch that does; if they are not as they were, the call is answered from a new one.
 */
export function createWorkspaces({ find, open, version, tell, watching }: WorkspaceParts) {
  const caughtUp = createCatchingUp();
  const kept = createBounded<Read>(KEPT);
  let current: { project: Promise<Project>; keeper: Keeper } | undefined;
  /** The last one that could be used. */
  let usable: Project | undefined;
  /** Where the world of the server's own project was read last. */
  let served: string | undefined;

  /** Which project the server runs for depends on what is around it. One that can no longer be used stays the project. */
  async function currentProject(): Promise<Project> {
    const known = current;
    const isSame = known !== undefined && (await isFound(known));
    // Those who wait here together look once.
    if (current === undefined || (!isSame && current === known)) current = lookForProject();
    const looked = current;
    try {
      const found = await looked.project;
      if (!isLost(found, usable)) usable = found;
    } catch (error) {
      if (usable === undefined) throw error;
    }
    return usable ?? looked.project;
  }

  const isFound = async ({ project, keeper }: NonNullable<typeof current>): Promise<boolean> =>
    project.then(
      () => keeper.unchanged(),
      () => false,
    );

  function lookForProject(): NonNullable<typeof current> {
    const keeper = new Keeper(watching);
    return { project: find(undefined, keeper), keeper };
  }

  const projectOf = (project: string | undefined): Promise<Project> =>
    project === undefined ? currentProject() : find(project);

  async function get(project?: string): Promise<Workspace> {
    await caughtUp();
    return asItIs(project);
  }

  async function asItIs(project: string | undefined): Promise<Workspace> {
    const found = await projectOf(project);
    const key = keyOf(found);
    const known = kept.get(key);
    const moved = project === undefined && served !== undefined && served !== key;
    if (known === undefined && !moved) return first(found, project);
    if (known !== undefined && !moved && (await isCurrent(known))) return workspaceOf(known);
    const isGone = await find(project).then(
      (again) => isLost(again, found),
      ours(() => true),
    );
    // Of a project that is gone, there is nothing newer to say.
    if (isGone && known !== undefined) return workspaceOf(known);
    await queued(`renew ${project ?? ''}`, async () => {
      const now = kept.get(key);
      // Whoever was before may have read it just now.
      if (now !== undefined && now !== known && (await isCurrent(now))) return;
      if (now === undefined || moved || !(await renew(found, now))) await rebuild(project);
    });
    return workspaceOf(kept.get(key) ?? (await reading(found)));
  }

  const workspaceOf = async ({ opened }: Read): Promise<Workspace> => (await opened).workspace;

  /** Goes on with a world whose files have changed, where that can be said of them alone. */
  async function renew(found: Project, read: Read): Promise<boolean> {
    const { changed, keeper } = read;
    if (changed === undefined || read.isSpent || (await version()) !== read.version) return false;
    const before = await read.opened;
    read.isSpent = true;
    const after = await before.renewed(changed, keeper.drop(changed));
    if (after === undefined) return false;
    kept.set(keyOf(found), { ...read, opened: Promise.resolve(after), isSpent: false });
    await told(found, before.workspace, after.workspace);
    return true;
  }

  async function isCurrent(read: Read): Promise<boolean> {
    const { keeper } = read;
    const soFar = read.isOpen ? undefined : keeper.size;
    await read.opened;
    if ((await version()) !== read.version) {
      read.changed = undefined;
      return false;
    }
    // What was read after the call came is as new as the call wants it.
    if (soFar !== undefined && (await keeper.firstUnchanged(soFar))) return !read.isSpent;
    const changed = await keeper.changed();
    // Once it has been gone on from, the keeper does not ask for what has changed any more: that it finds nothing proves nothing.
    if (read.isSpent) return false;
    read.changed = changed;
    return changed.length === 0;
  }

  async function first(found: Project, project: string | undefined): Promise<Workspace> {
    const key = keyOf(found);
    const read = await reading(found);
    kept.set(key, read);
    if (project === undefined) served = key;
    read.opened.catch(() => {
      if (kept.get(key) === read) kept.delete(key);
    });
    return workspaceOf(read);
  }

  async function reading(found: Project): Promise<Read> {
    const keeper = new Keeper(watching);
    const then = await version();
    const opened = open(found, keeper);
    const read = { version: then, keeper, opened, isOpen: false, isSpent: false, changed: undefined };
    opened.then(
      () => (read.isOpen = true),
      () => undefined,
    );
    return read;
  }

  async function rebuild(project: string | undefined): Promise<Changes> {
    // A BMAD folder that has appeared may make another folder the project than before.
    const looked = project === undefined ? lookForProject() : undefined;
    const found = await (looked?.project ?? find(project));
    const previous = looked === undefined ? keyOf(found) : (served ?? keyOf(found));
    const before = await kept.get(previous)?.opened.catch(() => undefined);
    const read = await reading(found);
    const after = await workspaceOf(read);
    kept.set(keyOf(found), read);
    if (looked !== undefined) {
      current = looked;
      served = keyOf(found);
    }
    return told(found, before?.workspace, after);
  }

  async function told(found: Project, before: Workspace | undefined, after: Workspace): Promise<Changes> {
    const changes = {
      ...(before === undefined ? NOTHING : await differences(before, after)),
      project: found,
      known: before !== undefined,
      current: found.root === (await currentProject().catch(() => undefined))?.root,
    };
    if (changes.known) tell(changes);
    return changes;
  }

  const waiting = new Map<string, Promise<unknown>>();
  const oneByOne = inTurn();

  /** One at a time; callers share what is still queued under the same name. */
  function queued<T>(name: string, work: () => Promise<T>): Promise<T> {
    const shared = waiting.get(name) as Promise<T> | undefined;
    const turn =
      shared ??
      oneByOne(() => {
        waiting.delete(name);
        return work();
      });
    waiting.set(name, turn);
    return turn;
  }

  async function refresh(project?: string): Promise<Changes> {
    await caughtUp();
    return queued(`refresh ${project ?? ''}`, () => rebuild(project));
  }

  return {
    get,
    /** Which project is meant, without reading it. */
    async project(project?: string): Promise<Project> {
      await caughtUp();
      return projectOf(project);
    },
    refresh,
    /** Something has changed that decides which project the server runs for. */
    lookAgain(): void {
      current = undefined;
    },
  };
}

/** Whether there is no project any more where there was one. */
const isLost = ({ root }: Project, before: Project | undefined): boolean =>
  root === undefined && before?.root !== undefined;

async function differences(before: Workspace, after: Workspace): Promise<CatalogueChanges> {
  const { compareCatalogues } = await import('../catalogue/changes.ts');
  return compareCatalogues(before.catalogue, after.catalogue);
}

const keyOf = ({ root }: Project): string => root ?? '';
