import type { Database } from '../../../base/sqlite.ts';
import type { MemoryEntry } from '../../../model/memory.ts';
import { spaceText } from '../rank.ts';
import { passes, type ReadyFilter } from '../select.ts';
import type { VectorSpace } from '../store.ts';
import { entryOf, type MemoryRow } from './rows.ts';

interface VectorRow extends MemoryRow {
  rev: number;
  vector: Uint8Array | null;
}

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
  #rev = -1;
  #dataVersion: number | undefined;

  constructor(space: VectorSpace) {
    this.#space = space;
  }

  /** Takes in what any process has changed since the last time. */
  refresh(database: Database, ownWrites: boolean): void {
    const dataVersion = database.dataVersion();
    if (dataVersion === this.#dataVersion && !ownWrites) return;
    const rows = database.all<VectorRow>(
      `SELECT m.rid, m.type, m.id, m.agent, '' AS text, m.tags, m.project, m.created_at, m.updated_at, m.revision,
              m.forgotten_at, m.superseded_by, m.superseded_at, '' AS terms, m.rev, v.vector
       FROM memory m LEFT JOIN vector v ON v.rid = m.rid AND v.space = ?
       WHERE m.rev > ? ORDER BY m.rev`,
      spaceText(this.#space),
      this.#rev,
    );
    this.#reserve(this.#rids.length + rows.length);
    for (const row of rows) this.#put(row);
    this.#rev = rows.at(-1)?.rev ?? this.#rev;
    this.#dataVersion = dataVersion;
  }

  #reserve(slots: number): void {
    const { dim } = this.#space;
    if (slots * dim <= this.#block.length) return;
    const larger = new Float32Array(Math.max(slots, 2 * this.#rids.length) * dim);
    larger.set(this.#block);
    this.#block = larger;
  }

  #put(row: VectorRow): void {
    const { dim } = this.#space;
    const known = this.#slots.get(row.rid);
    if (row.vector?.byteLength !== dim * 4) {
      if (known !== undefined) this.#heads[known] = undefined;
      return;
    }
    const slot = known ?? this.#rids.length;
    if (known === undefined) {
      this.#rids.push(row.rid);
      this.#slots.set(row.rid, slot);
    }
    this.#heads[slot] = entryOf(row);
    const bytes = new Uint8Array(this.#block.buffer, slot * dim * 4, dim * 4);
    bytes.set(row.vector);
  }

  cosine(rid: number, wanted: Float32Array): number | undefined {
    const slot = this.#slots.get(rid);
    return slot === undefined || this.#heads[slot] === undefined
      ? undefined
      : product(this.#block, slot * this.#space.dim, wanted);
  }

  /** The ids of the rows that are nearest among those that pass. */
  nearest(wanted: Float32Array, filter: ReadyFilter, count: number): number[] {
    const best = new Best(count);
    const [heads, block, { dim }] = [this.#heads, this.#block, this.#space];
    for (let slot = 0; slot < heads.length; slot++) {
      const head = heads[slot];
      if (head !== undefined && passes(head, filter)) best.offer(product(block, slot * dim, wanted), slot);
    }
    return best.items().map((slot) => this.#rids[slot] as number);
  }
}

/** Four sums at once: the processor need not wait for one addition before it begins the next. */
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

  items(): number[] {
    this.#cut();
    return this.#kept.map(({ item }) => item);
  }
}
