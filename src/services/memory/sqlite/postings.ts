import { metaText, numberIn } from './figures.ts';
import type { Database } from './open.ts';
import { MOST_RID } from './passing.ts';
import { indexed, termsOf } from './rows.ts';
import { fits } from './sound.ts';
import { Best } from './vector-numbers.ts';
import { CHANGED } from './vector-queries.ts';

/** Words whose number is kept: some hundred kilobytes. */
const MOST_WORDS = 5_000;
/** Places that are kept, with five bytes each. */
const MOST_PLACES = 1_000_000;
/** Rows that were changed since and are looked at one by one; beyond them, all is read again. */
const MOST_CHANGED = 500;
/** A number may be behind by a hundredth. To find it takes as long as it is large, so small ones are never behind. */
const BEHIND = 100;

/** A text with more words counts as one with so many. */
const MOST_LENGTH = 65_535;

/** What SQLite's own order is made with. */
const K1 = 1.2;
const B = 0.75;
const LEAST_RARITY = 1e-6;

/** The rows that have a word, and how often. */
interface Places {
  rids: Uint32Array;
  counts: Uint8Array;
}

interface Lengths {
  /** How many words a row has, by rid. */
  of: Uint16Array;
  usual: number;
}

const known = new WeakMap<Database, Postings>();

/** As of now. Inside a transaction. */
export function postingsOf(database: Database): Postings {
  const rev = metaText(database, 'rev') ?? '';
  let kept = known.get(database);
  if (kept === undefined || !kept.follow(rev)) {
    kept = new Postings(database, rev);
    known.set(database, kept);
  }
  return kept;
}

/**
 * How many memories have a word, and which are the best for some of them. SQLite's index of words can put them in order too, but
 * looks up the length of each, which takes a microsecond: for a word that is in most of a hundred thousand, a tenth of a
 * second. So the places of words that were asked for are kept as numbers, and put in the same order.
 */
export class Postings {
  readonly #database: Database;
  /** The number of the last change that was taken in. */
  rev: string;
  readonly #having = new Map<string, { count: number; changes: number }>();
  readonly #places = new Map<string, Places>();
  #placesKept = 0;
  /** Rows as they have become since the first question. */
  readonly #changed = new Map<number, readonly string[]>();
  #changes = 0;
  #lengths: Lengths | undefined;
  #scores = new Float64Array(0);
  /** All memories. */
  total: number;

  constructor(database: Database, rev: string) {
    this.#database = database;
    this.rev = rev;
    this.total = this.#count();
  }

  #count(): number {
    return numberIn(this.#database, 'SELECT count(*) AS n FROM memory');
  }

  /** Takes in what has changed; false where it is better to begin anew. */
  follow(rev: string): boolean {
    if (rev === this.rev) return true;
    if (!(Number(rev) > Number(this.rev))) return false;
    const rows = this.#database.all<{ rid: number; terms: string | null }>(
      `SELECT rid, (SELECT terms FROM memory WHERE rid = c.rid AND ${fits('memory')}) AS terms FROM (${CHANGED}) AS c`,
      Number(this.rev),
      Number.MAX_SAFE_INTEGER,
      MOST_CHANGED,
    );
    // With as many as were asked for, there may be more.
    if (this.#changed.size + rows.length >= MOST_CHANGED) return false;
    for (const { rid, terms } of rows) this.#changed.set(rid, termsOf(terms ?? ''));
    this.#changes += rows.length;
    this.rev = rev;
    this.total = this.#count();
    return true;
  }

  /** How many memories have a word. */
  frequency(term: string): number {
    const kept = this.#having.get(term);
    if (kept !== undefined && (this.#changes - kept.changes) * BEHIND <= kept.count) return kept.count;
    const sql = 'SELECT doc FROM temp.vocabulary WHERE term = ?';
    const count = this.#database.get<{ doc: number }>(sql, indexed(term))?.doc ?? 0;
    if (this.#having.size < MOST_WORDS) this.#having.set(term, { count, changes: this.#changes });
    return count;
  }

  /** The best of those that have any of these words, as SQLite orders them; undefined where only SQLite can tell. */
  best(terms: readonly string[], count: number, passes?: (rid: number) => boolean): number[] | undefined {
    const lengths = (this.#lengths ??= this.#readLengths());
    const most = Math.max(0, ...this.#changed.keys());
    if (lengths === undefined || most > MOST_RID) return undefined;
    if (this.#scores.length <= Math.max(most, lengths.of.length))
      this.#scores = new Float64Array(Math.max(most, lengths.of.length) + 1);
    const scores = this.#scores;
    const touched: number[] = [];
    const add = (rid: number, worth: number): void => {
      if (scores[rid] === 0) touched.push(rid);
      scores[rid] = (scores[rid] as number) + worth;
    };
    const isChanged = this.#changed.size === 0 ? () => false : (rid: number) => this.#changed.has(rid);
    for (const term of terms) {
      const places = this.#placesOf(term);
      if (places === undefined) return undefined;
      const having = this.frequency(term);
      // One of the two numbers may be behind.
      const lacking = Math.max(0, this.total - having);
      const rarity = Math.max(LEAST_RARITY, Math.log((lacking + 0.5) / (having + 0.5)));
      const worth = (often: number, length: number): number =>
        (rarity * often * (K1 + 1)) / (often + K1 * (1 - B + (B * length) / lengths.usual));
      for (let at = 0; at < places.rids.length; at++) {
        const rid = places.rids[at] as number;
        if (!isChanged(rid)) add(rid, worth(places.counts[at] as number, lengths.of[rid] ?? 0));
      }
      for (const [rid, own] of this.#changed) {
        const often = own.filter((each) => each === term).length;
        if (often > 0) add(rid, worth(often, own.length));
      }
    }
    const best = new Best(count);
    const taken = passes === undefined ? touched : touched.filter(passes);
    for (const rid of taken) best.offer(scores[rid] as number);
    const bar = best.least();
    const rids = taken
      .filter((rid) => (scores[rid] as number) >= bar)
      .sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b)
      .slice(0, count);
    for (const rid of touched) scores[rid] = 0;
    return rids;
  }

  #placesOf(term: string): Places | undefined {
    const kept = this.#places.get(term);
    if (kept !== undefined) return kept;
    const sql = 'SELECT json_group_array(doc) AS rids FROM temp.occurrences WHERE term = ?';
    const all = JSON.parse(
      this.#database.get<{ rids: string }>(sql, indexed(term))?.rids ?? '[]',
    ) as number[];
    const rids = new Uint32Array(all.length);
    const counts = new Uint8Array(all.length);
    let last = -1;
    for (const rid of all) {
      if (!(rid >= 0 && rid <= MOST_RID)) return undefined;
      if (last < 0 || rids[last] !== rid) rids[++last] = rid;
      counts[last] = Math.min(255, (counts[last] as number) + 1);
    }
    const places = { rids: rids.slice(0, last + 1), counts: counts.slice(0, last + 1) };
    this.#placesKept += last + 1;
    if (this.#placesKept > MOST_PLACES) {
      this.#places.clear();
      this.#placesKept = last + 1;
    }
    this.#places.set(term, places);
    return places;
  }

  /** As the index of words has them; undefined where its table is not as SQLite writes it. */
  #readLengths(): Lengths | undefined {
    const row = this.#database.get<{ rids: string; sizes: Uint8Array | null }>(
      `SELECT json_group_array(id) AS rids, CAST(group_concat(sz, '') AS BLOB) AS sizes
       FROM (SELECT id, sz FROM words_docsize WHERE typeof(sz) = 'blob' AND octet_length(sz) <= 3)`,
    );
    const rids = JSON.parse(row?.rids ?? '[]') as number[];
    const most = rids.reduce((highest, rid) => Math.max(highest, rid), 0);
    if (most > MOST_RID) return undefined;
    const of = new Uint16Array(most + 1);
    let [at, size, all] = [0, 0, 0];
    for (const byte of row?.sizes ?? []) {
      // Seven bits in each byte, the highest first; the last one has no mark.
      size = size * 128 + (byte & 127);
      if (byte > 127) continue;
      of[rids[at++] ?? 0] = Math.min(MOST_LENGTH, size);
      all += size;
      size = 0;
    }
    return at === rids.length ? { of, usual: all / at } : undefined;
  }
}
