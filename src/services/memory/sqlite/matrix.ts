import { setImmediate } from 'node:timers/promises';
import { nearScan, type NearScan } from '../../../meaning/vectors.ts';
import { spaceText, type VectorSpace } from '../engine.ts';
import { damagedRow, type Database } from './database.ts';

/**
 * Vectors, many as one: to receive them one by one takes several times as long. What filters look at is not needed for them.
 */
const JOINED = "json_group_array(rid) AS rids, CAST(group_concat(vector, '') AS BLOB) AS vectors";

/** The next of a space in the order of the file. */
const NEXT = `SELECT ${JOINED}, max(place) AS place
  FROM (SELECT rowid AS place, rid, vector FROM vector WHERE rowid > ? AND space = ? ORDER BY rowid LIMIT ?)`;

/** Those of some rows. */
const VECTORS = `SELECT ${JOINED} FROM vector WHERE rid IN (SELECT value FROM json_each(?)) AND space = ?`;

interface Joined {
  rids: string;
  vectors: Uint8Array | null;
}

/** What was changed, in the order of change. */
const CHANGED = `SELECT rid, rev FROM memory WHERE (rev, rid) > (?, ?)
  ORDER BY rev, rid LIMIT ?`;

/** Rows loaded in one step: some milliseconds of work. */
const SLICE = 1_000;

/** Of the nearest, so many may be left out by a filter before all rows are looked at. */
const SPARE = 30;

/** More than numbers of four bytes are rounded by. */
const ROUNDING = 1e-4;

/** What a filter takes. */
export interface Passing {
  /** The first of a few rows, in their order. */
  of(rids: readonly number[], most: number): number[];
  /** Of all of them, which takes a look at each. */
  all(): (rid: number) => boolean;
}

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
  readonly #slots = new Map<number, number>();
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
  /** Less where no more memory is to be had: what is beyond is found by its words. */
  #room = Infinity;

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
    const newest = 'SELECT max(rev) AS rev FROM memory';
    const { rev } = (await database.read(() => database.get<{ rev: number | null }>(newest))) ?? {};
    let place = -1;
    const slice = (): number => {
      const next = database.get<Joined & { place: number | null }>(
        NEXT,
        place,
        spaceText(this.#space),
        SLICE,
      );
      place = next?.place ?? place;
      return this.#putNext(next);
    };
    while ((await database.read(slice)) === SLICE) await pause();
    this.#last = { rev: rev ?? -1, rid: Number.MAX_SAFE_INTEGER };
    this.#loaded = true;
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
    const vectors = new Map(
      this.#read(
        database,
        Array.from(rows, (row) => row.rid),
      ),
    );
    for (const row of rows) this.#put(row.rid, vectors.get(row.rid));
    this.#last = rows.at(-1) ?? this.#last;
    return rows.length;
  }

  #read(database: Database, rids: readonly number[]): [number, Uint8Array][] {
    return this.#apart(database.get<Joined>(VECTORS, JSON.stringify(rids), spaceText(this.#space)));
  }

  #apart(joined: Joined | undefined): [number, Uint8Array][] {
    const bytes = this.#space.dim * 4;
    const rids = JSON.parse(joined?.rids ?? '[]') as number[];
    const all = joined?.vectors ?? new Uint8Array();
    // One of another length would move all that follow it.
    if (all.byteLength !== rids.length * bytes) throw damagedRow();
    return rids.map((rid, at) => [rid, all.subarray(at * bytes, (at + 1) * bytes)]);
  }

  /** Those of the file in its order, none of which is here yet: as one they are put several times as fast. */
  #putNext(joined: Joined | undefined): number {
    const found = this.#apart(joined);
    const first = this.#rids.length;
    if (this.#scan === undefined || first >= this.#room) {
      for (const [rid, vector] of found) this.#put(rid, vector);
      return found.length;
    }
    try {
      this.#scan.put(first, joined?.vectors ?? new Uint8Array());
    } catch {
      this.#room = first;
      return found.length;
    }
    for (const [rid] of found) this.#slots.set(rid, this.#rids.push(rid) - 1);
    return found.length;
  }

  #put(rid: number, vector: Uint8Array | undefined): void {
    const known = this.#slots.get(rid);
    if (vector === undefined) {
      if (known === undefined) return;
      this.#keep(known, new Uint8Array(this.#space.dim * 4));
      this.#lost.add(rid);
      return;
    }
    const slot = known ?? this.#rids.length;
    if (slot >= this.#room) return;
    try {
      this.#keep(slot, vector);
    } catch {
      this.#room = slot;
      return;
    }
    this.#rids[slot] = rid;
    this.#slots.set(rid, slot);
    this.#lost.delete(rid);
  }

  #keep(slot: number, vector: Uint8Array): void {
    if (this.#scan === undefined) this.#whole[slot] = Float32Array.from(floatsOf(vector));
    else this.#scan.put(slot, vector);
  }

  /** How near these are, exactly; those without a vector are left out. */
  cosines(database: Database, rids: Iterable<number>, wanted: Float32Array): ReadonlyMap<number, number> {
    const known = [...rids].filter((rid) => this.#slots.has(rid));
    return new Map(
      this.#read(database, known).map(([rid, bytes]) => [rid, product(floatsOf(bytes), wanted)]),
    );
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

/** Drivers give bytes that may begin anywhere in a block, where numbers cannot. */
function floatsOf(bytes: Uint8Array): Float32Array {
  const whole = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return new Float32Array(whole.buffer, whole.byteOffset, whole.byteLength >> 2);
}

/** Four sums in parallel: the processor need not wait for one addition before it begins the next. */
function product(vector: ArrayLike<number>, wanted: Float32Array): number {
  const dim = wanted.length;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let index = 0;
  for (; index + 3 < dim; index += 4) {
    a += (vector[index] as number) * (wanted[index] as number);
    b += (vector[index + 1] as number) * (wanted[index + 1] as number);
    c += (vector[index + 2] as number) * (wanted[index + 2] as number);
    d += (vector[index + 3] as number) * (wanted[index + 3] as number);
  }
  for (; index < dim; index++) a += (vector[index] as number) * (wanted[index] as number);
  return a + b + c + d;
}

/** Of the numbers above one, the places of the greatest that are taken, greatest first, and of equal ones the first. */
export function bestOf(
  numbers: Float32Array | Float64Array,
  count: number,
  above: number,
  isTaken?: (place: number) => boolean,
): number[] {
  let places: number[] = [];
  let bar = above;
  const cut = (): void => {
    places.sort((a, b) => (numbers[b] as number) - (numbers[a] as number) || a - b);
    places = places.slice(0, count);
    // Of those that are equal to the last one, the first are already there.
    if (places.length === count) bar = numbers[places.at(-1) ?? 0] as number;
  };
  for (let place = 0; place < numbers.length; place++) {
    if (!((numbers[place] as number) > bar) || isTaken?.(place) === false) continue;
    if (places.push(place) >= 2 * count) cut();
  }
  cut();
  return places;
}
