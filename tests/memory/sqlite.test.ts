import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isSafe, sqliteDriver } from '../../src/services/memory/sqlite/driver.ts';
import { lookedAt } from '../../src/services/memory/sqlite/looked-at.ts';
import { openSqlite } from '../../src/services/memory/sqlite/open.ts';
import { postingsOf } from '../../src/services/memory/sqlite/postings.ts';
import { migrate } from '../../src/services/memory/sqlite/schema.ts';
import { openSqliteStore } from '../../src/services/memory/sqlite/store.ts';
import { storeContract } from './contract.ts';
import { memory, storeOptions } from './places.ts';
import { analyser, embedded } from './words.ts';

const folder = async (): Promise<string> => mkdtemp(join(tmpdir(), 'bmad-sqlite-'));
const open = async (file: string) => openSqliteStore({ ...storeOptions(), file });

storeContract('sqlite', async () => {
  const place = await folder();
  return {
    open: async (options) =>
      openSqliteStore({ ...storeOptions(options), file: join(place, 'm', 'memory.db') }),
    remove: async () => rm(place, { recursive: true, force: true }),
  };
});

const old = { ...(await sqliteDriver()), version: '3.45.1', safeLog: false };

storeContract('sqlite without a write-ahead log', async () => {
  const place = await folder();
  return {
    open: async (options) =>
      openSqliteStore({ ...storeOptions(options), file: join(place, 'memory.db'), driver: old }),
    remove: async () => rm(place, { recursive: true, force: true }),
  };
});

describe('a memory file of SQLite', () => {
  it('has a write-ahead log, and none with a SQLite that would damage it', async () => {
    const file = join(await folder(), 'memory.db');
    const store = await open(file);
    const health = await store.health();
    expect(health).toMatchObject({ degraded: false, notes: [], details: { journal: 'wal' } });
    await expect(openSqliteStore({ ...storeOptions(), file, driver: old })).rejects.toThrow(/must not use/);
    await store.close();
    const elsewhere = join(await folder(), 'memory.db');
    const other = await openSqliteStore({ ...storeOptions(), file: elsewhere, driver: old });
    expect(await other.health()).toMatchObject({ degraded: true, details: { journal: 'delete' } });
    expect((await other.health()).notes.join()).toContain('3.45.1');
    await other.close();
    expect(['3.51.2', '3.50.9', '2.99.99', ''].map(isSafe)).toEqual([false, false, false, false]);
    expect(['3.51.3', '3.53.0', '4.0.0', '3.51.10'].map(isSafe)).toEqual([true, true, true, true]);
  });

  it('is looked through once for as long as nobody writes, if it is large', async () => {
    const file = join(await folder(), 'memory.db');
    const store = await open(file);
    await store.upsert([memory('a', 'The first.')]);
    const other = (await sqliteDriver()).connect(file, 0);
    const database = await openSqlite(file, { prepare: () => undefined });
    let looks = 0;
    const look = (): number => lookedAt(database, 'test', () => ++looks);
    expect([look(), look()]).toEqual([1, 2]);
    other.exec("INSERT INTO meta (key, value) VALUES ('filler', zeroblob(17000000))");
    expect([look(), look()]).toEqual([3, 3]);
    const texts = async (): Promise<string[]> =>
      (await store.list({}, { limit: 10 })).entries.map(({ text }) => text).sort();
    expect((await store.stats()).total).toBe(1);
    expect([await store.count({}), await texts()]).toEqual([1, ['The first.']]);
    await store.upsert([memory('b', 'The second.')]);
    expect((await store.stats()).total).toBe(2);
    expect([await store.count({}), await texts()]).toEqual([2, ['The first.', 'The second.']]);
    expect(look()).toBe(4);
    other.exec("PRAGMA foreign_keys = OFF; DELETE FROM memory WHERE text = 'The first.'");
    expect(await store.stats()).toMatchObject({ total: 1 });
    expect([await store.count({}), await texts()]).toEqual([1, ['The second.']]);
    expect(await store.embedding()).toMatchObject({ total: 1 });
    expect((await store.health()).damaged).toBe(false);
    other.exec("UPDATE memory SET created_at = 'never'");
    expect((await store.health()).damaged).toBe(true);
    expect(await store.stats()).toMatchObject({ total: 0 });
    database.close();
    other.close();
    await store.close();
  });

  it('lets the process do other things while another one writes', async () => {
    const file = join(await folder(), 'memory.db');
    const store = await open(file);
    const other = (await sqliteDriver()).connect(file, 0);
    other.exec('BEGIN IMMEDIATE');
    let done = false;
    const written = store.upsert([memory('a', 'It has to wait.')]).then(() => (done = true));
    let longest = 0;
    let last = performance.now();
    for (let turn = 0; turn < 60; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }
    expect(done).toBe(false);
    other.exec('COMMIT');
    other.close();
    await written;
    // Far below the seconds that SQLite would wait, and far above what a busy machine takes by itself.
    expect(longest).toBeLessThan(2_000);
    await store.close();
  });

  it('is reported when it is damaged, with the way back, and left as it is', async () => {
    const file = join(await folder(), 'memory.db');
    const junk = 'This is no database at all. '.repeat(400);
    await writeFile(file, junk);
    await expect(open(file)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('left unchanged') as string,
      hint: expect.stringContaining('import the last export') as string,
    });
    expect(await readFile(file, 'utf8')).toBe(junk);
  });

  it('is reported when its pages are damaged', async () => {
    const file = join(await folder(), 'memory.db');
    const store = await open(file);
    await store.upsert(
      Array.from({ length: 200 }, (_, index) => memory(`m${index}`, `Memory ${index} of many.`)),
    );
    await store.close();
    await rm(`${file}-wal`, { force: true });
    const bytes = await readFile(file);
    bytes.fill(0xa5, 4096, bytes.length - 4096);
    await writeFile(file, bytes);
    await expect(
      (async () => {
        const damaged = await open(file);
        try {
          await damaged.list({}, { limit: 300 });
        } finally {
          await damaged.close();
        }
      })(),
    ).rejects.toThrow(/damaged/);
  });

  it('is brought up to date when an older version wrote it', async () => {
    const file = join(await folder(), 'memory.db');
    const before = await open(file);
    await before.upsert([memory('a', 'Kept through all versions.', { agent: 'Dev' })]);
    await before.close();
    const database = await openSqlite(file, {
      prepare: (opened) => opened.exec('DROP INDEX memory_agent; PRAGMA user_version=1'),
    });
    database.close();
    const after = await open(file);
    expect((await after.list({ agents: ['dev'] }, { limit: 5 })).entries).toHaveLength(1);
    expect((await after.health()).schema).toBe(2);
    await after.close();
  });

  it('is not touched when a newer version wrote it', async () => {
    const file = join(await folder(), 'memory.db');
    const database = await openSqlite(file, { prepare: (opened) => opened.exec('PRAGMA user_version=99') });
    database.close();
    await expect(open(file)).rejects.toThrow(/newer version/);
  });

  it.skipIf(process.getuid?.() === 0)('says when its folder is read-only', async () => {
    const place = await folder();
    await chmod(place, 0o500);
    await expect(open(join(place, 'memory.db'))).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('says when the disk is full, and loses nothing of what was there', async () => {
    const file = join(await folder(), 'memory.db');
    const store = await open(file);
    await store.upsert([memory('a', 'Written while there was room.')]);
    const full = await openSqlite(file, { prepare: (opened) => opened.exec('PRAGMA max_page_count=1') });
    const big = 'x'.repeat(3_000_000);
    await expect(full.write(() => full.run("INSERT INTO meta VALUES ('big', ?)", big))).rejects.toThrow(
      /the disk is full/,
    );
    full.close();
    expect(await store.count({})).toBe(1);
    await store.close();
  });

  it('makes its words anew when the analyser has changed', async () => {
    const file = join(await folder(), 'memory.db');
    const one = await open(file);
    await one.upsert([memory('a', 'Sessions'), memory('b', 'Orders')]);
    await one.close();
    const shouting = { id: 'shouting-1', terms: (text: string) => [text.toUpperCase()] };
    const two = await openSqliteStore({ ...storeOptions(), file, analyser: shouting });
    expect(await two.search({ terms: ['SESSIONS'], filter: {}, limit: 5 })).toHaveLength(1);
    expect(await two.search({ terms: ['sessions'], filter: {}, limit: 5 })).toEqual([]);
    await two.close();
    expect(analyser.id).not.toBe(shouting.id);
  });

  it('finds a memory among many, by either way', async () => {
    const file = join(await folder(), 'memory.db');
    const store = await open(file);
    const many = Array.from({ length: 3_000 }, (_, index) =>
      memory(`m${index}`, `Ordinary memory ${index % 50} about the usual things`, {
        tags: [`t${index % 7}`],
      }),
    );
    await store.upsert([...many, memory('needle', 'A zebra crossed the usual road')]);
    const query = { terms: ['zebra', 'usual'], vector: embedded('zebra crossed'), filter: {}, limit: 5 };
    expect((await store.search(query))[0]?.entry.text).toContain('zebra');
    const byTag = await store.search({ ...query, filter: { tagsAny: ['t3'] }, limit: 5 });
    expect(byTag.map(({ entry }) => entry.tags)).toEqual(Array.from({ length: 5 }, () => ['t3']));
    await store.close();
  });

  it('puts words in the order of SQLite, also after changes', async () => {
    const file = join(await folder(), 'memory.db');
    const store = await open(file);
    const words = 'queue cache queue retry ledger tenant queue'.split(' ');
    const text = (index: number): string =>
      Array.from({ length: 3 + (index % 9) }, (_, at) => words[(index * (at + 1)) % words.length]).join(' ');
    await store.upsert(Array.from({ length: 500 }, (_, index) => memory(`m${index}`, text(index))));
    const database = await openSqlite(file, { prepare: migrate });
    const orders = async (): Promise<[unknown, unknown]> =>
      database.read(() => {
        const sql =
          'SELECT rowid AS rid FROM words WHERE words MATCH \'"ledger" OR "tenant"\' ORDER BY rank LIMIT 60';
        const theirs = database.all<{ rid: number }>(sql).map(({ rid }) => rid);
        return [postingsOf(database).best(['ledger', 'tenant'], 60), theirs];
      });
    const [ours, theirs] = await orders();
    expect(ours).toEqual(theirs);
    await store.update(memory('m7', ''), { text: 'ledger tenant', at: '2026-03-02' });
    await store.upsert([memory('new', 'tenant ledger'), memory('newer', 'nothing of it')]);
    const [after, expected] = await orders();
    expect(after).toEqual(expected);
    expect(after).not.toEqual(ours);
    database.close();
    await store.close();
  });
});
