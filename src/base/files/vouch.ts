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

/** A folder that is told of, and the places that it answers for. */
interface Told {
  path: string;
  folder: WatchedFolder;
  /** How often something had been told of it before they were last compared. */
  told: number;
  places: number[];
}

/** Places that have to be compared now. */
export interface Suspects {
  places: readonly number[];
  /** Whether somebody else may answer for them from now on, which `look` finds out. */
  anew: boolean;
  /** They are as they were, or are not asked for any more. */
  settle(): void;
}

/** What is missing in one folder: as long as the folder is as it was, it still is. */
interface Missing {
  folder: string;
  /** Nothing where its times prove nothing yet. */
  before: Stats | undefined;
  places: number[];
}

/**
 * Which places a watch answers for. It goes along with a comparison of all of them, and then says which have to be compared
 * again: those in folders of which something was told since, and those that no folder tells of.
 */
export class Vouch {
  readonly witness: Witness;
  #told: number;
  #added: number;
  readonly #folders = new Map<string, Told>();
  readonly #tops: Told[] = [];
  readonly #apart = new Set<number>();
  readonly #missing = new Map<string, Missing>();

  private constructor(witness: Witness, began: { told: number; added: number }) {
    this.witness = witness;
    this.#told = began.told;
    this.#added = began.added;
  }

  static begin(witness: Witness | undefined): Vouch | undefined {
    const began = witness?.count();
    return witness === undefined || began === undefined ? undefined : new Vouch(witness, began);
  }

  /**
   * What is there, as `statOf` has it, and from now on somebody answers for it. `isFound`: only whether it is there, and still
   * the same.
   */
  look(path: string, index: number, isFound: boolean): Stats | undefined {
    const above = dirname(path);
    const [itself, tells] = [this.#toldOf(path), this.#toldOf(above)];
    const missing = (tells ?? itself) === undefined ? this.#missingIn(above) : undefined;
    const own = lstatOf(path);
    const by = answering(own, isFound, itself, tells);
    if (by !== undefined) by.places.push(index);
    else if (own === undefined && missing !== undefined) missing.places.push(index);
    else this.#apart.add(index);
    return own?.isSymbolicLink() === true ? statOf(path) : own;
  }

  /** The folder is looked at before what is in it. */
  #missingIn(folder: string): Missing {
    const known = this.#missing.get(folder);
    if (known !== undefined) return known;
    const missing = { folder, before: settled(statOf(folder)), places: [] };
    this.#missing.set(folder, missing);
    return missing;
  }

  /** The folder at a path, if it is watched and the path cannot lead anywhere else without that being noticed. */
  #toldOf(path: string): Told | undefined {
    const known = this.#folders.get(path);
    if (known !== undefined) return known;
    const folder = this.witness.folder(path);
    if (folder === undefined) return undefined;
    const { told } = folder;
    const above = dirname(path);
    const isTop = above === path || this.witness.folder(above) === undefined;
    if (!isAt(folder, lstatOf(path)) || (!isTop && this.#toldOf(above) === undefined)) return undefined;
    const found = { path, folder, told, places: [] };
    this.#folders.set(path, found);
    if (isTop) this.#tops.push(found);
    return found;
  }

  /** What has to be compared now; nothing where that is everything: too much was told, or a folder is another one. */
  suspects(): Suspects | undefined {
    const now = this.witness.count();
    if (now === undefined || now.told - this.#told >= this.witness.most) return undefined;
    if (!this.#tops.every(({ path, folder }) => isAt(folder, statOf(path)))) return undefined;
    const moved: { told: Told; now: number }[] = [];
    if (now.told !== this.#told)
      for (const told of this.#folders.values()) {
        if (told.folder.told === told.told) continue;
        const { told: count } = told.folder;
        if (count < 0 || !isAt(told.folder, lstatOf(told.path))) return undefined;
        moved.push({ told, now: count });
      }
    const anew = now.added !== this.#added;
    const places = [...moved.flatMap(({ told }) => told.places), ...this.#apart];
    const looked = new Map<Missing, Stats | undefined>();
    for (const missing of this.#missing.values()) {
      const found = statOf(missing.folder);
      if (!anew && missing.before !== undefined && isSame(missing.before, found)) continue;
      places.push(...missing.places);
      looked.set(missing, settled(found));
    }
    return {
      places,
      anew,
      settle: () => {
        for (const each of moved) each.told.told = each.now;
        for (const [missing, found] of looked) missing.before = found;
        this.#told = now.told;
        this.#added = now.added;
      },
    };
  }

  /** Those that nobody answers for may be in folders that are watched since: all of them are going to be looked at. */
  askAgain(): void {
    this.#apart.clear();
    this.#missing.clear();
  }
}

/** The folder that tells of whatever may change a place: the one that it is, or the one that it is in. */
function answering(
  own: Stats | undefined,
  isFound: boolean,
  itself: Told | undefined,
  above: Told | undefined,
): Told | undefined {
  if (own === undefined) return above;
  if (own.isDirectory()) return itself ?? (isFound ? above : undefined);
  // A file with several names is told of where it was written, what a link leads to may be anywhere, and what is mounted
  // over a file of another disk is told of there.
  return own.isFile() && own.nlink === 1 && own.dev === above?.folder.dev ? above : undefined;
}

/** Nothing where its times prove nothing yet. */
const settled = (found: Stats | undefined): Stats | undefined =>
  found !== undefined && isSettled(found.ctimeMs) ? found : undefined;

const isAt = ({ dev, ino }: WatchedFolder, found: Stats | undefined): boolean =>
  found?.ino === ino && found.dev === dev;

const isSame = ({ dev, ino, mtimeMs, ctimeMs }: Stats, now: Stats | undefined): boolean =>
  now?.ino === ino && now.mtimeMs === mtimeMs && now.ctimeMs === ctimeMs && now.dev === dev;
