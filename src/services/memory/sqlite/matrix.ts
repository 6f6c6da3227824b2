import { setImmediate } from 'node:timers/promises';
import { nearScan, type NearScan } from '../../../meaning/near-scan.ts';
import type { Database } from './open.ts';
import type { MemoryEntry } from '../../../model/memory.ts';
import { spaceText } from '../rank.ts';
import { passes, type ReadyFilter } from '../select.ts';
import type { VectorSpace } from '../store.ts';
import { isSoundEntry, isSoundVector } from '../sound.ts';
import { entryOf } from './rows.ts';
import { fits } from './sound.ts';

/**
 * What filters look at, row by row as one text: to take apart a text is several times as fast as to receive the columns of
 * a hundred thousand rows one by one.
 */
const HEADS = `SELECT json_group_array(json_array(rid, type, id, agent, tags, project, created_at, updated_at, revision,
    forgotten_at, superseded_by, superseded_at, rev)) AS rows
  FROM (SELECT * FROM memory m WHERE (m.rev, m.rid) > (?, ?) AND ${fits('m')} ORDER BY m.rev, m.rid LIMIT ?)`;
type Head = [
  rid: number,
  type: string,
  id: string,
  agent: string,
  tags: string,
  project: string,
  createdAt: string,
  updatedAt: string,
  revision: number,
  forgottenAt: string | null,
  supersededBy: string | null,
  supersededAt: string | null,
  rev: number,
];

const VECTORS = `SELECT rid, vector FROM vector
  WHERE rid IN (SELECT value FROM json_each(?)) AND space = ? AND typeof(vector) = 'blob' AND octet_length(vector) = ?`;

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
    const { rows: text } = database.get<{ rows: string }>(HEADS, this.#last.rev, this.#last.rid, most) ?? {
      rows: '[]',
    };
    const rows = JSON.parse(text) as Head[];
    const vectors = new Map<number, Uint8Array>();
    if (rows.length > 0)
      for (const { rid, vector } of database.all<{ rid: number; vector: Uint8Array }>(
        VECTORS,
        JSON.stringify(rows.map(([row]) => row)),
        spaceText(this.#space),
        this.#space.dim * 4,
      ))
        vectors.set(rid, vector);
    this.#reserve(this.#rids.length + rows.length);
    for (const row of rows) this.#put(row, vectors.get(row[0]));
    if (rows.length > 0) this.#version += 1;
    const last = rows.at(-1);
    if (last !== undefined) this.#last = { rev: last[12], rid: last[0] };
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

  #put(row: Head, vector: Uint8Array | undefined): void {
    const { dim } = this.#space;
    const [rid] = row;
    const known = this.#slots.get(rid);
    const head = headOf(row);
    if (vector?.byteLength !== dim * 4 || !isSoundEntry(head) || !isSoundVector(floatsOf(vector))) {
      if (known !== undefined) this.#heads[known] = undefined;
      return;
    }
    const slot = known ?? this.#rids.length;
    if (slot >= MOST_ROWS) return;
    if (known === undefined) {
      this.#rids.push(rid);
      this.#slots.set(rid, slot);
    }
    this.#heads[slot] = head;
    const bytes = new Uint8Array(this.#block.buffer, slot * dim * 4, dim * 4);
    bytes.set(vector);
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

/** An entry without its text. */
function headOf(row: Head): MemoryEntry {
  const [rid, type, id, agent, tags, project, created_at, updated_at, revision, forgotten, by, superseded] =
    row;
  return entryOf({
    rid,
    type,
    id,
    agent,
    text: '',
    tags,
    project,
    created_at,
    updated_at,
    revision,
    forgotten_at: forgotten,
    superseded_by: by,
    superseded_at: superseded,
    terms: '',
  });
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
