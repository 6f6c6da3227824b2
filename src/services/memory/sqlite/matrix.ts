import { setImmediate } from 'node:timers/promises';
import { nearScan, type NearScan } from '../../../meaning/near-scan.ts';
import type { Database } from './open.ts';
import type { MemoryEntry } from '../../../model/memory.ts';
import { spaceText } from '../rank.ts';
import { passes, type ReadyFilter } from '../select.ts';
import type { VectorSpace } from '../store.ts';
import { isSoundEntry, isSoundVector } from '../sound.ts';
import { entryOf, type MemoryRow } from './rows.ts';
import { fits } from './sound.ts';

interface VectorRow extends MemoryRow {
  rev: number;
  vector: Uint8Array | null;
}

/** Rows loaded in one step: some milliseconds of work. */
const SLICE = 500;

/**
 * Far beyond what comparing with each is good for. A file of a project may have any number of rows, and each would take
 * its place in memory; what is beyond is found by its words.
 */
const MOST_ROWS = 500_000;

/**
 * The vectors of one space in one block of memory, with what filters look at. Up to a hundred thousand memories,
 * comparing with each is faster than an index would be worth.
 */
export class Matrix {
  readonly #space: VectorSpace;
  #block = new Float32Array(0);
  /** By slot; what has lost its vector leaves its slot empty. */
  readonly #rids: number[] = [];
  readonly #heads: (MemoryEntry | undefined)[] = [];
  readonly #slots = new Map<number, number>();
  /** The last row that was taken in. */
  #last = { rev: -1, rid: -1 };
  #dataVersion: number | undefined;
  #loading: Promise<void> | undefined;
  #loaded = false;

  /** Tells which are worth comparing; nothing where all are. */
  #scan: NearScan | undefined;

  constructor(space: VectorSpace) {
    this.#space = space;
    this.#scan = nearScan(space.dim);
  }

  /**
   * Loads the existing rows, in slices between which the process does other things: a hundred thousand vectors take
   * seconds. Changes in the meantime come later in the same order, or with the next refresh.
   */
  async load(database: Database): Promise<void> {
    if (this.#loaded) return;
    await (this.#loading ??= this.#loadAll(database).finally(() => {
      this.#loading = undefined;
    }));
  }

  async #loadAll(database: Database): Promise<void> {
    const count = await database.read(() =>
      database.get<{ n: number }>(
        'SELECT count(*) AS n FROM vector WHERE space = ? AND octet_length(vector) = ?',
        spaceText(this.#space),
        this.#space.dim * 4,
      ),
    );
    this.#reserve(count?.n ?? 0);
    while ((await database.read(() => this.#take(database, SLICE))) === SLICE) await setImmediate();
    this.#loaded = true;
  }

  /** Takes in what any process has changed since the last time. Inside a transaction of the caller. */
  refresh(database: Database, ownWrites: boolean): void {
    const dataVersion = database.dataVersion();
    if (dataVersion === this.#dataVersion && !ownWrites) return;
    while (this.#take(database, SLICE) === SLICE);
    this.#dataVersion = dataVersion;
  }

  /** The next rows in the order of change; many of one transaction have the same number. */
  #take(database: Database, most: number): number {
    const rows = database.all<VectorRow>(
      `SELECT m.rid, m.type, m.id, m.agent, '' AS text, m.tags, m.project, m.created_at, m.updated_at, m.revision,
              m.forgotten_at, m.superseded_by, m.superseded_at, '' AS terms, m.rev,
              CASE WHEN typeof(v.vector) = 'blob' AND octet_length(v.vector) = ? THEN v.vector END AS vector
       FROM memory m LEFT JOIN vector v ON v.rid = m.rid AND v.space = ?
       WHERE (m.rev, m.rid) > (?, ?) AND ${fits('m')} ORDER BY m.rev, m.rid LIMIT ?`,
      this.#space.dim * 4,
      spaceText(this.#space),
      this.#last.rev,
      this.#last.rid,
      most,
    );
    this.#reserve(this.#rids.length + rows.length);
    for (const row of rows) this.#put(row);
    if (rows.length > 0) this.#version += 1;
    const last = rows.at(-1);
    if (last !== undefined) this.#last = { rev: last.rev, rid: last.rid };
    return rows.length;
  }

  #reserve(slots: number): void {
    const { dim } = this.#space;
    const wanted = Math.min(slots, MOST_ROWS);
    if (wanted * dim <= this.#block.length) return;
    const larger = new Float32Array(Math.min(Math.max(wanted, 2 * this.#rids.length), MOST_ROWS) * dim);
    larger.set(this.#block);
    this.#block = larger;
  }

  #put(row: VectorRow): void {
    const { dim } = this.#space;
    const known = this.#slots.get(row.rid);
    const head = entryOf(row);
    if (row.vector?.byteLength !== dim * 4 || !isSoundEntry(head) || !isSoundVector(floatsOf(row.vector))) {
      if (known !== undefined) this.#heads[known] = undefined;
      return;
    }
    const slot = known ?? this.#rids.length;
    if (slot >= MOST_ROWS) return;
    if (known === undefined) {
      this.#rids.push(row.rid);
      this.#slots.set(row.rid, slot);
    }
    this.#heads[slot] = head;
    const bytes = new Uint8Array(this.#block.buffer, slot * dim * 4, dim * 4);
    bytes.set(row.vector);
    try {
      this.#scan?.put(slot, this.#block.subarray(slot * dim, (slot + 1) * dim));
    } catch {
      // No room for it: then all are compared.
      this.#scan = undefined;
    }
  }

  cosine(rid: number, wanted: Float32Array): number | undefined {
    const slot = this.#slots.get(rid);
    return slot === undefined || this.#heads[slot] === undefined
      ? undefined
      : product(this.#block, slot * this.#space.dim, wanted);
  }

  /** The ids of the rows that are nearest among those that pass, and how near the others are at most. */
  nearest(wanted: Float32Array, filter: ReadyFilter, count: number): { rids: number[]; others: number } {
    const best = new Best(count);
    const [passing, block, { dim }] = [this.#passing(filter), this.#block, this.#space];
    const bounds = this.#scan?.atMost(wanted, passing.length);
    for (let slot = 0; slot < passing.length; slot++)
      if (passing[slot] === 1 && (bounds === undefined || best.mayTake(bounds[slot] as number)))
        best.offer(product(block, slot * dim, wanted), slot);
    const kept = best.items();
    return {
      rids: kept.map(({ item }) => this.#rids[item] as number),
      others: kept.length < count ? -Infinity : (kept.at(-1)?.score ?? -Infinity),
    };
  }

  /** Changes with every row that is taken in. */
  #version = 0;
  #passed: { key: string; version: number; slots: Uint8Array } | undefined;

  /** Which slots pass: one question is asked in several ways under one filter, and most questions have none. */
  #passing(filter: ReadyFilter): Uint8Array {
    const key = JSON.stringify(filter, (_, value: unknown) => (value instanceof Set ? [...value] : value));
    const known = this.#passed;
    if (known?.key === key && known.version === this.#version) return known.slots;
    const slots = Uint8Array.from(this.#heads, (head) =>
      head !== undefined && passes(head, filter) ? 1 : 0,
    );
    this.#passed = { key, version: this.#version, slots };
    return slots;
  }
}

/** Drivers give bytes that may begin anywhere in a block, where numbers cannot. */
function floatsOf(bytes: Uint8Array): Float32Array {
  const whole = bytes.byteOffset % 4 === 0 ? bytes : Uint8Array.from(bytes);
  return new Float32Array(whole.buffer, whole.byteOffset, whole.byteLength >> 2);
}

/** Four sums in parallel: the processor need not wait for one addition before it begins the next. */
function product(block: Float32Array, from: number, wanted: Float32Array): number {
  const dim = wanted.length;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let index = 0;
  for (; index + 3 < dim; index += 4) {
    a += (block[from + index] as number) * (wanted[index] as number);
    b += (block[from + index + 1] as number) * (wanted[index + 1] as number);
    c += (block[from + index + 2] as number) * (wanted[index + 2] as number);
    d += (block[from + index + 3] as number) * (wanted[index + 3] as number);
  }
  for (; index < dim; index++) a += (block[from + index] as number) * (wanted[index] as number);
  return a + b + c + d;
}

/** The best few of many: a list that is cut whenever it has grown to twice its size. */
class Best {
  readonly #count: number;
  #kept: { score: number; item: number }[] = [];
  #least = -Infinity;

  constructor(count: number) {
    this.#count = count;
  }

  /** Whether one of at most this score would be kept for now. */
  mayTake(score: number): boolean {
    return score >= this.#least;
  }

  offer(score: number, item: number): void {
    if (score < this.#least) return;
    this.#kept.push({ score, item });
    if (this.#kept.length >= 2 * this.#count) this.#cut();
  }

  #cut(): void {
    this.#kept.sort((a, b) => b.score - a.score || a.item - b.item);
    this.#kept = this.#kept.slice(0, this.#count);
    if (this.#kept.length === this.#count) this.#least = this.#kept.at(-1)?.score ?? -Infinity;
  }

  items(): readonly { score: number; item: number }[] {
    this.#cut();
    return this.#kept;
  }
}
