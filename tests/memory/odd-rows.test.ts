import fc from 'fast-check';
import { DatabaseSync } from '@photostructure/sqlite';
import { copyFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { BmadError } from '../../src/base/errors.ts';
import type { SqlValue } from '../../src/services/memory/sqlite/driver.ts';
import { openSqliteStore } from '../../src/services/memory/sqlite/store.ts';
import { doctor } from '../../src/operations/server/doctor.ts';
import { memoryStatus } from '../../src/operations/memory/memory-status.ts';
import { temporaryFolder } from '../support/app.ts';
import { memorySession } from '../support/memory-session.ts';
import { askAll, GOOD, texts, tryWriting } from './ask-all.ts';
import { storeOptions, uuid } from './places.ts';

/** Whoever has written a project has written the file with its memories too, and can put anything into it. */

const TEN_MEGABYTES = 10 * 1024 * 1024;

const newFile = async (): Promise<string> => join(await temporaryFolder(afterAll), 'm', '.bmad-memory.db');
const open = async (file: string) => openSqliteStore({ ...storeOptions(), file, journal: 'delete' });

/** A store as this server leaves it. */
const original = newFile().then(async (file) => {
  const store = await open(file);
  await store.upsert(GOOD);
  const first = { type: 'decisions', id: uuid('a') } as const;
  await store.update(first, { tags: ['redis', 'shop'], at: '2026-03-04T10:00:00Z' });
  await store.close();
  return file;
});

/** The same, and what someone has done to it since. */
async function storeWith(sql = ''): Promise<string> {
  const file = await newFile();
  await mkdir(dirname(file));
  await copyFile(await original, file);
  change(file, sql);
  return file;
}

function change(file: string, sql: string, ...values: SqlValue[]): void {
  const connection = new DatabaseSync(file, { enableForeignKeyConstraints: false, defensive: false });
  connection.exec('PRAGMA synchronous=OFF');
  if (values.length === 0) connection.exec(sql);
  else connection.prepare(sql).run(...values);
  connection.close();
}

/** All columns of a row that is in order; `:at` takes the place of one of them. */
const ROW: Readonly<Record<string, SqlValue>> = {
  rid: 1_000,
  type: 'decisions',
  id: 'odd',
  agent: 'atlas',
  text: 'Redis is what this odd row is about.',
  tags: '[]',
  project: 'bmad-shop',
  created_at: '2026-03-05T10:00:00.000Z',
  updated_at: '2026-03-05T10:00:00.000Z',
  revision: 1,
  forgotten_at: null,
  superseded_by: null,
  superseded_at: null,
  terms: 'redis odd',
  rev: 1_000,
};

function insert(file: string, row: Readonly<Record<string, SqlValue>>): void {
  const names = Object.keys(row);
  const marks = names.map(() => '?').join(', ');
  const values = Object.values(row);
  change(file, `INSERT INTO memory (${names.join(', ')}) VALUES (${marks})`, ...values);
  const text =
    "INSERT OR REPLACE INTO words (rowid, terms) SELECT rid, 'redis odd' FROM memory WHERE rid > 3";
  change(file, text);
}

describe('a database with a row of ten megabytes', () => {
  const long = 'Redis '.repeat(TEN_MEGABYTES / 6);

  it('leaves it out, and tells of it (N-04)', async () => {
    const file = await storeWith();
    insert(file, { ...ROW, text: long });
    const store = await open(file);
    const { listed, found, count, stats, health } = await askAll(store);
    expect(listed).toEqual(texts(GOOD));
    expect(found).not.toContain(long);
    expect({ count, total: stats.total }).toEqual({ count: 3, total: 3 });
    expect(health).toMatchObject({ damaged: true, degraded: true });
    expect(health.notes.join()).toContain('rowid 1000');
    await tryWriting(store);
    await store.close();
  });

  it('leaves it out whatever column is so long (N-04)', async () => {
    const file = await storeWith();
    const part = long.slice(0, 2_100_000);
    const columns = ['terms', 'tags', 'id', 'agent', 'project', 'created_at', 'superseded_by'];
    for (const [index, column] of columns.entries()) {
      const value = column === 'tags' ? JSON.stringify([part]) : part;
      insert(file, { ...ROW, rid: 10 + index, id: `odd ${column}`, [column]: value });
    }
    const store = await open(file);
    const { listed, found, count, stats, health } = await askAll(store);
    expect(listed).toEqual(texts(GOOD));
    expect(found).not.toContain(ROW['text']);
    expect({ count, total: stats.total }).toEqual({ count: 3, total: 3 });
    expect(health.notes.join()).toContain('rowid 10, 11, 12, 13, 14 and more');
    await tryWriting(store);
    await store.close();
  });

  it('leaves out earlier wordings, vectors and notes of that size (N-04)', async () => {
    const file = await storeWith();
    change(file, 'UPDATE revision SET text = ?', long);
    change(file, 'UPDATE vector SET vector = zeroblob(?) WHERE rid = 2', TEN_MEGABYTES);
    change(file, "UPDATE vector SET space = ? || 'x' WHERE rid = 3", long);
    change(file, 'UPDATE meta SET value = ?', long);
    const store = await open(file);
    const { listed, health } = await askAll(store);
    expect(listed).toEqual(texts(GOOD));
    expect(await store.revisions({ type: 'decisions', id: uuid('a') })).toEqual([]);
    expect(health.notes.join()).toMatch(/"revision".*"vector"/s);
    await tryWriting(store);
    await store.close();
  });

  it('is told by recall and doctor, and the rest is served (N-04)', async () => {
    const session = await memorySession(afterAll);
    await session.remember('decisions', 'atlas', 'Redis keeps the sessions of the shop.');
    insert(join(session.folder, '_bmad/_memory/.bmad-memory/.bmad-memory.db'), { ...ROW, text: long });
    const hits = await session.recall('Redis sessions');
    expect(hits.map(({ snippet }) => snippet).join()).toContain('keeps the sessions');
    expect(JSON.stringify(hits)).not.toContain(ROW['id']);
    for (const operation of [memoryStatus, doctor])
      expect((await session.ok(operation, {})).answer.body).toContain('rowid 1000');
  });
});

/** Thirty-one numbers of a vector. */
const ZEROS = '00'.repeat(124);

describe('a database with values that no column should have', () => {
  it.each([
    ['tags that are no JSON', "UPDATE memory SET tags = '[oops' WHERE rid = 1", 2],
    ['tags that are no list', `UPDATE memory SET tags = '{"a":1}' WHERE rid = 1`, 2],
    ['tags that are no texts', "UPDATE memory SET tags = '[1,null,[2]]' WHERE rid = 1", 2],
    ['tags that are bytes', "UPDATE memory SET tags = x'5b5d' WHERE rid = 1", 2],
    ['a text that is bytes', "UPDATE memory SET text = x'00ff' WHERE rid = 1", 2],
    ['an id that is bytes', "UPDATE memory SET id = x'00ff' WHERE rid = 1", 2],
    ['a type that there is not', "UPDATE memory SET type = 'secrets' WHERE rid = 1", 2],
    ['a time that is none', "UPDATE memory SET created_at = 'yesterday' WHERE rid = 1", 2],
    [
      'a month that there is not',
      "UPDATE memory SET updated_at = '2026-13-01T10:00:00.000Z' WHERE rid = 1",
      2,
    ],
    ['a mark that is no time', 'UPDATE memory SET superseded_at = 7.5 WHERE rid = 1', 2],
    ['a revision that is a word', "UPDATE memory SET revision = 'many' WHERE rid = 1", 2],
    ['a revision beyond all numbers', 'UPDATE memory SET revision = 9223372036854775807 WHERE rid = 1', 2],
    ['a row number beyond all numbers', 'UPDATE memory SET rid = 9223372036854775807 WHERE rid = 1', 2],
    ['a row number below zero', 'UPDATE memory SET rid = -9223372036854775808 WHERE rid = 1', 2],
    ['a change beyond all numbers', 'UPDATE memory SET rev = 9223372036854775807 WHERE rid = 1', 2],
    ['a count of changes that is none', "UPDATE meta SET value = 'x' WHERE key = 'rev'", 3],
    [
      'a count of changes without an end',
      "UPDATE meta SET value = '9223372036854775807' WHERE key = 'rev'",
      3,
    ],
    ['no count of changes', 'DELETE FROM meta', 3],
    ['an order that there is not', "INSERT INTO words_config VALUES ('rank', 'nosuch()')", 3],
    ['vectors that are no numbers', `UPDATE vector SET vector = x'${ZEROS}0000c07f'`, 3],
    ['vectors that are texts', "UPDATE vector SET vector = 'x'", 3],
    ['vectors that are longer than one', `UPDATE vector SET vector = x'0000804f${ZEROS}'`, 3],
    ['an embedder that there is not', "UPDATE vector SET space = 'what'", 3],
    ['earlier wordings that are bytes', "UPDATE revision SET text = x'00', tags = x'00'", 3],
    ['earlier wordings without a number', "UPDATE revision SET revision = 'x'", 3],
  ])('serves the rest of one with %s, and can be written (N-05)', async (_what, sql, left) => {
    const file = await storeWith(sql);
    const store = await open(file);
    const { listed, count, stats, health } = await askAll(store);
    expect({ listed: listed.length, count, total: stats.total }).toEqual({
      listed: left,
      count: left,
      total: left,
    });
    if (left < 3) expect(health).toMatchObject({ damaged: true });
    await tryWriting(store);
    // What could not be read is replaced when it is remembered again.
    await store.upsert(GOOD);
    expect(await store.count({})).toBe(3);
    await store.close();
  });

  it('is refused when a table only looks like one of ours (N-05)', async () => {
    const file = await storeWith();
    const connection = new DatabaseSync(file);
    const row = connection.prepare("SELECT sql FROM sqlite_schema WHERE name = 'meta'").get();
    const { sql } = row as unknown as { sql: string };
    connection.close();
    // To SQLite, this is a part of the name that follows.
    change(file, `DROP TABLE meta; ${sql.replace(' value', '\u00a0value')}`);
    await expect(open(file)).rejects.toThrow(/is not a memory database of this server/);
  });

  it('is refused with a version below zero (N-05)', async () => {
    const file = await storeWith('PRAGMA user_version=-1');
    await expect(open(file)).rejects.toThrow(/is not a memory database of this server/);
  });

  it('takes what is written after a row that is counted by a fraction (N-05)', async () => {
    const file = await storeWith();
    insert(file, { ...ROW, rid: 100, id: 'odd', rev: 1_000.5 });
    const store = await open(file);
    await expect(tryWriting(store)).resolves.toBeUndefined();
    await store.close();
  });

  it('answers for whatever is in a row, and serves the rest (N-05)', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '[]',
        '["x"]',
        '[',
        '{}',
        '2026-02-31T10:00:00.000Z',
        'decisions',
        '\0',
        '',
        'odd\0odd',
      ),
    );
    const value: fc.Arbitrary<SqlValue> = fc.oneof(
      text,
      fc.double(),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.constantFrom(2n ** 53n, -1n, 0n, 2n ** 52n),
      fc.uint8Array({ maxLength: 40 }),
    );
    const columns = Object.keys(ROW);
    const rowCells = fc.array(fc.tuple(fc.constantFrom(...columns), value), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(rowCells, { minLength: 1, maxLength: 12 }), async (rows) => {
        const file = await storeWith();
        let added = 0;
        for (const [index, cells] of rows.entries()) {
          const row = { ...ROW, rid: 100 + index, id: `odd ${index}`, ...Object.fromEntries(cells) };
          try {
            insert(file, row);
            added++;
          } catch {
            // SQLite itself refuses it: a row number has to be a whole one, and NaN is nothing.
          }
        }
        const store = await open(file);
        const { listed, count, stats, health } = await askAll(store);
        for (const good of GOOD) expect(listed).toContain(good.text);
        expect(stats.live).toBe(count);
        expect(listed).toHaveLength(count);
        // Left out and told, or served; one that has the number of another has taken its place.
        if (stats.total === 3 && added > 0) expect(health.damaged).toBe(true);
        try {
          await tryWriting(store);
        } catch (error) {
          if (!(error instanceof BmadError)) throw error;
          expect(error.code).toBe('unavailable');
        }
        await store.close();
      }),
      { numRuns: 15 },
    );
  });
});
