import type { Dirent, Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { inTurn } from '../async.ts';
import { isSettled, lstatOf, type Stamp, stampAt, statOf } from './file-stamps.ts';

/** A folder that is watched: everything that happens directly in it, and to itself, is told. */
export interface WatchedFolder {
  readonly dev: number;
  readonly ino: number;
  /** How often something was told of it; below zero once it is not watched any more. */
  readonly told: number;
}

/** What a watch of folders knows, for those who would otherwise look at every file. */
export interface Watch {
  /** How often anything was told of any folder. */
  readonly told: number;
  /** From so many at once on, the system may have left some out. */
  readonly most: number;
  /** The folder with this real path, if the system queues an event together with every change in it. */
  folder(path: string): WatchedFolder | undefined;
}

/** Hears of every place on disk that something is found out from, before it is looked at. */
export interface Seen {
  /** What is at a path, links followed; undefined if there is nothing, or nothing that we may see. */
  look(path: string): Stats | undefined;
  /** The same, where only its existence and identity count: whether it is there, and still the same file or folder. */
  find(path: string): Stats | undefined;
  /** What a folder that was looked at has: all of it, or only which folders are in it. */
  listed(path: string, entries: readonly Dirent[], what: 'all' | 'folders'): void;
}

/** Who may answer for places, so that not all of them have to be compared. */
export interface Told {
  /** It may come later, and go. */
  watch(): Watch | undefined;
  /** Places were compared because nobody could answer for them. */
  compared?(): void;
}

/** Inode, modification, change, size, names of all that is in a folder, names of the folders in it. */
export const STAMP_WIDTH = 6;
const WIDTH = STAMP_WIDTH;
const NAMES = { all: 4, folders: 5 } as const;
/** What is there in place of an inode where there is nothing. */
const ABSENT = -1;
/** What is there in place of a time where only the inode counts. */
const ANY = -1;
/** About five milliseconds' work, like that of others: with smaller parts, a call waits for theirs after each. */
const AT_ONCE = 2_000;
/** More than any content has; what is beyond is looked at by `refresh` only. */
const MOST = 400_000;
/** So long a watch is believed, as no system tells of a file that was written through memory; comparing takes this part of the time at most. */
const TRUSTED_MS = 10_000;
const COMPARED_SHARE = 100;

/** Folders in which places are missing: as each was before they were looked for, and whether that is as all know it. */
type Without = Map<string, { stamp: Stamp | undefined; isSame: boolean }>;

/** A watched folder, and the places that it answers for. */
interface Answering {
  path: string;
  folder: WatchedFolder;
  /** How often something had been told of it before they were last compared. */
  told: number;
  places: number[];
}

/**
 * The places that something was found out from, as they were when each was first looked at: files that were read, folders
 * that were listed, and what was not there. As long as none of them has changed, neither has what was found out. Whether one has
 * is asked here and nowhere else: by a look at each, or only at those that a watch does not answer for.
 */
export class Keeper implements Seen {
  readonly #at = new Map<string, number>();
  /** Nothing for one that is not asked for any more. */
  readonly #paths: (string | undefined)[] = [];
  #stamps = new Float64Array(256 * WIDTH);

  readonly #from: Told;
  /** The watch that answers for places, since when, and how often anything had been told before the last comparison. */
  #watch: Watch | undefined;
  #since = 0;
  #told = 0;
  #took = 0;
  readonly #folders = new Map<string, Answering>();
  #tops: Answering[] = [];
  /** Those that nobody answers for; without a watch all of them, which is not written down. */
  readonly #apart = new Set<number>();
  /** Folders in which places are missing, as they were before all of these were last looked for. */
  readonly #without = new Map<string, Stamp>();

  constructor(from: Told = { watch: () => undefined }) {
    this.#from = from;
  }

  get size(): number {
    return this.#paths.length;
  }

  #collected: Set<string> | undefined;

  /** Works and collects the places that it depends on, also those that others have looked at before. */
  async collecting<T>(work: () => Promise<T>): Promise<{ result: T; used: string[] }> {
    const used = new Set<string>();
    this.#collected = used;
    try {
      return { result: await work(), used: [...used] };
    } finally {
      this.#collected = undefined;
    }
  }

  /** The stamps of places, to be compared later; undefined if one of them proves nothing. */
  stampsOf(paths: readonly string[]): Float64Array | undefined {
    const stamps = new Float64Array(paths.length * WIDTH);
    for (const [index, path] of paths.entries()) {
      const at = (this.#at.get(path) ?? -1) * WIDTH;
      if (at < 0 || Number.isNaN(this.#stamps[at])) return undefined;
      stamps.set(this.#stamps.subarray(at, at + WIDTH), index * WIDTH);
    }
    return stamps;
  }

  /** Takes over what was found out before from these places, and answers with those that are not as they were then. */
  async adopt(paths: readonly string[], stamps: ArrayLike<number>): Promise<string[]> {
    const changed: string[] = [];
    for (const [index, path] of paths.entries()) {
      if (index % AT_ONCE === AT_ONCE - 1) await turn();
      const found = statOf(path);
      const at = index * WIDTH;
      // Each counts as looked at from now on: who comes later need not look at those that follow.
      if (!isSame(stamps, at, found) && !(await hasNames(stamps, at, path, found))) changed.push(path);
      else this.#adoptOne(path, found, stamps, at);
    }
    return changed;
  }

  #adoptOne(path: string, found: Stats | undefined, stamps: ArrayLike<number>, at: number): void {
    this.#enter(path, found, stamps[at + 1] === ANY);
    for (const what of [NAMES.all, NAMES.folders]) this.#name(path, what, stamps[at + what] ?? 0);
  }

  look(path: string): Stats | undefined {
    const found = statOf(path);
    this.#enter(path, found, false);
    return found;
  }

  find(path: string): Stats | undefined {
    const found = statOf(path);
    this.#enter(path, found, true);
    return found;
  }

  listed(path: string, entries: readonly Dirent[], what: keyof typeof NAMES): void {
    this.#name(path, NAMES[what], namesOf(entries, what));
  }

  /** Not all of it could be seen: it counts as changed. */
  doubt(path: string): void {
    const at = this.#at.get(path);
    if (at !== undefined) this.#stamps[at * WIDTH] = Number.NaN;
  }

  #name(path: string, what: number, names: number): void {
    const at = this.#at.get(path);
    if (at === undefined || names === 0) return;
    const known = this.#stamps[at * WIDTH + what] as number;
    // Who has listed it before has found other names.
    this.#stamps[at * WIDTH + what] = known === 0 || known === names ? names : Number.NaN;
  }

  #enter(path: string, found: Stats | undefined, any: boolean): void {
    const known = this.#at.get(path);
    if (known === undefined) {
      const place = this.#add(path, found, any);
      this.#collected?.add(place);
      return;
    }
    this.#collected?.add(path);
    if (!any && this.#stamps[known * WIDTH + 1] === ANY && isSame(this.#stamps, known * WIDTH, found)) {
      this.#stamp(known, found, false);
      this.#apart.add(known);
    }
  }

  #comparing = false;
  readonly #oneByOne = inTurn();
  #next: Promise<string[]> | undefined;

  /**
   * Those that are not as they were. Callers who ask before the looking begins share it; it never began before they asked. Where
   * a watch may answer, they have waited for `caughtUp`.
   */
  changed(): Promise<string[]> {
    if (this.#isAnsweredFor()) return Promise.resolve([]);
    return (this.#next ??= this.#oneByOne(async () => {
      await turn();
      this.#next = undefined;
      return this.#compare();
    }));
  }

  async unchanged(): Promise<boolean> {
    return (await this.changed()).length === 0;
  }

  /** Whether the first of them are as they were, for who came when the others had not been looked at yet. */
  async firstUnchanged(count: number): Promise<boolean> {
    return (await this.#differentAmong(between(0, Math.min(count, this.#paths.length)))).length === 0;
  }

  async #compare(): Promise<string[]> {
    const began = performance.now();
    this.#comparing = true;
    const [without, count]: [Without, number] = [new Map(), this.#paths.length];
    const different = await this.#differentAmong(this.#doubtful(), without);
    // What was missed meanwhile may have come before its folder was looked at.
    if (this.#paths.length === count) this.#note(without);
    this.#comparing = false;
    this.#took = performance.now() - began;
    this.#from.compared?.();
    return different;
  }

  async #differentAmong(indices: Iterable<number>, without?: Without): Promise<string[]> {
    const different: string[] = [];
    let looked = 0;
    for (const index of indices) {
      if (++looked % AT_ONCE === 0) await turn();
      const path = this.#paths[index];
      if (path === undefined || this.#isSame(index, path, without)) continue;
      // A folder with another time may have what it had: something came and went, or was replaced.
      const found = statOf(path);
      if (await hasNames(this.#stamps, index * WIDTH, path, found)) this.#stamp(index, found, false);
      else different.push(path);
    }
    return different;
  }

  /** Whether all are as they were, by what was told and a look at a few others; what a comparison notes holds when it has ended. */
  #isAnsweredFor(): boolean {
    if (this.#comparing || this.#from.watch() === undefined) return false;
    const doubtful = this.#doubtful();
    if (!Array.isArray(doubtful) || doubtful.length > AT_ONCE) return false;
    const without: Without = new Map();
    const same = doubtful.every((index) => this.#isSame(index, this.#paths[index], without));
    if (same) this.#note(without);
    return same;
  }

  /** All that are missing in these folders were looked for. */
  #note(without: Without): void {
    for (const [folder, { stamp }] of without) if (stamp !== undefined) this.#without.set(folder, stamp);
  }

  /** Those that have to be compared now. All of them, where too much was told, or for too long, or a top is another one. */
  #doubtful(): Iterable<number> {
    const watch = this.#from.watch();
    if (watch === undefined || watch !== this.#watch || !this.#isTrusted(watch)) this.#begin(watch);
    else if (watch.told !== this.#told)
      for (const each of this.#folders.values()) {
        const { told } = each.folder;
        if (told === each.told) continue;
        if (told < 0 || !isAt(each.folder, lstatOf(each.path))) {
          this.#leave(each.path);
          continue;
        }
        // What is told from now on is for the next time; until they are compared, nobody answers for them.
        each.told = told;
        for (const index of each.places.splice(0)) this.#apart.add(index);
      }
    this.#told = watch?.told ?? 0;
    return watch === undefined ? between(0, this.#paths.length) : [...this.#apart];
  }

  #isTrusted(watch: Watch): boolean {
    return (
      watch.told - this.#told < watch.most &&
      performance.now() - this.#since < Math.max(TRUSTED_MS, this.#took * COMPARED_SHARE) &&
      this.#tops.every(({ path, folder }) => isAt(folder, statOf(path)))
    );
  }

  #begin(watch: Watch | undefined): void {
    this.#watch = watch;
    this.#since = performance.now();
    this.#folders.clear();
    this.#tops = [];
    this.#apart.clear();
    if (watch !== undefined) for (const index of between(0, this.#paths.length)) this.#apart.add(index);
  }

  /** A folder that is another one now answers for nothing, nor do those below it. */
  #leave(path: string): void {
    for (const each of this.#folders.values()) {
      if (each.path !== path && !each.path.startsWith(join(path, sep))) continue;
      this.#folders.delete(each.path);
      for (const index of each.places) this.#apart.add(index);
    }
    this.#tops = this.#tops.filter((top) => this.#folders.get(top.path) === top);
  }

  /** Whether a place is as it was; then somebody answers for it from now on, if anybody can. */
  #isSame(index: number, path: string | undefined, without?: Without): boolean {
    if (path === undefined) {
      this.#apart.delete(index);
      return true;
    }
    const at = index * WIDTH;
    const isAbsent = without !== undefined && this.#stamps[at] === ABSENT;
    if (isAbsent && this.#answering(dirname(path)) === undefined) return this.#isMissing(path, without);
    if (this.#watch === undefined) return isSame(this.#stamps, at, statOf(path));
    const own = lstatOf(path);
    if (!isSame(this.#stamps, at, own?.isSymbolicLink() === true ? statOf(path) : own)) return false;
    const by = this.#whoTells(path, own, this.#stamps[at + 1] === ANY);
    if (by !== undefined && this.#apart.delete(index)) by.places.push(index);
    return true;
  }

  /** The folder that tells of whatever may change a place: the one that it is, or the one that it is in. */
  #whoTells(path: string, own: Stats | undefined, isFound: boolean): Answering | undefined {
    const isFolder = own?.isDirectory() === true;
    const itself = isFolder ? this.#answering(path) : undefined;
    if (itself !== undefined || (isFolder && !isFound)) return itself;
    const above = this.#answering(dirname(path));
    if (own === undefined || isFolder) return above;
    // A file with several names is told of where it was written, what a link leads to may be anywhere, and what is mounted
    // over a file of another disk is told of there.
    return own.isFile() && own.nlink === 1 && own.dev === above?.folder.dev ? above : undefined;
  }

  /** Whether there still is nothing. A folder that is as it was tells of all that is missing in it, such as those of most hosts. */
  #isMissing(path: string, without: Without): boolean {
    const folder = dirname(path);
    let seen = without.get(folder);
    if (seen === undefined) {
      // From before each is looked for. A change within the same tick of the clock would not show.
      const known = this.#without.get(folder);
      const now = stampAt(folder, known);
      const stamp = now !== undefined && isSettled(now.ctimeMs) ? now : undefined;
      seen = { stamp, isSame: now !== undefined && now === known };
      without.set(folder, seen);
    }
    if (seen.isSame || lstatOf(path) === undefined) return true;
    // What a link leads to may come anywhere.
    seen.stamp = undefined;
    return statOf(path) === undefined;
  }

  /** The folder at a path, if it is watched and the path cannot lead anywhere else without that being noticed. */
  #answering(path: string): Answering | undefined {
    const known = this.#folders.get(path);
    if (known !== undefined) return known;
    const folder = this.#watch?.folder(path);
    if (folder === undefined) return undefined;
    const { told } = folder;
    const above = dirname(path);
    const isTop = above === path || this.#watch?.folder(above) === undefined;
    if (!isAt(folder, lstatOf(path)) || (!isTop && this.#answering(above) === undefined)) return undefined;
    const found = { path, folder, told, places: [] };
    this.#folders.set(path, found);
    if (isTop) this.#tops.push(found);
    return found;
  }

  /**
   * What has changed is not asked for any more, until somebody looks at it again. Answers whether all of it was and is a file, so
   * that there are the same files as before.
   */
  drop(paths: readonly string[]): boolean {
    let files = true;
    for (const path of paths) {
      const index = this.#at.get(path);
      if (index === undefined) continue;
      const [ino, , , , ...names] = this.#stamps.subarray(index * WIDTH, (index + 1) * WIDTH);
      files &&= ino !== ABSENT && names.every((each) => each === 0) && statOf(path)?.isFile() === true;
      this.#at.delete(path);
      this.#paths[index] = undefined;
    }
    return files;
  }

  /** The top of what is missing: once it is there, everything below may be. Or the folder whose own stamp tells. */
  #absence(path: string): string {
    for (let place = path; ;) {
      const above = dirname(place);
      if (this.#isTold(above)) return above;
      if (above === place || statOf(above) !== undefined) return place;
      place = above;
    }
  }

  /** Whether the stamp of a folder tells when something appears in it. */
  #isTold(folder: string): boolean {
    const index = this.#at.get(folder);
    if (index === undefined) return false;
    const at = index * WIDTH;
    if (this.#stamps[at] === ABSENT) return true;
    if (this.#stamps[at + 1] === ANY) return false;
    // Where only the folders in it count, a file that comes would not.
    if (this.#stamps[at + NAMES.all] === 0 && this.#stamps[at + NAMES.folders] !== 0) return false;
    if (this.#stamps[at + NAMES.all] === 0) this.#stamps[at + NAMES.folders] = Number.NaN;
    return true;
  }

  /** The place that stands for a path from now on. */
  #add(path: string, found: Stats | undefined, any: boolean): string {
    const place = found === undefined ? this.#absence(path) : path;
    if (this.#at.has(place) || this.#paths.length >= MOST) return place;
    const index = this.#paths.push(place) - 1;
    this.#at.set(place, index);
    this.#without.delete(dirname(place));
    if (this.#watch !== undefined) this.#apart.add(index);
    if ((index + 1) * WIDTH > this.#stamps.length) {
      const longer = new Float64Array(this.#stamps.length * 2);
      longer.set(this.#stamps);
      this.#stamps = longer;
    }
    this.#stamp(index, found, any);
    return place;
  }

  #stamp(index: number, found: Stats | undefined, any: boolean): void {
    if (found === undefined || any) {
      this.#stamps.set([found?.ino ?? ABSENT, ANY, 0, 0], index * WIDTH);
      return;
    }
    const { ino, mtimeMs, ctimeMs, size } = found;
    // What has changed just now may change again without a new time: it is looked at once more, whatever its stamp says.
    this.#stamps.set([isSettled(ctimeMs) ? ino : Number.NaN, mtimeMs, ctimeMs, size], index * WIDTH);
  }
}

const isAt = ({ dev, ino }: WatchedFolder, found: Stats | undefined): boolean =>
  found?.ino === ino && found.dev === dev;

function* between(from: number, to: number): Iterable<number> {
  for (let index = from; index < to; index += 1) yield index;
}

function isSame(stamps: ArrayLike<number>, at: number, found: Stats | undefined): boolean {
  if (found === undefined) return stamps[at] === ABSENT;
  if (stamps[at] !== found.ino) return false;
  if (stamps[at + 1] === ANY) return true;
  return (
    stamps[at + 1] === found.mtimeMs && stamps[at + 2] === found.ctimeMs && stamps[at + 3] === found.size
  );
}

/** Whether a folder has the names that were listed, all of them. */
async function hasNames(
  stamps: ArrayLike<number>,
  at: number,
  path: string,
  found: Stats | undefined,
): Promise<boolean> {
  const [all, folders] = [stamps[at + NAMES.all], stamps[at + NAMES.folders]];
  if (found?.isDirectory() !== true || (all === 0 && folders === 0)) return false;
  const entries = await readdir(path, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return false;
  return (
    (all === 0 || all === namesOf(entries, 'all')) &&
    (folders === 0 || folders === namesOf(entries, 'folders'))
  );
}

/** A number for the names in a folder and what they are, in any order; never zero. */
function namesOf(entries: readonly Dirent[], what: keyof typeof NAMES): number {
  let sum = 1;
  for (const entry of entries) {
    const kind = entry.isDirectory() ? 1 : entry.isSymbolicLink() ? 2 : entry.isFile() ? 3 : 4;
    if (what === 'folders' && kind > 2) continue;
    let [one, two] = [0x811c_9dc5 ^ kind, 0x1234_5678 + kind];
    for (let index = 0; index < entry.name.length; index += 1) {
      const code = entry.name.charCodeAt(index);
      one = Math.imul(one ^ code, 0x0100_0193);
      two = Math.imul(two ^ code, 0x85eb_ca6b) + index;
    }
    sum = (sum + (one >>> 0) * 0x10_0000 + (two & 0xf_ffff)) % Number.MAX_SAFE_INTEGER;
  }
  return sum === 0 ? 1 : sum;
}
