import { dirname } from 'node:path';
import { farFolder, tellsAtOnce, watchesAllowed } from './file-systems.ts';
import type { Witness } from './vouch.ts';
import { WatchHandles } from './watch-handles.ts';
import {
  folderId,
  foldersIn,
  foldersOf,
  realPathOf,
  stampOfPlace,
  type Listed,
  type Place,
} from './watch-walk.ts';

export type { Place };

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
  readonly witness: Witness;
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

/** A queue that overflows has given out many more than this, and what it has left out may be about any folder. */
const MANY_AT_ONCE = 64;
const POLL_MS = 1_000;
/** Looking takes at most this part of the time: a page that is open must cost next to nothing, however large the project is. */
const POLL_SHARE = 150;
/** After this time a place that the system had no room for is tried again. */
const RETRY_MS = 60_000;

/** These systems watch a whole tree with one handle. */
const WHOLE_TREES: ReadonlySet<NodeJS.Platform> = new Set(['darwin', 'win32']);

/** A place whose folders are watched, the outermost first. */
interface Followed {
  folders: ReadonlySet<string>;
  /** Whether one handle is enough for all that is below. */
  tree: boolean;
  /** Whether everything that happens is told in time. */
  certain: boolean;
  /** Whether it was walked through just now. */
  isNew: boolean;
}

interface Polled {
  place: Place;
  /** Nothing for what is not there yet: that is no fault. */
  why?: WhyPolled;
  code?: string;
  /** Nothing while nobody wants to hear of it. */
  stamp: string | undefined;
  listed: Listed;
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
  const handles = new WatchHandles(moved, MANY_AT_ONCE);
  let polled: Polled[] = [];
  let followed = new Map<string, Followed>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let last: Promise<void> = Promise.resolve();

  async function settle(places: readonly Place[]): Promise<void> {
    const before = new Map(polled.map((each) => [keyOf(each.place), each]));
    const { left, renamed } = handles.takeMoved();
    if (left.size > 0) for (const path of handles.paths) if (hasLeft(path, left)) handles.drop(path);
    const wanted = new Set<string>();
    const now: Polled[] = [];
    const poll = async (place: Place, why?: WhyPolled, code?: string): Promise<void> => {
      const known = before.get(keyOf(place));
      const listed: Listed = known?.listed ?? new Map();
      const again = known?.why === why && known?.code === code ? known : undefined;
      now.push({
        place,
        ...(why === undefined ? {} : { why }),
        ...(code === undefined ? {} : { code }),
        stamp: known?.stamp ?? (isHeard() ? await stampOfPlace(place, listed) : undefined),
        listed,
        until: again?.until ?? Date.now() + RETRY_MS,
      });
    };
    const chosen = new Map<Place, Followed>();
    for (const place of places) {
      const known = before.get(keyOf(place));
      const grown = await grownOf(place, renamed);
      const reason =
        grown !== undefined
          ? undefined
          : known?.why === 'limit' && Date.now() < known.until
            ? known
            : await reasonFor(place);
      if (reason !== undefined) {
        await poll(place, reason.why, reason.code);
        continue;
      }
      const found = grown ?? (await walked(place, most - wanted.size));
      if (found === undefined || wanted.size + found.folders.size > most) {
        await poll(place, 'many');
        continue;
      }
      for (const folder of found.folders) wanted.add(folder);
      chosen.set(place, found);
    }
    if (closed) return;
    for (const path of handles.paths) if (!wanted.has(path)) handles.drop(path);
    followed = new Map();
    for (const [place, found] of chosen) {
      // One that is not there yet is noticed in the folder it would be in, if that is watched.
      if (found.folders.size === 0 && !wanted.has(dirname(place.path))) await poll(place);
      const refused = await openAll(found);
      if (closed) return;
      if (refused === undefined) {
        if (found.folders.size > 0) followed.set(keyOf(place), { ...found, isNew: false });
        continue;
      }
      for (const folder of found.folders) handles.drop(folder);
      await poll(place, 'limit', refused);
    }
    polled = now;
    if (!closed) schedule(pollMs);
  }

  async function walked(place: Place, room: number): Promise<Followed | undefined> {
    const tree = WHOLE_TREES.has(platform) && place.deep === true;
    const folders = await foldersOf(tree ? { path: place.path } : place, room);
    if (folders === undefined) return undefined;
    return {
      folders: new Set(folders),
      tree,
      certain: await tellsAtOnce(place.path, platform),
      isNew: true,
    };
  }

  /** A place that is followed, with the folders that have come to it: only where something has come or gone is looked. */
  async function grownOf(place: Place, renamed: ReadonlySet<string>): Promise<Followed | undefined> {
    const known = followed.get(keyOf(place));
    const [top] = known?.folders ?? [];
    if (known === undefined || top === undefined || !handles.has(top)) return undefined;
    if ((await realPathOf(place.path)) !== top || handles.idOf(top) !== (await folderId(top)).id)
      return undefined;
    const folders = new Set<string>();
    for (const folder of known.folders) if (handles.has(folder)) folders.add(folder);
    if (place.deep === true && !known.tree)
      for (const folder of renamed)
        if (folders.has(folder))
          for (const each of await foldersIn(folder, (inner) => !handles.has(inner))) folders.add(each);
    return { ...known, folders };
  }

  async function reasonFor({ path }: Place): Promise<{ why: WhyPolled; code?: string } | undefined> {
    if (polls) return { why: 'asked' };
    const far = await farFolder(path);
    return far === undefined ? undefined : { why: 'far', code: far };
  }

  /** Opens what is not open yet; answers with the reason if the system has no room for more. */
  async function openAll({ folders, tree, certain, isNew }: Followed): Promise<string | undefined> {
    let top: number | undefined;
    for (const folder of folders) {
      if (!isNew && top !== undefined && handles.has(folder)) continue;
      const id = await folderId(folder);
      top ??= id.dev;
      if (closed) return undefined;
      if (handles.idOf(folder) === id.id) continue;
      handles.drop(folder);
      // Another disk may be mounted in it, of any kind.
      const refused = handles.open(folder, id, { recursive: tree, certain: certain && id.dev === top });
      if (refused !== undefined) return refused;
    }
    return undefined;
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
      const stamp = await stampOfPlace(each.place, each.listed);
      differs ||= each.stamp !== undefined && stamp !== each.stamp;
      each.stamp = stamp;
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
    witness: handles.witness,
    close() {
      closed = true;
      clearTimeout(timer);
      for (const path of handles.paths) handles.drop(path);
      polled = [];
    },
  };
}

/** A folder that was moved takes those below it along. */
function hasLeft(folder: string, gone: ReadonlySet<string>): boolean {
  if (gone.size === 0) return false;
  const above = dirname(folder);
  return gone.has(folder) || (above !== folder && hasLeft(above, gone));
}

function keyOf({ path, deep }: Place): string {
  return `${deep === true} ${path}`;
}
