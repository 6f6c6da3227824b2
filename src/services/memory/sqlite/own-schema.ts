import { BmadError, quoted } from '../../../base/errors.ts';
import { newerStore } from '../place.ts';
import type { Database } from './open.ts';
import type { Driver } from './driver.ts';
import { SCHEMA, STEPS } from './schema.ts';

/**
 * A database in a project comes from whoever wrote the project. In a file that is not ours a table may be a view over a
 * query that never ends, or a trigger may write what no one asked for; so nothing of it is used unless everything in it is
 * what this server makes.
 */

interface Item {
  type: string | null;
  name: string | null;
  tbl_name: string | null;
  sql: string | null;
}

/** A version of ours has some twenty; more need not be read to know that the file is another's. */
const MOST_ITEMS = 100;

/** Columns may hold anything, also here; what is not a text, or longer than ours, is another's. */
const text = (column: string, most: number): string =>
  `CASE WHEN ${column} IS NULL OR (typeof(${column}) = 'text' AND octet_length(${column}) <= ${most})
     THEN ${column} ELSE '?' END AS ${column}`;

const ITEMS = `SELECT ${['type', 'name', 'tbl_name'].map((column) => text(column, 200)).join(', ')},
  ${text('sql', 10_000)} FROM sqlite_schema LIMIT ${MOST_ITEMS}`;

/** What "ANALYZE" leaves, which people run on files of theirs; it holds figures only. */
const STATISTICS = /^CREATE TABLE sqlite_stat[14]\([a-z,]+\)$/;

/** The items of each version, as this SQLite writes them. */
const known = new Map<string, readonly ReadonlyMap<string, string>[]>();

/** Throws unless the tables are those of the version that the file says it has. */
export function checkSchema(database: Database): void {
  const version = database.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0;
  if (version > SCHEMA) throw newerStore(database.path);
  if (version < 0) throw foreignStore(database.path, `the version ${version}`);
  const expected = versions(database.driver)[version] ?? new Map<string, string>();
  const found = database.all<Item>(ITEMS).filter(({ sql }) => !STATISTICS.test(sql ?? ''));
  const strange = found.find((item) => expected.get(keyOf(item)) !== textOf(item));
  if (strange !== undefined)
    throw foreignStore(database.path, `the ${kindOf(strange)} ${quoted(strange.name ?? '')}`);
  if (found.length < expected.size) throw foreignStore(database.path, 'tables missing');
}

function versions(driver: Driver): readonly ReadonlyMap<string, string>[] {
  const key = `${driver.name} ${driver.version}`;
  const made = known.get(key) ?? itemsOf(driver);
  known.set(key, made);
  return made;
}

function itemsOf(driver: Driver): ReadonlyMap<string, string>[] {
  const connection = driver.connect(':memory:', 0);
  try {
    const items = (): ReadonlyMap<string, string> =>
      new Map(
        Array.from(connection.prepare(ITEMS).iterate() as Iterable<Item>, (item) => [
          keyOf(item),
          textOf(item),
        ]),
      );
    const made = [items()];
    for (const step of STEPS) {
      connection.exec(step);
      made.push(items());
    }
    return made;
  } finally {
    connection.close();
  }
}

const keyOf = ({ type, name }: Item): string => `${type ?? ''} ${name ?? ''}`;

const KINDS: ReadonlySet<string | null> = new Set(['table', 'index', 'view', 'trigger']);

const kindOf = ({ type }: Item): string => (KINDS.has(type) ? (type ?? '') : 'item');

/**
 * Blanks may differ: the text is the one that some version of this server was written with. Only what SQLite takes for
 * blanks: to SQLite, a no-break space is part of a name.
 */
const textOf = ({ tbl_name, sql }: Item): string =>
  `${tbl_name ?? ''} ${(sql ?? '').split(/[ \t\n\f\r]+/).join(' ')}`;

function foreignStore(path: string, what: string): BmadError {
  return new BmadError(
    'unavailable',
    `${path} is not a memory database of this server (it has ${what}). It was not used, and left unchanged.`,
    {
      subject: path,
      hint: `Find out who put it there, then move it elsewhere together with ${path}-wal and ${path}-shm. A new one is made with the next memory; a daily copy can be restored.`,
      steps: [{ operation: 'memory_copies', why: 'List the copies that can be restored' }],
    },
  );
}
