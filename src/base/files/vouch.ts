import type { Stats } from 'node:fs';
import { dirname } from 'node:path';
import { isSettled, lstatOf, statOf } from './place-stats.ts';

/** A folder that is watched: everything that happens directly in it, and to itself, is told. */
export interface WatchedFolder {
  readonly dev: number;
  readonly ino: number;
  /** How often something was told of it; below zero once it is not watched any more. */
  readonly told: number;
}

/** What a watch of folders knows, for those who would otherwise look at every file. */
export interface Witness {
  /** How often anything was told of any folder, and how often a folder was added; undefined if nothing is certain. */
  count(): { told: number; added: number } | undefined;
  /** The folder with this real path, if the system queues an event together with every change in it. */
  folder(path: string): WatchedFolder | undefined;
  /** From so many at once on, the system may have left some out. */
  readonly most: number;
}

/** What is missing in one folder: as long as the folder is as it was, it still is. */
interface Missing {
  folder: string;
  /** Nothing where its times prove nothing yet. */
  before: Stats | undefined;
  places: number[];
}

/**
 * Goes along with a comparison of all places and finds out which of them a watch can answer for. What it says of a
 * folder counts from before the first place in it is compared.
 */
export class Survey {
  readonly #witness: Witness;
  readonly #began: { told: number; added: number };
  readonly #stands = new Map<string, boolean>();
  readonly #folders: { folder: WatchedFolder; told: number }[] = [];
  readonly #tops: { path: string; folder: WatchedFolder }[] = [];
  readonly #apart: number[] = [];
  readonly #missing = new Map<string, Missing>();

  private constructor(witness: Witness, began: { told: number; added: number }) {
    this.#witness = witness;
    this.#began = began;
  }

  static begin(witness: Witness | undefined): Survey | undefined {
    const began = witness?.count();
    return witness === undefined || began === undefined ? undefined : new Survey(witness, began);
  }

  /** What is there, as `statOf` has it. `isFound`: only whether it is there, and still the same. */
  look(path: string, index: number, isFound: boolean): Stats | undefined {
    const above = dirname(path);
    const [tellsItself, tells] = [this.#isTold(path), this.#isTold(above)];
    const missing = tells || tellsItself ? undefined : this.#missingIn(above);
    const own = lstatOf(path);
    if (own === undefined && missing !== undefined) missing.places.push(index);
    else if (!isAnsweredFor(own, isFound, tellsItself, tells) || this.#isMounted(own, above))
      this.#apart.push(index);
    return own?.isSymbolicLink() === true ? statOf(path) : own;
  }

  /** What is mounted over a file of another disk is told of there, not here. */
  #isMounted(own: Stats | undefined, above: string): boolean {
    const folder = this.#witness.folder(above);
    return own?.isFile() === true && folder !== undefined && own.dev !== folder.dev;
  }

  /** The folder is looked at before what is in it. */
  #missingIn(folder: string): Missing {
    const known = this.#missing.get(folder);
    if (known !== undefined) return known;
    const found = statOf(folder);
    const before = found !== undefined && isSettled(found.ctimeMs) ? found : undefined;
    const missing = { folder, before, places: [] };
    this.#missing.set(folder, missing);
    return missing;
  }

  /** After all of the first `size` places were found as they were. */
  vouch(size: number): Vouch {
    return new Vouch(this.#witness, {
      size,
      ...this.#began,
      folders: this.#folders,
      tops: this.#tops,
      apart: this.#apart,
      missing: [...this.#missing.values()].filter(({ places }) => places.length > 0),
    });
  }

  /** Whether a path leads to a folder that is watched, and cannot lead anywhere else without that being noticed. */
  #isTold(path: string): boolean {
    const known = this.#stands.get(path);
    if (known !== undefined) return known;
    const folder = this.#witness.folder(path);
    if (folder === undefined) return false;
    const { told } = folder;
    const above = dirname(path);
    const isTop = above === path || this.#witness.folder(above) === undefined;
    const stands = isAt(folder, lstatOf(path)) && (isTop || this.#isTold(above));
    this.#stands.set(path, stands);
    if (stands) this.#folders.push({ folder, told });
    if (stands && isTop) this.#tops.push({ path, folder });
    return stands;
  }
}

/** Whether whatever may change a place is told by the folder that it is, or by the one that it is in. */
function isAnsweredFor(own: Stats | undefined, isFound: boolean, itself: boolean, above: boolean): boolean {
  if (own === undefined) return above;
  if (own.isDirectory()) return itself || (isFound && above);
  // A file with several names is told of where it was written, and what a link leads to may be anywhere.
  return own.isFile() && own.nlink === 1 && above;
}

const isAt = ({ dev, ino }: WatchedFolder, found: Stats | undefined): boolean =>
  found?.ino === ino && found.dev === dev;

interface Vouched {
  /** How many places there were. */
  size: number;
  told: number;
  added: number;
  folders: readonly { folder: WatchedFolder; told: number }[];
  /** Watched folders in folders that are not: what is above them may be moved without a word. */
  tops: readonly { path: string; folder: WatchedFolder }[];
  /** Places that are compared each time. */
  apart: readonly number[];
  missing: readonly Missing[];
}

/** What a watch answers for since everything was compared, and what still has to be looked at. */
export class Vouch {
  readonly #witness: Witness;
  readonly #vouched: Vouched;

  constructor(witness: Witness, vouched: Vouched) {
    this.#witness = witness;
    this.#vouched = vouched;
  }

  get size(): number {
    return this.#vouched.size;
  }

  /** How many places are looked at each time. */
  get apart(): number {
    const { apart, missing } = this.#vouched;
    return apart.length + missing.reduce((sum, { places }) => sum + places.length, 0);
  }

  /** Whether nothing was told of any of its folders, and all of them are still where they were. */
  isQuiet(): boolean {
    const now = this.#witness.count();
    const { told, added, folders, tops } = this.#vouched;
    if (now === undefined || now.added !== added) return false;
    if (now.told !== told) {
      if (now.told - told >= this.#witness.most) return false;
      for (const each of folders) if (each.folder.told !== each.told) return false;
      this.#vouched.told = now.told;
    }
    return tops.every(({ path, folder }) => isAt(folder, statOf(path)));
  }

  /** The places that have to be compared now. */
  *toCompare(): Iterable<number> {
    const { apart, missing } = this.#vouched;
    yield* apart;
    for (const { folder, before, places } of missing) {
      // To look at the only one is as quick.
      const isAsBefore = before !== undefined && places.length > 1 && isSame(before, statOf(folder));
      if (!isAsBefore) yield* places;
    }
  }
}

const isSame = ({ dev, ino, mtimeMs, ctimeMs }: Stats, now: Stats | undefined): boolean =>
  now?.ino === ino && now.mtimeMs === mtimeMs && now.ctimeMs === ctimeMs && now.dev === dev;
