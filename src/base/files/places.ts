import { statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';

/** Hears of every place on disk that something is found out from, before it is looked at. */
export interface Seen {
  /** What is at a path, links followed; undefined if there is nothing, or nothing that we may see. */
  look(path: string): Stats | undefined;
  /** The same, where only its existence and identity count: whether it is there, and still the same file or folder. */
  find(path: string): Stats | undefined;
}

/** Inode, modification, change, size. */
const WIDTH = 4;
/** What is there in place of an inode where there is nothing. */
const ABSENT = -1;
/** What is there in place of a time where only the inode counts. */
const ANY = -1;
/** Long enough for every clock that a file system takes its times from; some keep whole seconds only, or even ones. */
const TICK_MS = 50;
const COARSE_TICK_MS = 2_100;
/** About a millisecond's work. */
const AT_ONCE = 500;
/** More than any content has; what is beyond is looked at by `refresh` only. */
const MOST = 400_000;

/**
 * The places that something was found out from, as they were when each was first looked at: files that were read, folders
 * that were listed, and what was not there. As long as none of them has changed, neither has what was found out.
 */
export class Places implements Seen {
  readonly #at = new Map<string, number>();
  readonly #paths: string[] = [];
  #stamps = new Float64Array(256 * WIDTH);

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
  stampsOf(paths: readonly string[]): number[] | undefined {
    const stamps: number[] = [];
    for (const path of paths) {
      const at = (this.#at.get(path) ?? -1) * WIDTH;
      const own = at < 0 ? [] : this.#stamps.subarray(at, at + WIDTH);
      if (own.length === 0 || Number.isNaN(own[0])) return undefined;
      stamps.push(...own);
    }
    return stamps;
  }

  /** Takes over what was found out before from these places, if they are still as they were then. */
  async adopt(paths: readonly string[], stamps: readonly number[]): Promise<boolean> {
    const found: (Stats | undefined)[] = [];
    for (const [index, path] of paths.entries()) {
      if (index % AT_ONCE === AT_ONCE - 1) await turn();
      const now = statOf(path);
      if (!isSame(stamps, index * WIDTH, now)) return false;
      found.push(now);
    }
    for (const [index, path] of paths.entries())
      this.#enter(path, found[index], stamps[index * WIDTH + 1] === ANY);
    return true;
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

  #enter(path: string, found: Stats | undefined, any: boolean): void {
    const known = this.#at.get(path);
    if (known === undefined) {
      const place = this.#add(path, found, any);
      this.#collected?.add(place);
      return;
    }
    this.#collected?.add(path);
    if (!any && this.#stamps[known * WIDTH + 1] === ANY && isSame(this.#stamps, known * WIDTH, found))
      this.#stamp(known, found, false);
  }

  #checking: Promise<unknown> = Promise.resolve();
  #next: Promise<boolean> | undefined;

  /** Whether all are as they were. Callers who ask before the looking begins share it; it never began before they asked. */
  unchanged(): Promise<boolean> {
    return (this.#next ??= this.#check());
  }

  #check(): Promise<boolean> {
    const check = this.#checking.then(async () => {
      await turn();
      this.#next = undefined;
      return (await this.changed()).length === 0;
    });
    this.#checking = check;
    return check;
  }

  /** The places that are not as they were, in the order in which they were looked at. */
  async changed(): Promise<string[]> {
    const changed: string[] = [];
    for (const [index, path] of this.#paths.entries()) {
      if (index % AT_ONCE === AT_ONCE - 1) await turn();
      if (!isSame(this.#stamps, index * WIDTH, statOf(path))) changed.push(path);
    }
    return changed;
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
    const at = this.#at.get(folder);
    if (at === undefined) return false;
    return this.#stamps[at * WIDTH] === ABSENT || this.#stamps[at * WIDTH + 1] !== ANY;
  }

  /** The place that stands for a path from now on. */
  #add(path: string, found: Stats | undefined, any: boolean): string {
    const place = found === undefined ? this.#absence(path) : path;
    if (this.#at.has(place) || this.#paths.length >= MOST) return place;
    const index = this.#paths.push(place) - 1;
    this.#at.set(place, index);
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

function isSame(stamps: ArrayLike<number>, at: number, found: Stats | undefined): boolean {
  if (found === undefined) return stamps[at] === ABSENT;
  if (stamps[at] !== found.ino) return false;
  if (stamps[at + 1] === ANY) return true;
  return (
    stamps[at + 1] === found.mtimeMs && stamps[at + 2] === found.ctimeMs && stamps[at + 3] === found.size
  );
}

/** Nobody sets this time: it is that of the last change, by the clock of the file system. */
function isSettled(ctimeMs: number): boolean {
  const tick = ctimeMs % 1_000 === 0 ? COARSE_TICK_MS : TICK_MS;
  return ctimeMs < Date.now() - tick;
}

/** In this thread: to wait for another would take several times as long as looking. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
