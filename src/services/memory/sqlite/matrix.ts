import { setImmediate } from 'node:timers/promises';
import { nearScan, type NearScan } from '../../../meaning/near-scan.ts';
import { spaceText } from '../rank.ts';
import { isSoundSquare, isSoundVector } from '../sound.ts';
import type { VectorSpace } from '../store.ts';
import type { Database } from './open.ts';
import type { Passing } from './passing.ts';
import { Slots } from './slots.ts';
import { bestOf, floatsOf, product } from './vector-numbers.ts';
import {
  CHANGED,
  isPlace,
  NEXT,
  VECTORS,
  VECTORS_JOINED,
  type NextVectors,
  type VectorRow,
} from './vector-queries.ts';

/** Rows loaded in one step: some milliseconds of work. */
const SLICE = 1_000;

/**
 * Far beyond what comparing with each is good for. A file of a project may have any number of rows, and each would take
 * its place in memory; what is beyond is found by its words.
 */
const MOST_ROWS = 500_000;

/** Of the nearest, so many may be left out by a filter before all rows are looked at. */
const SPARE = 30;

/** More than numbers of four bytes are rounded by. */
const ROUNDING = 1e-4;

export interface Nearest {
  rids: number[];
  others: number;
  bounds(this: void, rid: number): { least: number; most: number } | undefined;
}

/**
 * The vectors of one space, made small: with a byte a number, they tell which are nearest, and those are compared with the exact
 * ones in the file. Up to a hundred thousand memories, looking at each is faster than an index would be worth.
 */
export class Matrix {
  readonly #space: VectorSpace;
  /** By slot; one that has lost its vector has one of zeros. */
  readonly #rids: number[] = [];
  readonly #slots = new Slots();
  readonly #lost = new Set<number>();
  /** The last change that was taken in. */
  #last = { rev: -1, rid: -1 };
  #dataVersion: number | undefined;
  #loading: Promise<void> | undefined;
  #loaded = false;
  /** Nothing where the machine cannot do it, or there is no room: then the vectors themselves are kept. */
  #scan: NearScan | undefined;
  readonly #whole: Float32Array[] = [];
  /** By which a cosine with a byte a number is wrong at most. */
  readonly #mostWrong: number;
  #room = MOST_ROWS;

  constructor(space: VectorSpace) {
    this.#space = space;
    this.#scan = nearScan(space.dim);
    this.#mostWrong = Math.sqrt(space.dim) / 200;
  }

  /**
   * Loads the existing rows, in slices between which the process does other things. Changes in the meantime come with the
   * next refresh.
   */
  async load(database: Database, pause: () => Promise<void> = setImmediate): Promise<void> {
    if (this.#loaded) return;
    await (this.#loading ??= this.#loadAll(database, pause).finally(() => {
      this.#loading = undefined;
    }));
  }

  async #loadAll(database: Database, pause: () => Promise<void>): Promise<void> {
    const newest = `SELECT max(rev) AS rev FROM memory WHERE ${isPlace('rev')}`;
    const { rev } = (await database.read(() => database.get<{ rev: number | null }>(newest))) ?? {};
    let place = -1;
    const slice = (): number => {
      const next = database.get<NextVectors>(NEXT, place, ...this.#ofSpace(), SLICE);
      const rids = JSON.parse(next?.rids ?? '[]') as number[];
      const bytes = this.#space.dim * 4;
      const all = next?.vectors?.byteLength === rids.length * bytes ? next.vectors : undefined;
      if (all === undefined || !this.#putAll(rids, all)) {
        const apart = this.#read(database, rids);
        for (const rid of rids) this.#put(rid, apart.get(rid));
      }
      place = next?.place ?? place;
      return rids.length;
    };
    while ((await database.read(slice)) === SLICE) await pause();
    this.#last = { rev: rev ?? -1, rid: Number.MAX_SAFE_INTEGER };
    this.#loaded = true;
  }

  get space(): VectorSpace {
    return this.#space;
  }

  /** The last change that was taken in. */
  get rev(): number {
    return this.#last.rev;
  }

  /** Another opening of the same file is asked from now on, which counts the changes of others anew. */
  reopened(): this {
    this.#dataVersion = undefined;
    return this;
  }

  /** Takes in what any process has changed since the last time. Inside a transaction of the caller. */
  refresh(database: Database, ownWrites: boolean): void {
    const dataVersion = database.dataVersion();
    if (dataVersion === this.#dataVersion && !ownWrites) return;
    while (this.#take(database) === SLICE);
    this.#dataVersion = dataVersion;
  }

  /** The next rows in the order of change; many of one transaction have the same number. */
  #take(database: Database): number {
    const { rev, rid } = this.#last;
    const rows = database.all<{ rid: number; rev: number }>(CHANGED, rev, rid, SLICE);
    const vectors = this.#read(
      database,
      rows.map((row) => row.rid),
    );
    for (const row of rows) this.#put(row.rid, vectors.get(row.rid));
    this.#last = rows.at(-1) ?? this.#last;
    return rows.length;
  }

  #ofSpace(): [string, number] {
    return [spaceText(this.#space), this.#space.dim * 4];
  }

  #read(database: Database, rids: Iterable<number>): Map<number, Uint8Array> {
    const given = [JSON.stringify([...rids]), ...this.#ofSpace()] as const;
    const joined = database.get<Omit<NextVectors, 'place'>>(VECTORS_JOINED, ...given);
    const found = JSON.parse(joined?.rids ?? '[]') as number[];
    const bytes = this.#space.dim * 4;
    const all = joined?.vectors;
    // They are joined as text, which a file may have in a form that changes them.
    if (all?.byteLength !== found.length * bytes)
      return new Map(database.all<VectorRow>(VECTORS, ...given).map(({ rid, vector }) => [rid, vector]));
    return new Map(found.map((rid, at) => [rid, all.subarray(at * bytes, (at + 1) * bytes)]));
  }

  /** Many at once, each in a place of its own; false where they have to be looked at one by one. */
  #putAll(rids: readonly number[], bytes: Uint8Array): boolean {
    const first = this.#rids.length;
    if (this.#scan === undefined || first + rids.length > this.#room) return false;
    try {
      if (!this.#scan.put(first, bytes).every(isSoundSquare)) return false;
    } catch {
      return false;
    }
    for (const [at, rid] of rids.entries()) this.#slots.set(rid, first + at);
    for (const rid of rids) this.#rids.push(rid);
    return true;
  }

  #put(rid: number, bytes: Uint8Array | undefined): void {
    const known = this.#slots.get(rid);
    const vector = bytes === undefined ? undefined : floatsOf(bytes);
    if (vector === undefined || !isSoundVector(vector)) {
      if (known === undefined) return;
      this.#keep(known, new Float32Array(this.#space.dim));
      this.#lost.add(rid);
      return;
    }
    const slot = known ?? this.#rids.length;
    if (slot >= this.#room) return;
    try {
      this.#keep(slot, vector);
    } catch {
      // No more memory is to be had: what is beyond is found by its words.
      this.#room = slot;
      return;
    }
    this.#rids[slot] = rid;
    this.#slots.set(rid, slot);
    this.#lost.delete(rid);
  }

  #keep(slot: number, vector: Float32Array): void {
    if (this.#scan === undefined) this.#whole[slot] = Float32Array.from(vector);
    else this.#scan.put(slot, new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
  }

  /** How near these are, exactly; those without a vector are left out. */
  cosines(database: Database, rids: Iterable<number>, wanted: Float32Array): ReadonlyMap<number, number> {
    const found = new Map<number, number>();
    const known = [...rids].filter((rid) => this.#slots.get(rid) !== undefined);
    for (const [rid, bytes] of this.#read(database, known)) {
      const vector = floatsOf(bytes);
      if (isSoundVector(vector)) found.set(rid, product(vector, wanted));
    }
    return found;
  }

  /**
   * The ids of the rows that are nearest among those that pass, how near the others are at most, and the bounds of how near any
   * is; undefined for one without a vector. The bounds hold until the next question.
   */
  nearest(wanted: Float32Array, passing: Passing, count: number): Nearest {
    const near = this.#scan?.near(wanted, this.#rids.length) ?? this.#exactly(wanted);
    // Most questions leave out little: then only the few that are near have to be looked at, not every row.
    const likely = this.#best(near, count + SPARE);
    const some = passing.of(likely, count);
    const isEnough = some.length >= count || likely.length >= near.length;
    const rids = isEnough ? some : this.#best(near, count, passing.all());
    const last = rids.length < count ? undefined : this.#slots.get(rids.at(-1) ?? -1);
    const wrong = this.#scan?.wrong(wanted) ?? (() => ROUNDING);
    return {
      rids,
      others: last === undefined ? -Infinity : (near[last] as number) + this.#mostWrong,
      bounds: (rid) => {
        const slot = this.#slots.get(rid);
        if (slot === undefined || this.#lost.has(rid)) return undefined;
        const [about, most] = [near[slot] as number, wrong(slot)];
        return { least: about - most, most: about + most };
      },
    };
  }

  #exactly(wanted: Float32Array): Float32Array {
    return Float32Array.from(this.#rids, (_, slot) => product(this.#whole[slot] ?? [], wanted));
  }

  /** The nearest of those that pass, nearest first. */
  #best(near: Float32Array, count: number, passes?: (rid: number) => boolean): number[] {
    const rids = this.#rids;
    const isTaken = passes && ((slot: number): boolean => passes(rids[slot] as number));
    return bestOf(near, count, -Infinity, isTaken).map((slot) => rids[slot] as number);
  }
}
