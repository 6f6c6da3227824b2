import { indexed, metaText, numberIn, termsOf } from './rows.ts';
import type { Database } from './database.ts';
import { bestOf, CHANGED } from './matrix.ts';

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
const USUAL_LENGTHS = 256;

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

/** What a word that a row of so many words has so often adds to its score. */
type Worth = (often: number, length: number) => number;

/** Most rows have a word once, and few lengths are usual: what that is worth is computed once for each. */
function addWorth(scores: Float64Array, { rids, counts }: Places, lengths: Uint16Array, worth: Worth): void {
  const once = new Float64Array(USUAL_LENGTHS);
  for (let length = 0; length < USUAL_LENGTHS; length++) once[length] = worth(1, length);
  for (let at = 0; at < rids.length; at++) {
    const rid = rids[at] as number;
    const often = counts[at] as number;
    const length = lengths[rid] ?? 0;
    const own = often === 1 && length < USUAL_LENGTHS ? (once[length] as number) : worth(often, length);
    scores[rid] = (scores[rid] as number) + own;
  }
}

const [ZERO, NINE, SPACE] = [48, 57, 32];

/** Parses whole numbers separated by spaces; undefined if one of them is not a valid row id. */
function numbersIn(bytes: Uint8Array): Uint32Array | undefined {
  const found = new Uint32Array((bytes.length >> 1) + 1);
  let [count, number] = [0, 0];
  for (let at = 0; at <= bytes.length; at++) {
    const byte = bytes[at] ?? SPACE;
    if (byte >= ZERO && byte <= NINE) number = number * 10 + byte - ZERO;
    else if (byte !== SPACE) return undefined;
    else {
      if (at > 0) found[count++] = number;
      number = 0;
    }
  }
  return found.slice(0, count);
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
      `SELECT rid, (SELECT terms FROM memory WHERE rid = c.rid) AS terms FROM (${CHANGED}) AS c`,
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
    if (lengths === undefined) return undefined;
    if (this.#scores.length <= Math.max(most, lengths.of.length))
      this.#scores = new Float64Array(Math.max(most, lengths.of.length) + 1);
    const scores = this.#scores;
    const asked: [term: string, places: Places, worth: Worth][] = [];
    for (const term of terms) {
      const places = this.#placesOf(term);
      if (places === undefined) return undefined;
      asked.push([term, places, this.#worthOf(term, lengths.usual)]);
    }
    for (const [, places, worth] of asked) addWorth(scores, places, lengths.of, worth);
    for (const [rid, own] of this.#changed) {
      scores[rid] = 0;
      for (const [term, , worth] of asked) {
        const often = own.filter((each) => each === term).length;
        if (often > 0) scores[rid] = scores[rid] + worth(often, own.length);
      }
    }
    const rids = bestOf(scores, count, 0, passes);
    scores.fill(0);
    return rids;
  }

  #worthOf(term: string, usual: number): Worth {
    const having = this.frequency(term);
    // One of the two numbers may be behind.
    const lacking = Math.max(0, this.total - having);
    const rarity = Math.max(LEAST_RARITY, Math.log((lacking + 0.5) / (having + 0.5)));
    return (often, length) => (rarity * often * (K1 + 1)) / (often + K1 * (1 - B + (B * length) / usual));
  }

  #placesOf(term: string): Places | undefined {
    const kept = this.#places.get(term);
    if (kept !== undefined) return kept;
    // A word that is in most memories comes as a list of half a megabyte: a text and an array of it would be much to clear away.
    const sql = "SELECT CAST(group_concat(doc, ' ') AS BLOB) AS docs FROM temp.occurrences WHERE term = ?";
    const all = numbersIn(
      this.#database.get<{ docs: Uint8Array | null }>(sql, indexed(term))?.docs ?? new Uint8Array(0),
    );
    if (all === undefined) return undefined;
    const rids = new Uint32Array(all.length);
    const counts = new Uint8Array(all.length);
    let last = -1;
    for (const rid of all) {
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
