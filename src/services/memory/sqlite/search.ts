import type { Database } from './open.ts';
import type { MemoryHit } from '../../../model/memory.ts';
import { candidatesFor, mostFrom, rarest, weighed } from '../rank.ts';
import { passes, readyFilter, type ReadyFilter } from '../select.ts';
import type { MemoryQuery } from '../store.ts';
import { rowsOf } from './kept-rows.ts';
import type { Matrix } from './matrix.ts';
import { allPassing, type Passing } from './passing.ts';
import { postingsOf, type Postings } from './postings.ts';
import { condition, indexed } from './rows.ts';
import { createWeighing } from './weighing.ts';

/** Rows that the word index may look through for one query: words that are in more memories tell little. */
const ROWS_BY_WORDS = 20_000;
/** Where there are vectors, what common words lead to has mostly been found by them. */
const ROWS_BESIDE_VECTORS = 3_000;
const WORDS_ASKED = 48;

/** The best by words and the best by vector, each under the filter, weighed exactly. Inside one transaction. */
export function searched(database: Database, matrix: Matrix | undefined, query: MemoryQuery): MemoryHit[] {
  const { terms, ways, vector: wanted, filter, limit, minScore } = query;
  const ready = readyFilter(filter);
  const count = candidatesFor(limit);
  const known = postingsOf(database);
  const frequencies = new Map<string, number>();
  for (const term of new Set(terms)) frequencies.set(term, known.frequency(term));
  const words = weighed(terms, (term) => frequencies.get(term) ?? 0, known.total, ways);
  const asked = rarest(frequencies, matrix === undefined ? ROWS_BY_WORDS : ROWS_BESIDE_VECTORS, WORDS_ASKED);
  const passing: Passing = {
    of: (rids, most) => {
      const taken: number[] = [];
      for (let from = 0; taken.length < most && from < rids.length; from += most)
        for (const [rid, { entry }] of rowsOf(database, rids.slice(from, from + most), known.rev))
          if (passes(entry, ready)) taken.push(rid);
      return taken.slice(0, most);
    },
    all: () => allPassing(database, ready),
  };
  const weigh = createWeighing({
    words,
    limit,
    minScore,
    rows: (rids) => rowsOf(database, rids, known.rev),
    ...(wanted === undefined ? {} : { cosines: (rids) => matrix?.cosines(database, rids, wanted) ?? NONE }),
  });
  if (wanted === undefined || matrix === undefined)
    return weigh(byWords(database, known, asked, passing, ready, count));
  const near = matrix.nearest(wanted, passing, count);
  const first = weigh(near.rids, near.bounds);
  // Where the best by vector leave no room for any other, whatever words that has, the words need not be asked for.
  const least = first.length < limit ? minScore : first.at(-1)?.score;
  if (least !== undefined && least > mostFrom(near.others)) return first;
  return weigh(byWords(database, known, asked, passing, ready, count), near.bounds);
}

const NONE: ReadonlyMap<number, number> = new Map();

/** Up to so many, SQLite puts them in order about as fast. */
const FEW = 300;
/** Of the best, so many may be left out by a filter before all rows are looked at. */
const SPARE = 30;

function byWords(
  database: Database,
  known: Postings,
  asked: readonly string[],
  passing: Passing,
  filter: ReadyFilter,
  count: number,
): readonly number[] {
  if (asked.length === 0) return [];
  if (asked.reduce((sum, term) => sum + known.frequency(term), 0) > FEW) {
    const likely = known.best(asked, count + SPARE);
    if (likely !== undefined) {
      const some = passing.of(likely, count);
      if (some.length >= count || likely.length < count + SPARE) return some;
      return known.best(asked, count, passing.all()) ?? [];
    }
  }
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
