import type { MemoryType } from '../../../model/memory.ts';
import { spaceOf, spaceText } from '../rank.ts';
import type { MemoryStats, VectorSpace } from '../store.ts';
import { noneOfEachType, sortedCounts } from '../tally.ts';
import type { SqlValue } from './driver.ts';
import type { Database } from './open.ts';
import { SOUND, sound, SOUND_VECTOR } from './sound.ts';

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

export function isLarge(database: Database): boolean {
  const sql = 'SELECT page_count * page_size AS n FROM pragma_page_count(), pragma_page_size()';
  return numberIn(database, sql) > CHECKED_BYTES;
}

export function isDamaged(database: Database): boolean {
  if (isLarge(database)) return false;
  return database.get<{ quick_check: string }>('PRAGMA quick_check(1)')?.quick_check !== 'ok';
}

/** Mostly they are, which two numbers tell in a tenth of the time that a look at each memory takes. */
export function areAllEmbedded(database: Database, space: VectorSpace): boolean {
  const vectors = 'SELECT count(*) AS n FROM vector WHERE space = ?';
  const memories = 'SELECT count(*) AS n FROM memory';
  return numberIn(database, memories) === numberIn(database, vectors, spaceText(space));
}

/** How many memories there are, and how many have a vector of this space. */
export function embeddedIn(database: Database, space: VectorSpace | undefined) {
  const total = numberIn(
    database,
    `SELECT count(*) AS n FROM memory WHERE forgotten_at IS NULL AND ${SOUND}`,
  );
  const sql = `SELECT count(*) AS n FROM vector v JOIN memory m ON m.rid = v.rid
    WHERE v.space = ? AND m.forgotten_at IS NULL AND ${sound('m')}`;
  return { total, embedded: space === undefined ? 0 : numberIn(database, sql, spaceText(space)) };
}

interface Group {
  type: MemoryType;
  agent: string;
  superseded: number;
  forgotten: number;
  n: number;
  oldest: string;
  newest: string;
}

/** One look at all rows: each takes its time where there are a hundred thousand. */
export function statsIn(database: Database): MemoryStats {
  const groups = database.all<Group>(
    `SELECT type, agent, superseded_at IS NOT NULL AS superseded, forgotten_at IS NOT NULL AS forgotten, count(*) AS n,
            min(created_at) AS oldest, max(updated_at) AS newest
     FROM memory WHERE ${SOUND} GROUP BY 1, 2, 3, 4`,
  );
  const spaces = database.all<{ space: string; n: number }>(
    `SELECT space, count(*) AS n FROM vector WHERE ${SOUND_VECTOR} GROUP BY space ORDER BY n DESC, space`,
  );
  const living = groups.filter(({ superseded, forgotten }) => superseded === 0 && forgotten === 0);
  const byType = noneOfEachType();
  const byAgent = new Map<string, number>();
  for (const { type, agent, n } of living) {
    byType[type] += n;
    byAgent.set(agent, (byAgent.get(agent) ?? 0) + n);
  }
  return {
    total: sumOf(groups),
    live: sumOf(living),
    superseded: sumOf(groups.filter(({ superseded, forgotten }) => superseded !== 0 && forgotten === 0)),
    forgotten: sumOf(groups.filter(({ forgotten }) => forgotten !== 0)),
    byType,
    byAgent: sortedCounts(byAgent),
    spaces: spaces.flatMap(({ space, n }) => {
      const known = spaceOf(space);
      return known === undefined ? [] : [{ ...known, count: n }];
    }),
    oldest: groups.map(({ oldest }) => oldest).toSorted()[0],
    newest: groups
      .map(({ newest }) => newest)
      .toSorted()
      .at(-1),
  };
}

const sumOf = (groups: readonly Group[]): number => groups.reduce((sum, { n }) => sum + n, 0);
