import { setImmediate } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { sqlFailure } from './failures.ts';
import { nameOf, noteTaken } from './bring-over.ts';
import { Database } from './database.ts';
import type { Driver } from './driver.ts';
import { checkSchema } from './own-schema.ts';
import { numberIn } from './figures.ts';

const TABLES = ['meta', 'memory', 'revision', 'vector', 'words_data', 'words_idx', 'words_docsize'];

/** Copies a database that may be in use, page by page between other work, and looks through the copy. */
export async function copyDatabase(database: Database, path: string): Promise<void> {
  try {
    await database.copyTo(path);
  } catch (error) {
    throw sqlFailure(database.path, error);
  }
  await checkedCopy(path, database.driver);
}

/** Throws unless everything in a copy can be read. Answers how many memories it has. */
export async function checkedCopy(path: string, driver: Driver): Promise<number> {
  const copy = new Database(path, driver, [], { access: 'still', check: checkSchema });
  try {
    for (const table of TABLES) {
      const found = copy.get<{ quick_check: string }>(`PRAGMA quick_check('${table}')`)?.quick_check;
      if (found !== 'ok') throw sqlFailure(path, MALFORMED);
      await setImmediate();
    }
    return await copy.read(() => numberIn(copy, 'SELECT count(*) AS n FROM memory'));
  } catch (error) {
    throw sqlFailure(path, error);
  } finally {
    copy.close();
  }
}

const MALFORMED = Object.assign(new Error('database disk image is malformed'), {
  code: 'ERR_SQLITE_ERROR',
});

/** Makes a copy a store of its own, which takes the place of the one that it is a copy of. */
export function makeSuccessor(path: string, driver: Driver): void {
  const database = new Database(path, driver, [], { check: checkSchema });
  try {
    database.begin('delete');
    database.transaction('BEGIN IMMEDIATE', () => {
      const store = nameOf(database);
      if (store !== undefined) noteTaken(database, store);
      database.run("INSERT OR REPLACE INTO meta VALUES ('store', ?)", randomUUID());
    });
  } finally {
    database.close();
  }
}
