import type { Database } from './open.ts';
import type { MemoryHit } from '../../../model/memory.ts';
import { candidatesFor, ranked, rarest, weighed } from '../rank.ts';
import { readyFilter, type Position } from '../select.ts';
import type { MemoryQuery } from '../store.ts';
import { metaText, numberIn } from './figures.ts';
import type { Matrix } from './matrix.ts';
import { condition, entryOf, indexed, termsOf, type MemoryRow } from './rows.ts';
import { SOUND } from './sound.ts';

/** Rows that the word index may look through for one query: words that are in more memories tell little. */
const ROWS_BY_WORDS = 20_000;
const WORDS_ASKED = 48;

/** The best by words and the best by vector, each under the filter, weighed exactly. Inside one transaction. */
export function searched(
  database: Database,
  matrix: Matrix | undefined,
  { terms, vector: wanted, filter, limit, minScore }: MemoryQuery,
): MemoryHit[] {
  const ready = readyFilter(filter);
  const count = candidatesFor(limit);
  const total = totalIn(database);
  const frequencies = new Map<string, number>();
  for (const term of new Set(terms)) frequencies.set(term, frequency(database, term));
  const rids = new Set<number>();
  if (wanted !== undefined && matrix !== undefined)
    for (const rid of matrix.nearest(wanted, ready, count)) rids.add(rid);
  const asked = rarest(frequencies, ROWS_BY_WORDS, WORDS_ASKED);
  if (asked.length > 0) {
    const where = condition(database, ready);
    const rows = database.all<{ rid: number }>(
      // A file may ask for another order, which may not exist.
      `SELECT m.rid FROM words JOIN memory m ON m.rid = words.rowid
       WHERE words MATCH ? AND words.rank MATCH 'bm25()' AND m.rid BETWEEN 1 AND ${Number.MAX_SAFE_INTEGER}
         AND ${where.sql} ORDER BY words.rank LIMIT ?`,
      asked.map((term) => `"${indexed(term)}"`).join(' OR '),
      ...where.values,
      count,
    );
    for (const { rid } of rows) rids.add(rid);
  }
  // Weighing needs little of a row; the texts of the few that are answered with are read afterwards.
  const rows = database.all<LightRow>(
    `SELECT rid, type, id, created_at AS createdAt, terms FROM memory
     WHERE rid IN (SELECT value FROM json_each(?)) AND ${SOUND}`,
    JSON.stringify([...rids]),
  );
  const candidates = rows.map((row) => ({
    entry: row,
    terms: termsOf(row.terms),
    cosine: wanted === undefined ? undefined : matrix?.cosine(row.rid, wanted),
  }));
  const words = weighed(terms, (term) => frequencies.get(term) ?? 0, total);
  const hits = ranked(words, candidates, { compared: wanted !== undefined, limit, minScore });
  return hits.flatMap(({ entry, ...hit }) => {
    const row = database.get<MemoryRow>('SELECT * FROM memory WHERE rid = ?', entry.rid);
    return row === undefined ? [] : [{ ...hit, entry: entryOf(row) }];
  });
}

const totals = new WeakMap<Database, { rev: string | undefined; total: number }>();

/** Counted once for each change: a hundred thousand rows take longer to count than to search. */
function totalIn(database: Database): number {
  const rev = metaText(database, 'rev');
  const known = totals.get(database);
  if (known !== undefined && known.rev === rev) return known.total;
  const total = numberIn(database, 'SELECT count(*) AS n FROM memory');
  totals.set(database, { rev, total });
  return total;
}

interface LightRow extends Position {
  rid: number;
  terms: string;
}

function frequency(database: Database, term: string): number {
  const sql = 'SELECT doc FROM temp.vocabulary WHERE term = ?';
  return database.get<{ doc: number }>(sql, indexed(term))?.doc ?? 0;
}
