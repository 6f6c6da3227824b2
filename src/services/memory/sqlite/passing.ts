import type { ReadyFilter } from '../select.ts';
import { metaText } from './figures.ts';
import type { Database } from './open.ts';
import { condition } from './rows.ts';
import { fits } from './sound.ts';

/** Rows that our own stores number up to this are looked up in a table, and those beyond, of files from elsewhere, in a set. */
export const MOST_RID = 2_000_000;

interface Kept {
  key: string;
  near: Uint8Array;
  far: ReadonlySet<number>;
}

/** What a filter takes. */
export interface Passing {
  /** The first of a few rows, in their order. */
  of(rids: readonly number[], most: number): number[];
  /** Of all of them, which takes a look at each. */
  all(): (rid: number) => boolean;
}

const known = new WeakMap<Database, Kept>();

/** Looks at every row; kept until something is written, because one question is asked in several ways under one filter. */
export function allPassing(database: Database, filter: ReadyFilter): (rid: number) => boolean {
  const text = JSON.stringify(filter, (_, value: unknown) => (value instanceof Set ? [...value] : value));
  const key = `${metaText(database, 'rev') ?? ''} ${text}`;
  let found = known.get(database);
  if (found?.key !== key) {
    const where = condition(database, filter);
    // As one text: to take it apart is several times as fast as to receive a hundred thousand rows one by one.
    const sql = `SELECT json_group_array(rid) AS rids FROM memory WHERE ${where.sql} AND ${fits('memory')}`;
    const rids = JSON.parse(database.get<{ rids: string }>(sql, ...where.values)?.rids ?? '[]') as number[];
    const far = new Set(rids.filter((rid) => rid > MOST_RID));
    const near = new Uint8Array(
      rids.reduce((most, rid) => (rid > MOST_RID ? most : Math.max(most, rid)), 0) + 1,
    );
    for (const rid of rids) near[rid] = 1;
    found = { key, near, far };
    known.set(database, found);
  }
  const { near, far } = found;
  return (rid) => near[rid] === 1 || far.has(rid);
}
