import { ours } from '../base/expected.ts';
import { Places, type Seen } from '../base/files/places.ts';
import { createCatchingUp } from '../base/files/caught-up.ts';
import type { Witness } from '../base/files/vouch.ts';
import type { CatalogueChanges } from '../catalogue/changes.ts';
import type { Changes, Workspace } from '../operations/context.ts';
import { createBounded } from './bounded.ts';
import type { Opened } from './open-workspace.ts';
import type { Project } from '../sources/project-root.ts';

interface WorkspaceParts {
  /** The project that is meant; without a name, the one the server runs for. */
  find(project: string | undefined, seen?: Seen): Promise<Project>;
  open(project: Project, places: Places): Promise<Opened>;
  /** Changes when the content a workspace was built from is out of date. */
  version(): Promise<string>;
  /** Hears of every world that was read again. */
  tell(changes: Changes): void;
  /** Who may answer for the places of the server's own project, so that not all of them have to be compared. */
  watch?: {
    witness(): Witness | undefined;
    /** All of them were compared. */
    compared(): void;
  };
}

export type Workspaces = ReturnType<typeof createWorkspaces>;

/** A world, and what it was read from. */
interface Read {
  version: string;
  places: Places;
  opened: Promise<Opened>;
  /** Whether it has been read. */
  isOpen: boolean;
  /** Whether something has changed since, and whether all of it has to be read again. */
  isOld: boolean;
  isSpent: boolean;
  /** Until when a watch is believed: no system tells of a file that was written through memory. */
  trustedUntil: number;
}

const KEPT = 8;

/** So much later all is compared before an answer; that takes at most this part of the time. */
const TRUSTED_MS = 10_000;
const COMPARED_SHARE = 100;

const NOTHING = { added: [], changed: [], removed: [], lists: [], files: false } as const;

/**
 * The worlds of the projects in use: opened when first asked for, and kept. Every call looks at the places that one was
 * read from, or asks the watch that does; if they are not as they were, the call is answered from a new one.
 */
export function createWorkspaces({ find, open, version, tell, watch }: WorkspaceParts) {
  const witness = (): Witness | undefined => watch?.witness();
  const caughtUp = createCatchingUp();
  const kept = createBounded<Read>(KEPT);
  let current: { project: Promise<Project>; places: Places } | undefined;
  /** The last one that could be used. */
  let usable: Project | undefined;
  /** Where the world of the server's own project was read last. */
  let served: string | undefined;

  /** Which project the server runs for depends on what is around it. One that can no longer be used stays the project. */
  async function currentProject(): Promise<Project> {
    const known = current;
    const same = known !== undefined && (await isFound(known));
    // Those who wait here together look once.
    const looked =
      same && current === known
        ? known
        : current === known || current === undefined
          ? lookForProject()
          : current;
    current = looked;
    try {
      const found = await looked.project;
      if (!isLost(found, usable)) usable = found;
    } catch (error) {
      if (usable === undefined) throw error;
    }
    return usable ?? looked.project;
  }

  const isFound = async ({ project, places }: NonNullable<typeof current>): Promise<boolean> =>
    project.then(
      async () => places.isVouched() || (await places.changed()).length === 0,
      () => false,
    );

  function lookForProject(): NonNullable<typeof current> {
    const places = new Places(witness);
    return { project: find(undefined, places), places };
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
    await inTurn(`renew ${project ?? ''}`, async () => {
      // Whoever was before may have read it just now.
      const now = kept.get(key);
      if (now !== undefined && now !== known && (await isCurrent(now))) return;
      if (now === undefined || moved || !(await renew(found, now))) await rebuild(project);
    });
    return workspaceOf(kept.get(key) ?? (await reading(found)));
  }

  const workspaceOf = async ({ opened }: Read): Promise<Workspace> => (await opened).workspace;

  /** Goes on with a world whose files have changed, where that can be said of them alone. */
  async function renew(found: Project, read: Read): Promise<boolean> {
    if (!read.isOpen || read.isSpent || (await version()) !== read.version) return false;
    const { places } = read;
    const changed = read.isOld ? places.different : await places.changed();
    const before = await read.opened;
    read.isSpent = true;
    const after = await before.renewed(changed, places.drop(changed));
    if (after === undefined) return false;
    kept.set(keyOf(found), { ...read, opened: Promise.resolve(after), isOld: false, isSpent: false });
    await told(found, before.workspace, after.workspace);
    return true;
  }

  async function isCurrent(read: Read): Promise<boolean> {
    const { opened, version: then, places } = read;
    const soFar = read.isOpen ? undefined : places.size;
    await opened;
    if ((await version()) !== then) return false;
    // What was read after the call came is as new as the call wants it.
    if (soFar !== undefined) return places.firstUnchanged(soFar);
    const isTrusted = performance.now() < read.trustedUntil;
    if (!isTrusted || !places.isVouched()) {
      if (!isTrusted) places.doubt();
      const began = performance.now();
      if (!(await places.unchanged())) read.isOld = true;
      read.trustedUntil = trustedFrom(began);
      watch?.compared();
    }
    return !read.isOld;
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
    const places = new Places(witness);
    const then = await version();
    const opened = open(found, places);
    const trustedUntil = trustedFrom(performance.now());
    const read = { version: then, places, opened, isOpen: false, isOld: false, isSpent: false, trustedUntil };
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
  let last: Promise<unknown> = Promise.resolve();

  /** One at a time; callers share what is still queued under the same name. */
  function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
    const shared = waiting.get(name) as Promise<T> | undefined;
    if (shared !== undefined) return shared;
    const turn = last.then(() => {
      waiting.delete(name);
      return work();
    });
    waiting.set(name, turn);
    last = turn.catch(() => undefined);
    return turn;
  }

  async function refresh(project?: string): Promise<Changes> {
    await caughtUp();
    return inTurn(`refresh ${project ?? ''}`, () => rebuild(project));
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

/** What takes long is done the more seldom. */
const trustedFrom = (began: number): number =>
  performance.now() + Math.max(TRUSTED_MS, (performance.now() - began) * COMPARED_SHARE);

const keyOf = ({ root }: Project): string => root ?? '';
