import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { breath } from '../async.ts';
import { attempt, systemCode } from '../errors.ts';
import { farFolder, tellsAtOnce, watchesAllowed } from './file-systems.ts';
import { lstatOf } from './file-stamps.ts';
import { Keeper, type Watch, type WatchedFolder } from './keeper.ts';
import { upwards } from './open-file.ts';

/** A folder that something may happen in: only what is directly in it, or all that is below it as well. */
export interface Place {
  path: string;
  deep?: boolean;
}

/** Why a place is looked at now and then, instead of the system telling what happens in it. */
type WhyPolled = 'asked' | 'far' | 'many' | 'limit';

export interface WatchReport {
  /** Folders of which the system tells what happens in them. */
  folders: number;
  polled: { path: string; why: WhyPolled; code?: string }[];
}

export interface FolderWatch {
  /** Watches these from now on, in this order where there are too many; what is watched already stays so. */
  follow(places: readonly Place[]): Promise<void>;
  report(): WatchReport;
  /** What it knows of the folders it watches, for those who would otherwise look at every file. */
  readonly watch: Watch;
  close(): void;
}

export interface WatchOptions {
  /** Looks itself, everywhere: for disks whose changes the system does not tell. */
  polls?: boolean;
  /** Folders that are watched at once: half of those that the system allows a user, since editors watch some as well. */
  most?: number;
  pollMs?: number;
  /** Whether somebody wants to hear that something has moved: only then does it look itself. */
  isHeard?: () => boolean;
  platform?: NodeJS.Platform;
}

const POLL_MS = 1_000;
/** Looking takes at most this part of the time: a page that is open must cost next to nothing, however large the project is. */
const POLL_SHARE = 150;
/** After this time a place that the system had no room for is tried again. */
const RETRY_MS = 60_000;
/** What is beyond this goes unnoticed until somebody asks, rather than keep the disk busy. */
const MOST_LOOKED_AT = 50_000;

/** These systems watch a whole tree with one handle. */
const WHOLE_TREES: ReadonlySet<NodeJS.Platform> = new Set(['darwin', 'win32']);

/** Nothing for what is not there yet: that is no fault. */
interface Reason {
  why?: WhyPolled;
  code?: string;
}

interface Polled extends Reason {
  place: Place;
  /** How it was at the last look; nothing while nobody wants to hear of it, or where not all of it could be seen. */
  seen: Keeper | undefined;
  /** When the system is asked again. */
  until: number;
}

/**
 * Notices that something in some folders has moved, and nothing more: what it means has to be found out by looking.
 * Neither the handles nor the timers keep the process alive.
 */
export function watchFolders(
  moved: () => void,
  {
    polls = false,
    most = watchesAllowed() / 2,
    pollMs = POLL_MS,
    isHeard = () => true,
    platform = process.platform,
  }: WatchOptions = {},
): FolderWatch {
  const handles = new WatchHandles(moved);
  let polled: Polled[] = [];
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let last: Promise<void> = Promise.resolve();

  async function settle(places: readonly Place[]): Promise<void> {
    const before = new Map(polled.map((each) => [keyOf(each.place), each]));
    handles.dropLeft();
    const wanted = new Set<string>();
    const now: Polled[] = [];
    const absent: Place[] = [];
    const poll = async (place: Place, reason: Reason): Promise<void> => {
      const known = before.get(keyOf(place));
      const isSame = known?.why === reason.why && known?.code === reason.code;
      const seen = known?.seen ?? (isHeard() ? await lookedAt(place) : undefined);
      now.push({
        place,
        ...reason,
        seen,
        until: (isSame ? known?.until : undefined) ?? Date.now() + RETRY_MS,
      });
    };
    for (const place of places) {
      const known = before.get(keyOf(place));
      const isFull = known?.why === 'limit' && Date.now() < known.until;
      const found = isFull ? known : ((await reasonFor(place)) ?? (await opened(place, wanted)));
      if (closed) return;
      if (!(found instanceof Set)) await poll(place, found);
      else if (found.size === 0) absent.push(place);
      else for (const folder of found) wanted.add(folder);
    }
    // One that is not there yet is noticed in the folder it would be in, if that is watched.
    for (const place of absent) if (!wanted.has(dirname(place.path))) await poll(place, {});
    if (closed) return;
    handles.keep(wanted);
    polled = now;
    schedule(pollMs);
  }

  async function reasonFor({ path }: Place): Promise<Reason | undefined> {
    if (polls) return { why: 'asked' };
    const far = await farFolder(path);
    return far === undefined ? undefined : { why: 'far', code: far };
  }

  /** The folders of a place, all of them watched; or why they cannot be. Each is watched before what is in it is listed. */
  async function opened({ path, deep }: Place, wanted: ReadonlySet<string>): Promise<Set<string> | Reason> {
    const top = await realpath(path).catch(() => undefined);
    const found = new Set<string>(top === undefined ? [] : [top]);
    const tree = WHOLE_TREES.has(platform) && deep === true;
    let first: { dev: number; certain: boolean } | undefined;
    const leave = (reason: Reason): Reason => {
      for (const folder of found) if (!wanted.has(folder)) handles.drop(folder);
      return reason;
    };
    // Grows while it is gone through.
    for (const folder of found) {
      if (wanted.size + found.size > most) return leave({ why: 'many' });
      if (first === undefined || !handles.has(folder)) {
        const id = folderId(folder);
        if (id === undefined && folder === top) return new Set();
        if (id === undefined) continue;
        first ??= { dev: id.dev, certain: await tellsAtOnce(path, platform) };
        if (closed) return found;
        // Another disk may be mounted in it, of any kind.
        const how = { recursive: tree, certain: first.certain && id.dev === first.dev };
        const refused = handles.isOpen(folder, id) ? undefined : handles.open(folder, id, how);
        if (refused !== undefined) return leave({ why: 'limit', code: refused });
      }
      if (deep === true && !tree)
        for (const inner of handles.inner(folder, () => innerFolders(folder))) found.add(inner);
      await breath();
    }
    return found;
  }

  function schedule(afterMs: number): void {
    clearTimeout(timer);
    if (polled.length === 0 || !isHeard()) return;
    timer = setTimeout(() => void look(), afterMs);
    timer.unref();
  }

  async function look(): Promise<void> {
    const began = performance.now();
    let differs = false;
    for (const each of polled) {
      if ((await each.seen?.unchanged()) === true) continue;
      differs ||= each.seen !== undefined;
      each.seen = await lookedAt(each.place);
    }
    if (closed) return;
    if (differs) moved();
    schedule(Math.max(pollMs, (performance.now() - began) * POLL_SHARE));
  }

  return {
    follow(places) {
      const turn = last.then(() => (closed ? undefined : settle(places)));
      last = turn.catch(() => undefined);
      return turn;
    },
    report: () => ({
      folders: handles.size,
      polled: polled.flatMap(({ place, why, code }) =>
        why === undefined ? [] : [{ path: place.path, why, ...(code === undefined ? {} : { code }) }],
      ),
    }),
    watch: handles,
    close() {
      closed = true;
      clearTimeout(timer);
      handles.keep();
      polled = [];
    },
  };
}

const keyOf = ({ path, deep }: Place): string => `${deep === true} ${path}`;

/** In this thread, like all that is looked at of a folder here: to wait for another takes many times as long. */
function innerFolders(folder: string): string[] {
  return attempt(
    () => readdirSync(folder, { withFileTypes: true }),
    () => [],
  )
    .filter((entry) => entry.isDirectory() && !PASSED_OVER.has(entry.name))
    .map(({ name }) => join(folder, name));
}

/** A place as it is now, with all that is in it. */
async function lookedAt({ path, deep }: Place): Promise<Keeper> {
  const keeper = new Keeper();
  const folders = [path];
  for (const folder of folders) {
    if (keeper.size > MOST_LOOKED_AT) break;
    // Before it is listed: a folder that changes meanwhile is then one that has only just changed.
    if (keeper.look(folder)?.isDirectory() !== true) continue;
    const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) =>
      systemCode(error),
    );
    if (entries === 'EMFILE' || entries === 'ENFILE') keeper.doubt(folder);
    if (!Array.isArray(entries)) continue;
    keeper.listed(folder, entries, 'all');
    for (const entry of entries.filter(({ name }) => !PASSED_OVER.has(name)))
      if (deep === true && entry.isDirectory()) folders.push(join(folder, entry.name));
      else keeper.look(join(folder, entry.name));
  }
  return keeper;
}

/** A queue that overflows has given out many more than this, and what it has left out may be about any folder. */
const MANY_AT_ONCE = 64;
/** Whatever is told after it, it stays so. */
const GONE = Number.NEGATIVE_INFINITY;

interface Handle extends WatchedFolder {
  told: number;
  watcher: FSWatcher;
  id: string;
  /** Whether everything that happens is told, and before anybody who comes later can ask. */
  certain: boolean;
  /** The folders in it, as long as none has come or gone since they were listed. */
  inner?: readonly string[] | undefined;
}

interface FolderId {
  /** Tells a folder from another one that has come into its place since: systems give the number of a file again. */
  id: string;
  dev: number;
  ino: number;
}

/** Nothing where there is no folder. */
function folderId(path: string): FolderId | undefined {
  const info = lstatOf(path);
  if (info?.isDirectory() !== true) return undefined;
  const { dev, ino, birthtimeMs } = info;
  return { id: `${dev} ${ino} ${birthtimeMs}`, dev, ino };
}

/** Nothing that is served comes from these, and they hold more folders than all the rest. */
const PASSED_OVER: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** The folders that the system is asked to tell of. `moved` hears of what may matter. */
export class WatchHandles implements Watch {
  readonly #moved: () => void;
  readonly #handles = new Map<string, Handle>();
  /** Folders whose handle hears nothing any more: they were removed, or moved elsewhere. */
  #left = new Set<string>();
  told = 0;
  readonly most = MANY_AT_ONCE;

  constructor(moved: () => void = () => undefined) {
    this.#moved = moved;
  }

  get size(): number {
    return this.#handles.size;
  }

  folder(path: string): WatchedFolder | undefined {
    const handle = this.#handles.get(path);
    return handle?.certain === true && !this.#left.has(path) ? handle : undefined;
  }

  has(path: string): boolean {
    return this.#handles.has(path);
  }

  isOpen(path: string, { id }: FolderId): boolean {
    return this.#handles.get(path)?.id === id;
  }

  /** The folders in one; they are listed only if that has to be. */
  inner(path: string, list: () => readonly string[]): readonly string[] {
    const handle = this.#handles.get(path);
    const found = handle?.inner ?? list();
    if (handle !== undefined) handle.inner = found;
    return found;
  }

  /** Closes the handles that hear nothing any more: a folder that was moved takes those below it along. */
  dropLeft(): void {
    const left = this.#left;
    this.#left = new Set();
    if (left.size === 0) return;
    for (const path of this.#handles.keys()) if (upwards(path).some((at) => left.has(at))) this.drop(path);
  }

  /** Closes all but these. */
  keep(wanted: ReadonlySet<string> = new Set()): void {
    for (const path of this.#handles.keys()) if (!wanted.has(path)) this.drop(path);
  }

  /** Answers with the reason if the system has no room for more. */
  open(path: string, { id, dev, ino }: FolderId, how: { recursive: boolean; certain: boolean }) {
    this.drop(path);
    try {
      const watcher = watch(path, { persistent: false, recursive: how.recursive }, (kind, name) => {
        this.told += 1;
        handle.told += 1;
        // Its own name stands for itself: it was removed or moved, or it is a file in it of the same name.
        if (kind === 'rename') handle.inner = undefined;
        if (kind === 'rename' && name === basename(path)) this.#leave(path);
        if (name === null || !name.split(/[\\/]/).some((part) => PASSED_OVER.has(part))) this.#moved();
      });
      const handle: Handle = { watcher, id, dev, ino, certain: how.certain, told: 0 };
      watcher.on('error', () => {
        this.#leave(path);
        this.#moved();
      });
      this.#handles.set(path, handle);
      return undefined;
    } catch (error) {
      const code = systemCode(error) ?? 'unknown';
      // What cannot be entered, or is gone again, cannot be served either.
      return ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(code) ? undefined : code;
    }
  }

  drop(path: string): void {
    this.#doubt(path);
    this.#handles.get(path)?.watcher.close();
    this.#handles.delete(path);
  }

  /** Another folder may come into its place, even with the same number: until it is opened again, nothing is told of it. */
  #leave(path: string): void {
    this.#doubt(path);
    this.#left.add(path);
  }

  #doubt(path: string): void {
    const handle = this.#handles.get(path);
    if (handle === undefined) return;
    this.told += 1;
    handle.told = GONE;
    handle.certain = false;
  }
}
