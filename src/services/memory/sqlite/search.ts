import type { Database } from './open.ts';
import type { MemoryHit } from '../../../model/memory.ts';
import { candidatesFor, mostFrom, ranked, rarest, weighed, type Candidate } from '../rank.ts';
import { readyFilter, type Position, type ReadyFilter } from '../select.ts';
import type { MemoryQuery } from '../store.ts';
import { metaText, numberIn } from './figures.ts';
import type { Matrix } from './matrix.ts';
import { condition, entryOf, indexed, termsOf, type MemoryRow } from './rows.ts';
import { SOUND } from './sound.ts';

/** Rows that the word index may look through for one query: words that are in more memories tell little. */
const ROWS_BY_WORDS = 20_000;
/** Where there are vectors, what common words lead to has mostly been found by them. */
const ROWS_BESIDE_VECTORS = 3_000;
const WORDS_ASKED = 48;

/** The best by words and the best by vector, each under the filter, weighed exactly. Inside one transaction. */
export function searched(database: Database, matrix: Matrix | undefined, query: MemoryQuery): MemoryHit[] {
  const { terms, vector: wanted, filter, limit, minScore } = query;
  const ready = readyFilter(filter);
  const count = candidatesFor(limit);
  const known = figuresOf(database);
  const frequencies = new Map<string, number>();
  for (const term of new Set(terms)) frequencies.set(term, frequency(database, term, known));
  const words = weighed(terms, (term) => frequencies.get(term) ?? 0, known.total);
  const asked = rarest(frequencies, matrix === undefined ? ROWS_BY_WORDS : ROWS_BESIDE_VECTORS, WORDS_ASKED);
  const candidates = new Map<number, Candidate<LightRow>>();
  /** Weighs these beside those from before. */
  const weigh = (rids: readonly number[]) => {
    const fresh = rids.filter((rid) => !candidates.has(rid));
    const near = wanted === undefined ? undefined : matrix?.cosines(database, fresh, wanted);
    for (const entry of lightRows(database, fresh, known))
      candidates.set(entry.rid, { entry, terms: entry.terms, cosine: near?.get(entry.rid) });
    return ranked(words, [...candidates.values()], { compared: wanted !== undefined, limit, minScore });
  };
  let hits: ReturnType<typeof weigh> | undefined;
  if (wanted !== undefined && matrix !== undefined) {
    const near = matrix.nearest(database, wanted, ready, count);
    const first = weigh(near.rids);
    // Where the best by vector leave no room for any other, whatever words that has, the words need not be asked for.
    const least = first.length < limit ? minScore : first.at(-1)?.score;
    if (least !== undefined && least > mostFrom(near.others)) hits = first;
  }
  hits ??= weigh(byWords(database, asked, ready, count));
  return hits.flatMap(({ entry, ...hit }) => {
    const row = database.get<MemoryRow>('SELECT * FROM memory WHERE rid = ?', entry.rid);
    return row === undefined ? [] : [{ ...hit, entry: entryOf(row) }];
  });
}

function byWords(
  database: Database,
  asked: readonly string[],
  filter: ReadyFilter,
  count: number,
): readonly number[] {
  if (asked.length === 0) return [];
  const where = condition(database, filter);
  const rows = database.all<{ rid: number }>(
    // A file may ask for another order, which may not exist.
    `SELECT m.rid FROM words JOIN memory m ON m.rid = words.rowid
     WHERE words MATCH ? AND words.rank MATCH 'bm25()' AND m.rid BETWEEN 1 AND ${Number.MAX_SAFE_INTEGER}
       AND ${where.sql} ORDER BY words.rank LIMIT ?`,
    asked.map((term) => `"${indexed(term)}"`).join(' OR '),
    ...where.values,
    count,
  );
  return rows.map(({ rid }) => rid);
}

/**
 * Weighing needs little of a row; the texts of the few that are answered with are read afterwards. One question is asked in
 * several wordings, which find much of the same.
 */
function lightRows(database: Database, rids: readonly number[], { rows }: Figures): LightRow[] {
  if (rows.size > MOST_ROWS) rows.clear();
  const missing = rids.filter((rid) => !rows.has(rid));
  const read = database.all<Omit<LightRow, 'terms'> & { terms: string }>(
    `SELECT rid, type, id, created_at AS createdAt, terms FROM memory
     WHERE rid IN (SELECT value FROM json_each(?)) AND ${SOUND}`,
    JSON.stringify(missing),
  );
  for (const row of read) rows.set(row.rid, { ...row, terms: termsOf(row.terms) });
  return rids.flatMap((rid) => rows.get(rid) ?? []);
}

/** What is counted once for each change: in a hundred thousand rows that takes longer than to search. */
interface Figures {
  rev: string | undefined;
  total: number;
  /** How many memories have a word. */
  having: Map<string, number>;
  /** What was weighed last, by rid. */
  rows: Map<number, LightRow>;
}

const figures = new WeakMap<Database, Figures>();
/** Some hundred kilobytes. */
const MOST_WORDS = 5_000;
/** Some megabytes. */
const MOST_ROWS = 2_000;

function figuresOf(database: Database): Figures {
  const rev = metaText(database, 'rev');
  const known = figures.get(database);
  if (known !== undefined && known.rev === rev) return known;
  const total = numberIn(database, 'SELECT count(*) AS n FROM memory');
  const made = { rev, total, having: new Map(), rows: new Map() };
  figures.set(database, made);
  return made;
}

interface LightRow extends Position {
  rid: number;
  terms: readonly string[];
}

function frequency(database: Database, term: string, { having }: Figures): number {
  const known = having.get(term);
  if (known !== undefined) return known;
  const sql = 'SELECT doc FROM temp.vocabulary WHERE term = ?';
  const count = database.get<{ doc: number }>(sql, indexed(term))?.doc ?? 0;
  if (having.size < MOST_WORDS) having.set(term, count);
  return count;
}
