import type { Stats } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { isSettled, settlesIn, statOf } from './place-stats.ts';
import { Survey, type Vouch, type Witness } from './vouch.ts';

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

  readonly #witness: () => Witness | undefined;
  #vouch: Vouch | undefined;
  /** How often a place has come to count for more than its being there. */
  #raised = 0;

  /** `witness` may answer for them between two comparisons; it may come later, and go. */
  constructor(witness: () => Witness | undefined = () => undefined) {
    this.#witness = witness;
  }

  get size(): number {
    return this.#paths.length;
  }

  #adopting = 0;

  /** How many of them may have been looked at before now; those that come to them are looked at from now on. */
  get soFar(): number {
    return this.#adopting === 0 ? this.#paths.length : MOST;
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
    this.#adopting += 1;
    try {
      return await this.#adopt(paths, stamps);
    } finally {
      this.#adopting -= 1;
    }
  }

  async #adopt(paths: readonly string[], stamps: readonly number[]): Promise<boolean> {
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
    if (!any && this.#stamps[known * WIDTH + 1] === ANY && isSame(this.#stamps, known * WIDTH, found)) {
      this.#stamp(known, found, false);
      this.#vouch = undefined;
      this.#raised += 1;
    }
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

  /** Whether the first of them are as they were, for who came when the others had not been looked at yet. */
  async firstUnchanged(count: number): Promise<boolean> {
    for (let index = 0; index < Math.min(count, this.#paths.length); index += 1) {
      if (index % AT_ONCE === AT_ONCE - 1) await turn();
      if (!this.#isSame(index)) return false;
    }
    return true;
  }

  #lastChange = 0;

  /**
   * Waits until a change that was just found is so old that what is read now need not be read once more: of that many places, that
   * would take far longer.
   */
  async settle(fromPlaces: number): Promise<void> {
    const left = settlesIn(this.#lastChange);
    if (this.size >= fromPlaces && left > 0) await delay(left);
  }

  /** The places that are not as they were, in the order in which they were looked at. */
  async changed(): Promise<string[]> {
    const changed: string[] = [];
    const survey = Survey.begin(this.#witness());
    const [size, raised] = [this.#paths.length, this.#raised];
    for (let index = 0; index < size; index += 1) {
      if (index % AT_ONCE === AT_ONCE - 1) await turn();
      const path = this.#paths[index] as string;
      const any = this.#stamps[index * WIDTH + 1] === ANY;
      const found = survey === undefined ? statOf(path) : survey.look(path, index, any);
      if (!isSame(this.#stamps, index * WIDTH, found)) {
        changed.push(path);
        this.#lastChange = Math.max(this.#lastChange, found?.ctimeMs ?? 0);
      }
    }
    this.#vouch = changed.length === 0 && raised === this.#raised ? survey?.vouch(size) : undefined;
    return changed;
  }

  /**
   * Whether they are as they were by what was told of their folders, and by a look at the few others. Only for callers who
   * have waited until everything was told that happened before they came.
   */
  isVouched(): boolean {
    const vouch = this.#vouch;
    const added = this.#paths.length - (vouch?.size ?? 0);
    if (vouch === undefined || vouch.apart + added > AT_ONCE || !vouch.isQuiet()) return false;
    for (const index of vouch.toCompare()) if (!this.#isSame(index)) return false;
    for (let index = vouch.size; index < this.#paths.length; index += 1)
      if (!this.#isSame(index)) return false;
    return true;
  }

  #isSame(index: number): boolean {
    return isSame(this.#stamps, index * WIDTH, statOf(this.#paths[index] as string));
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
