import type { Dirent, Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { isSettled, statOf } from './place-stats.ts';
import { Vouch, type Suspects, type Witness } from './vouch.ts';

/** Hears of every place on disk that something is found out from, before it is looked at. */
export interface Seen {
  /** What is at a path, links followed; undefined if there is nothing, or nothing that we may see. */
  look(path: string): Stats | undefined;
  /** The same, where only its existence and identity count: whether it is there, and still the same file or folder. */
  find(path: string): Stats | undefined;
  /** What a folder that was looked at has: all of it, or only which folders are in it. */
  listed(path: string, entries: readonly Dirent[], what: 'all' | 'folders'): void;
}

/** Inode, modification, change, size, names of all that is in a folder, names of the folders in it. */
export const STAMP_WIDTH = 6;
const WIDTH = STAMP_WIDTH;
const NAMES = { all: 4, folders: 5 } as const;
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
  /** Nothing for one that is not asked for any more. */
  readonly #paths: (string | undefined)[] = [];
  #stamps = new Float64Array(256 * WIDTH);

  readonly #witness: () => Witness | undefined;
  #vouch: Vouch | undefined;
  /** A watch answers for the places before this one, except for those that count for more since. */
  #vouched = 0;
  #raised: number[] = [];

  /** `witness` may answer for them between two comparisons; it may come later, and go. */
  constructor(witness: () => Witness | undefined = () => undefined) {
    this.#witness = witness;
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
      this.#raised.push(known);
    }
  }

  #checking: Promise<unknown> = Promise.resolve();
  #next: Promise<string[]> | undefined;

  /** Those that are not as they were. Callers who ask before the looking begins share it; it never began before they asked. */
  changed(): Promise<string[]> {
    return (this.#next ??= this.#check());
  }

  #check(): Promise<string[]> {
    const check = this.#checking.then(async () => {
      await turn();
      this.#next = undefined;
      return this.#compare();
    });
    this.#checking = check.catch(() => undefined);
    return check;
  }

  async unchanged(): Promise<boolean> {
    return (await this.changed()).length === 0;
  }

  /** Whether the first of them are as they were, for who came when the others had not been looked at yet. */
  async firstUnchanged(count: number): Promise<boolean> {
    for (let index = 0; index < Math.min(count, this.#paths.length); index += 1) {
      if (index % AT_ONCE === AT_ONCE - 1) await turn();
      const path = this.#paths[index];
      if (path !== undefined && !(await this.#isAsItWas(index, path, statOf(path)))) return false;
    }
    return true;
  }

  /** Those that the last comparison has found to be different, until they are dropped. */
  #different: number[] = [];

  get different(): string[] {
    return this.#different.flatMap((index) => this.#paths[index] ?? []);
  }

  async #compare(): Promise<string[]> {
    const known = this.#suspects();
    const vouch = known === undefined ? Vouch.begin(this.#witness()) : this.#vouch;
    const [size, doubtful] = [this.#paths.length, [...this.#different, ...this.#raised]];
    this.#raised = [];
    if (known?.anew === true) vouch?.askAgain();
    const different = new Map<number, string>();
    let looked = 0;
    const compare = async (indices: Iterable<number>, anew: boolean): Promise<void> => {
      for (const index of indices) {
        const path = this.#paths[index];
        if (path === undefined) continue;
        looked += 1;
        if (looked % AT_ONCE === 0) await turn();
        const any = this.#stamps[index * WIDTH + 1] === ANY;
        const found = anew && vouch !== undefined ? vouch.look(path, index, any) : statOf(path);
        if (isSame(this.#stamps, index * WIDTH, found)) continue;
        if (!(await this.#isAsItWas(index, path, found))) different.set(index, path);
      }
    };
    await compare(known?.places ?? [], known?.anew === true);
    await compare(known === undefined ? [] : doubtful, true);
    await compare(between(known === undefined ? 0 : this.#vouched, size), true);
    known?.settle();
    this.#vouch = vouch;
    this.#vouched = size;
    this.#different = [...different.keys()];
    return [...different.values()];
  }

  #suspects(): Suspects | undefined {
    const vouch = this.#vouch;
    return vouch === undefined || vouch.witness !== this.#witness() ? undefined : vouch.suspects();
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
    this.#different = this.#different.filter((index) => this.#paths[index] !== undefined);
    return files;
  }

  /** From now on nobody answers for any of them, until all were compared. */
  doubt(): void {
    this.#vouch = undefined;
  }

  /**
   * Whether they are as they were by what was told of their folders, and by a look at the few others. Only for callers who
   * have waited until everything was told that happened before they came.
   */
  isVouched(): boolean {
    const suspects = this.#suspects();
    if (suspects === undefined || suspects.anew) return false;
    const indices = [...suspects.places, ...this.#different, ...this.#raised];
    for (let index = this.#vouched; index < this.#paths.length; index += 1) indices.push(index);
    if (indices.length > AT_ONCE || !indices.every((index) => this.#isSame(index))) return false;
    suspects.settle();
    return true;
  }

  #isSame(index: number): boolean {
    const path = this.#paths[index];
    return path === undefined || isSame(this.#stamps, index * WIDTH, statOf(path));
  }

  /** A folder with another time may have what it had: something came and went, or was replaced. */
  async #isAsItWas(index: number, path: string, found: Stats | undefined): Promise<boolean> {
    if (isSame(this.#stamps, index * WIDTH, found)) return true;
    if (!(await hasNames(this.#stamps, index * WIDTH, path, found))) return false;
    this.#stamp(index, found, false);
    return true;
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
