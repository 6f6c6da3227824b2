import { setImmediate } from 'node:timers/promises';
import { bestOf, dot, nearScan, type NearScan } from '../../../meaning/vectors.ts';
import { spaceText, type VectorSpace } from '../engine.ts';
import { damaged, type Database, jsonInRow, type SqlValue } from './database.ts';

/** Rows with their vectors, as one: to receive them one by one takes several times as long. */
const joined = (rows: string): string => `SELECT json_group_array(r.rid) AS asked, max(r.rev) AS rev,
  json_group_array(v.rid) FILTER (WHERE v.rid IS NOT NULL) AS rids, CAST(group_concat(v.vector, '') AS BLOB) AS vectors
  FROM (${rows}) r LEFT JOIN vector v ON v.rid = r.rid AND v.space = ?`;
const THESE = joined('SELECT value AS rid, 0 AS rev FROM json_each(?)');
/** In the order of change. */
const CHANGED = joined('SELECT rid, rev FROM memory WHERE (rev, rid) > (?, ?) ORDER BY rev, rid LIMIT ?');

/** Rows loaded in one step: some milliseconds of work. */
const SLICE = 1_000;

/** Of the nearest, so many may be left out by a filter before more are looked at, and how many times as many these are. */
const SPARE = 30;
const WIDER = 8;

/** What a filter takes: of some rows, or of all of them, which takes a look at each. */
export type Passing = (rids?: readonly number[]) => ReadonlySet<number>;

/**
 * The vectors of one space, made small: with a byte a number, they tell which are nearest, and those are compared with the exact
 * ones in the file. Up to a hundred thousand memories, looking at each is faster than an index would be worth.
 */
export class Matrix {
  readonly #space: VectorSpace;
  /** By slot; one that has lost its vector has one of zeros. */
  readonly #rids: number[] = [];
  readonly #slots = new Map<number, number>();
  /** The last change that was taken in. */
  #last = { rev: -1, rid: -1 };
  #loading: Promise<void> | undefined;
  /** Nothing where the machine cannot do it: then the vectors themselves are kept. */
  readonly #scan: NearScan | undefined;
  readonly #whole: Float32Array[] = [];
  /** Less where no more memory is to be had: what is beyond is found by its words. */
  #room = Infinity;

  constructor(space: VectorSpace) {
    this.#space = space;
    this.#scan = nearScan(space.dim);
  }

  /** Loads the existing rows, in slices between which the process does other things; changes meanwhile come with the next refresh. */
  load(database: Database): Promise<void> {
    const work = async (): Promise<void> => {
      while ((await database.read(() => this.#take(database))) === SLICE) await setImmediate();
    };
    this.#loading ??= work().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  /** Takes in what any process has changed since the last time. Inside a transaction of the caller. */
  refresh(database: Database): void {
    while (this.#take(database) === SLICE);
  }

  /** The next rows in the order of change; many of one transaction have the same number. */
  #take(database: Database): number {
    const { asked, rev, rids, vectors } = this.#read(
      database,
      CHANGED,
      this.#last.rev,
      this.#last.rid,
      SLICE,
    );
    const bytes = this.#space.dim * 4;
    const having = new Set(rids);
    for (const each of asked) {
      const slot = having.has(each) ? undefined : this.#slots.get(each);
      if (slot !== undefined) this.#keep(slot, new Uint8Array(bytes));
    }
    // Those that are not here yet, which are all of them at first, are put as one: that is several times as fast.
    const areNew = rids.every((each) => !this.#slots.has(each));
    if (areNew && rids.length > 0) this.#keep(this.#rids.length, vectors, rids);
    else
      for (const [at, each] of rids.entries()) {
        const vector = vectors.subarray(at * bytes, (at + 1) * bytes);
        this.#keep(this.#slots.get(each) ?? this.#rids.length, vector, [each]);
      }
    const rid = asked.at(-1);
    if (rid !== undefined) this.#last = { rev, rid };
    return asked.length;
  }

  #read(database: Database, sql: string, ...values: SqlValue[]) {
    const row = database.get<Record<'asked' | 'rids', string> & { rev: number; vectors: Uint8Array | null }>(
      sql,
      ...values,
      spaceText(this.#space),
    );
    const [asked = [], rids = []] = [row?.asked, row?.rids].map((each) => jsonInRow<number[]>(each ?? '[]'));
    const vectors = row?.vectors ?? new Uint8Array();
    // One of another length would move all that follow it.
    if (vectors.byteLength !== rids.length * this.#space.dim * 4) throw damaged();
    return { asked, rev: row?.rev ?? 0, rids, vectors };
  }

  /** Vectors from a slot on, with their rows where these are new. */
  #keep(slot: number, vectors: Uint8Array, rids: readonly number[] = []): void {
    if (slot >= this.#room) return;
    try {
      if (this.#scan !== undefined) this.#scan.put(slot, vectors);
      else
        for (const [at, vector] of apart(vectors, this.#space.dim).entries())
          this.#whole[slot + at] = vector.slice();
    } catch {
      this.#room = slot;
      return;
    }
    for (const [at, rid] of rids.entries()) {
      this.#rids[slot + at] = rid;
      this.#slots.set(rid, slot + at);
    }
  }

  /** How near these are, exactly; those without a vector are left out. */
  cosines(database: Database, asked: readonly number[], wanted: Float32Array): ReadonlyMap<number, number> {
    const { rids, vectors } = this.#read(database, THESE, JSON.stringify(asked));
    const each = apart(vectors, this.#space.dim);
    return new Map(rids.map((rid, at) => [rid, dot(each[at] as Float32Array, wanted)]));
  }

  /** The rows that are nearest among those that pass; `isKnown` where an index tells quickly which those are of all. */
  nearest(wanted: Float32Array, passing: Passing, count: number, isKnown = false): number[] {
    const near =
      this.#scan?.near(wanted, this.#rids.length) ??
      Float32Array.from(this.#rids, (_, slot) => dot(wanted, this.#whole[slot] ?? wanted));
    const best = (most: number, taken?: ReadonlySet<number>): number[] => {
      const isTaken = taken && ((slot: number): boolean => taken.has(this.#rids[slot] as number));
      return bestOf(near, most, -Infinity, isTaken).map((slot) => this.#rids[slot] as number);
    };
    // Only the few that are near have to be looked at, unless a filter leaves out nearly all of them: then every row.
    for (let most = count + SPARE; most * WIDER < near.length;) {
      const likely = best(most);
      const some = passing(likely);
      if (some.size >= count) return likely.filter((rid) => some.has(rid)).slice(0, count);
      if (isKnown && some.size * WIDER < most) break;
      // As many more as so few of these were taken.
      most = Math.max(most * 2, Math.min(most * WIDER, Math.ceil((2 * most * count) / (some.size + 1))));
    }
    return best(count, passing());
  }
}

/** Drivers give bytes that may begin anywhere in a block, where numbers cannot. */
function apart(bytes: Uint8Array, dim: number): Float32Array[] {
  const whole = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const numbers = new Float32Array(whole.buffer, whole.byteOffset, whole.byteLength >> 2);
  return Array.from({ length: numbers.length / dim }, (_, at) => numbers.subarray(at * dim, (at + 1) * dim));
}
