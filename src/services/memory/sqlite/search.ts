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
  const rids = new Set<number>();
  const weigh = () =>
    ranked(words, candidatesAmong(database, rids, wanted, matrix), {
      compared: wanted !== undefined,
      limit,
      minScore,
    });
  const asked = rarest(frequencies, matrix === undefined ? ROWS_BY_WORDS : ROWS_BESIDE_VECTORS, WORDS_ASKED);
  let hits: ReturnType<typeof weigh> | undefined;
  if (wanted !== undefined && matrix !== undefined) {
    const near = matrix.nearest(database, wanted, ready, count);
    for (const rid of near.rids) rids.add(rid);
    const first = weigh();
    // Where the best by vector leave no room for any other, whatever words that has, the words need not be asked for.
    const least = first.length < limit ? minScore : first.at(-1)?.score;
    if (least !== undefined && least > mostFrom(near.others)) hits = first;
  }
  if (hits === undefined) {
    for (const rid of byWords(database, asked, ready, count)) rids.add(rid);
    hits = weigh();
  }
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

/** Weighing needs little of a row; the texts of the few that are answered with are read afterwards. */
function candidatesAmong(
  database: Database,
  rids: ReadonlySet<number>,
  wanted: Float32Array | undefined,
  matrix: Matrix | undefined,
): Candidate<LightRow>[] {
  const rows = database.all<LightRow>(
    `SELECT rid, type, id, created_at AS createdAt, terms FROM memory
     WHERE rid IN (SELECT value FROM json_each(?)) AND ${SOUND}`,
    JSON.stringify([...rids]),
  );
  const near = wanted === undefined ? undefined : matrix?.cosines(database, rids, wanted);
  return rows.map((row) => ({ entry: row, terms: termsOf(row.terms), cosine: near?.get(row.rid) }));
}

/** What is counted once for each change: in a hundred thousand rows that takes longer than to search. */
interface Figures {
  rev: string | undefined;
  total: number;
  /** How many memories have a word. */
  having: Map<string, number>;
}

const figures = new WeakMap<Database, Figures>();
/** Some hundred kilobytes. */
const MOST_WORDS = 5_000;

function figuresOf(database: Database): Figures {
  const rev = metaText(database, 'rev');
  const known = figures.get(database);
  if (known !== undefined && known.rev === rev) return known;
  const made = { rev, total: numberIn(database, 'SELECT count(*) AS n FROM memory'), having: new Map() };
  figures.set(database, made);
  return made;
}

interface LightRow extends Position {
  rid: number;
  terms: string;
}

function frequency(database: Database, term: string, { having }: Figures): number {
  const known = having.get(term);
  if (known !== undefined) return known;
  const sql = 'SELECT doc FROM temp.vocabulary WHERE term = ?';
  const count = database.get<{ doc: number }>(sql, indexed(term))?.doc ?? 0;
  if (having.size < MOST_WORDS) having.set(term, count);
  return count;
}
