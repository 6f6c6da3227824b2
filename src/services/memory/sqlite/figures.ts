import { spaceOf } from '../rank.ts';
import type { MemoryStats } from '../store.ts';
import { noneOfEachType, sortedCounts } from '../tally.ts';
import type { SqlValue } from './driver.ts';
import type { Database } from './open.ts';
import { SOUND, SOUND_VECTOR } from './sound.ts';

/** Up to this size, the health of a store includes a look through its file: a large one would hold up everything else. */
const CHECKED_BYTES = 16_000_000;
const META_BYTES = 200;

export function numberIn(database: Database, sql: string, ...values: SqlValue[]): number {
  return database.get<{ n: number }>(sql, ...values)?.n ?? 0;
}

/** What the store notes about itself; a value that is not a short text is none. */
export function metaText(database: Database, key: string): string | undefined {
  const sql = `SELECT value FROM meta WHERE key = ? AND typeof(value) = 'text' AND octet_length(value) <= ${META_BYTES}`;
  return database.get<{ value: string }>(sql, key)?.value;
}

export function isDamaged(database: Database): boolean {
  const sql = 'SELECT page_count * page_size AS n FROM pragma_page_count(), pragma_page_size()';
  if (numberIn(database, sql) > CHECKED_BYTES) return false;
  return database.get<{ quick_check: string }>('PRAGMA quick_check(1)')?.quick_check !== 'ok';
}

export function statsIn(database: Database): MemoryStats {
  const live = 'forgotten_at IS NULL AND superseded_at IS NULL';
  const count = (where: string): number =>
    numberIn(database, `SELECT count(*) AS n FROM memory WHERE ${where} AND ${SOUND}`);
  const grouped = (column: string): { name: string; n: number }[] =>
    database.all(
      `SELECT ${column} AS name, count(*) AS n FROM memory WHERE ${live} AND ${SOUND} GROUP BY ${column}`,
    );
  const times = database.get<{ oldest: string | null; newest: string | null }>(
    `SELECT min(created_at) AS oldest, max(updated_at) AS newest FROM memory WHERE ${SOUND}`,
  );
  const spaces = database.all<{ space: string; n: number }>(
    `SELECT space, count(*) AS n FROM vector WHERE ${SOUND_VECTOR} GROUP BY space ORDER BY n DESC, space`,
  );
  return {
    total: count('TRUE'),
    live: count(live),
    superseded: count('superseded_at IS NOT NULL AND forgotten_at IS NULL'),
    forgotten: count('forgotten_at IS NOT NULL'),
    byType: {
      ...noneOfEachType(),
      ...Object.fromEntries(grouped('type').map(({ name, n }) => [name, n])),
    },
    byAgent: sortedCounts(new Map(grouped('agent').map(({ name, n }) => [name, n]))),
    spaces: spaces.flatMap(({ space, n }) => {
      const known = spaceOf(space);
      return known === undefined ? [] : [{ ...known, count: n }];
    }),
    oldest: times?.oldest ?? undefined,
    newest: times?.newest ?? undefined,
  };
}
