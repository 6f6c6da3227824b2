import { setImmediate } from 'node:timers/promises';
import { nearScan, type NearScan } from '../../../meaning/vectors.ts';
import { spaceText, type VectorSpace } from '../engine.ts';
import { isSoundSquare, isSoundVector } from '../rank.ts';
import { Database } from './database.ts';

/**
 * The next vectors of a space in the order of the file, a thousand as one: to receive them one by one takes several times
 * as long. What filters look at is not needed for them.
 */
const NEXT = `SELECT json_group_array(rid) AS rids, max(place) AS place, CAST(group_concat(vector, '') AS BLOB) AS vectors
  FROM (SELECT rowid AS place, rid, vector FROM vector WHERE rowid > ?
    AND space = ? AND typeof(vector) = 'blob' AND octet_length(vector) = ? ORDER BY rowid LIMIT ?)`;
interface NextVectors {
  rids: string;
  place: number | null;
  vectors: Uint8Array | null;
}

/** What was changed, in the order of change. */
const CHANGED = `SELECT rid, rev FROM memory WHERE (rev, rid) > (?, ?)
  ORDER BY rev, rid LIMIT ?`;

const VECTORS = `SELECT rid, vector FROM vector
  WHERE rid IN (SELECT value FROM json_each(?)) AND space = ? AND typeof(vector) = 'blob' AND octet_length(vector) = ?`;

/** The same as one. */
const VECTORS_JOINED = `SELECT json_group_array(rid) AS rids, CAST(group_concat(vector, '') AS BLOB) AS vectors FROM (${VECTORS})`;

interface VectorRow {
  rid: number;
  vector: Uint8Array;
}

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
    const newest = 'SELECT max(rev) AS rev FROM memory';
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
