import {
  copyFile,
  mkdir,
  open as openFile,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LineFiles } from '../../src/lines/files.ts';
import type { NewMemory } from '../../src/services/memory/engine.ts';
import { isSafe, sqliteDriver } from '../../src/services/memory/sqlite/database.ts';
import { indexName, SqliteIndex } from '../../src/services/memory/sqlite/index.ts';
import { MemoryStore } from '../../src/services/memory/store.ts';
import { temporaryFolder } from '../support/app.ts';
import { memory, storeOptions } from './places.ts';
import { openLines, partsOf, type Opening } from './processes.ts';
import { analyser, embedded } from './words.ts';

const driver = await sqliteDriver();

async function open(folder: string, more: Opening = {}): Promise<MemoryStore> {
  const store = await openLines('sqlite', folder, more);
  onTestFinished(() => store.close());
  return store;
}

const many = (name: string, count: number) =>
  Array.from({ length: count }, (_, at) => memory(`${name}${at}`, `Memory ${at} of ${name}, one of many.`));

const all = async (store: MemoryStore): Promise<string[]> =>
  (await store.list({}, { limit: 500 })).entries.map(({ text }) => text).sort();

async function sql(file: string, text: string): Promise<void> {
  const connection = driver.connect(file, 5_000);
  connection.exec(text);
  connection.close();
}

/** What may happen to the file, by its path and that of another project's. */
const HARMS: [string, (file: string, other: string) => Promise<void>][] = [
  ['emptied', (file) => truncate(file, 0)],
  ['cut off', async (file) => truncate(file, Math.floor((await readFile(file)).length / 2))],
  ['overwritten with something else', (file) => writeFile(file, 'No database at all. '.repeat(3_000))],
  [
    'overwritten in the middle',
    async (file) => {
      const bytes = await readFile(file);
      bytes.fill(0xa5, 4_096, bytes.length - 4_096);
      await writeFile(file, bytes);
    },
  ],
  ['replaced by that of another project', (file, other) => rename(other, file)],
  ['overwritten with that of another project', (file, other) => copyFile(other, file)],
  ['deleted', (file) => rm(file)],
  [
    'deleted with all that belongs to it',
    async (file) => {
      for (const end of ['', '-wal', '-shm']) await rm(file + end, { force: true });
    },
  ],
  ['given another table', (file) => sql(file, 'DROP TABLE memory; CREATE TABLE memory (x)')],
  ['robbed of its words', (file) => sql(file, 'DROP TABLE words')],
  ['damaged in a memory', (file) => flipped(file, '"text":"Memory 7 of ours')],
  ['damaged in a line', (file) => sql(file, 'UPDATE event SET body = substr(body, 2)')],
  ['damaged in a vector', (file) => sql(file, 'UPDATE vector SET vector = substr(vector, 2) WHERE rid = 7')],
];

/** Makes something else of the first byte of what SQLite has written there; nothing it would notice itself. */
async function flipped(file: string, text: string): Promise<void> {
  await sql(file, 'PRAGMA wal_checkpoint(TRUNCATE)');
  const bytes = await readFile(file);
  const at = bytes.lastIndexOf(text);
  expect(at).toBeGreaterThan(0);
  bytes[at] = (bytes[at] as number) ^ 1;
  const opened = await openFile(file, 'r+');
  await opened.write(bytes, at, 1, at);
  await opened.close();
}

describe.each(['wal', 'delete'] as const)('an index (%s) that is', (journal) => {
  it.each(HARMS)(
    '%s is made again by the next call, under a running server and after it (F-08)',
    async (_, harm) => {
      for (const running of [true, false]) {
        const [folder, elsewhere] = [
          await temporaryFolder(onTestFinished),
          await temporaryFolder(onTestFinished),
        ];
        const theirs = await openLines('sqlite', elsewhere, { journal });
        await theirs.upsert(many('theirs', 40));
        await theirs.close();
        const file = partsOf(folder).index;
        const store = await openLines('sqlite', folder, { journal });
        await store.upsert(many('ours', 60));
        const before = await all(store);
        if (!running) await store.close();
        await harm(file, partsOf(elsewhere).index);
        const next = running ? store : await openLines('sqlite', folder, { journal });
        const query = { terms: ['ours'], vector: embedded('ours'), filter: {}, limit: 99 };
        expect((await next.search(query)).length).toBe(60);
        expect(await all(next)).toEqual(before);
        expect(await next.count({})).toBe(60);
        const [reworded] = many('ours', 1).map((each) => ({
          ...each,
          at: '2026-04-01T00:00:00.000Z',
          tags: ['x'],
        }));
        await next.upsert([memory('new', 'Written after it.'), reworded as NewMemory]);
        expect(await next.count({})).toBe(61);
        expect(await next.get(reworded as NewMemory)).toMatchObject({ revision: 2, tags: ['x'] });
        expect(await next.revisions(reworded as NewMemory)).toHaveLength(1);
        expect(await next.health()).toMatchObject({ engine: 'sqlite', degraded: false, notes: [] });
        await next.close();
        const last = await openLines('sqlite', folder, { journal });
        expect(await all(last)).toEqual([...before, 'Written after it.'].sort());
        await last.close();
      }
    },
  );
});

describe('an index in SQLite', () => {
  it('that cannot be written is done without, and that is said', async () => {
    const folder = await temporaryFolder(onTestFinished);
    const full = {
      ...driver,
      connect(path: string, wait: number) {
        const connection = driver.connect(path, wait);
        connection.exec('PRAGMA max_page_count=40');
        return connection;
      },
    };
    const store = await open(folder, { driver: full });
    await store.upsert(many('ours', 400));
    expect(await store.count({})).toBe(400);
    const { engine, degraded, notes } = await store.health();
    expect({ engine, degraded }).toEqual({ engine: 'memory', degraded: true });
    expect(notes.join()).toMatch(/cannot be used.*keeps an index in its memory/);
    expect(await (await open(folder)).count({})).toBe(400);
  });

  /** As SQLite is on some network disks: `refuse` sees each statement, and may put another in its place. */
  const onDisk = (change: (sql: string) => string) => ({
    ...driver,
    connect(path: string, wait: number) {
      const connection = driver.connect(path, wait);
      return {
        prepare: (text: string) => connection.prepare(text),
        close: () => connection.close(),
        exec: (text: string) => connection.exec(change(text)),
      };
    },
  });

  it.each([
    ['gives no locks', 3_850, 'disk I/O error'],
    ['knows another way to lock', 15, 'locking protocol'],
    ['loses the file', 14, 'unable to open database file'],
  ])('on a disk that %s is done without, and nothing is lost', async (_, errcode, message) => {
    const folder = await temporaryFolder(onTestFinished);
    await (await open(folder)).upsert(many('before', 5));
    const far = onDisk((text) => {
      if (!text.startsWith('BEGIN')) return text;
      throw Object.assign(new Error(message), { errcode, code: 'ERR_SQLITE_ERROR' });
    });
    const store = await open(folder, { driver: far });
    await store.upsert(many('ours', 5));
    expect(await store.count({})).toBe(10);
    const { engine, notes } = await store.health();
    expect(engine).toBe('memory');
    expect(notes.join()).toMatch(/cannot be used.*keeps an index in its memory/);
    expect(await (await open(folder)).count({})).toBe(10);
  });

  it('on a disk without memory that processes share is written without a write-ahead log', async () => {
    const folder = await temporaryFolder(onTestFinished);
    // SQLite answers so itself where it cannot have one: it stays with the other way, and says nothing.
    const far = onDisk((text) => text.replace('journal_mode=wal', 'journal_mode=delete'));
    const [one, two] = [await open(folder, { driver: far }), await open(folder, { driver: far })];
    await Promise.all([one.upsert(many('one', 20)), two.upsert(many('two', 20))]);
    expect([await one.count({}), await two.count({})]).toEqual([40, 40]);
    await expect(readFile(`${partsOf(folder).index}-wal`)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await one.health()).toMatchObject({ engine: 'sqlite', degraded: false });
  });

  it('may be on another disk than the lines', async (context) => {
    const folder = await temporaryFolder(onTestFinished);
    const { dev } = await stat(folder);
    const name = `bmad-index-${process.pid}`;
    const others = await Promise.all(
      ['/dev/shm', '/var/tmp'].map(async (disk) => {
        const isOther = await stat(disk).then(
          (found) => found.dev !== dev,
          () => false,
        );
        return isOther ? [join(disk, name)] : [];
      }),
    );
    const [own] = others.flat();
    if (own === undefined) return context.skip('there is one disk');
    await mkdir(own);
    onTestFinished(() => rm(own, { recursive: true, force: true }));
    await symlink(own, join(folder, 'far'));
    const { index } = partsOf(join(folder, 'far'));
    const place = { folder: join(folder, 'lines'), isPrivate: false };
    const writer = { machine: () => Promise.resolve('k7q2'), by: { kind: 'local' as const, name: 'ada' } };
    const opened = () =>
      new MemoryStore(
        new LineFiles(place, writer),
        new SqliteIndex(index, driver, storeOptions()),
        storeOptions(),
      );
    const store = opened();
    await store.upsert(many('ours', 10));
    await truncate(index, 0);
    expect(await store.count({})).toBe(10);
    await store.close();
    const next = opened();
    expect(await next.count({})).toBe(10);
    await next.close();
  });

  it('has no log with a SQLite that would damage it, and says so', async () => {
    const old = { ...driver, version: '3.45.1', safeLog: false };
    const store = await open(await temporaryFolder(onTestFinished), { driver: old });
    expect((await store.health()).notes.join()).toContain('3.45.1');
    expect(['3.51.2', '3.50.9', '2.99.99', ''].map(isSafe)).toEqual([false, false, false, false]);
    expect(['3.51.3', '3.53.0', '4.0.0', '3.51.10'].map(isSafe)).toEqual([true, true, true, true]);
  });

  it('finds a memory among many, by either way', async () => {
    const store = await open(await temporaryFolder(onTestFinished));
    const usual = Array.from({ length: 3_000 }, (_, index) =>
      memory(`m${index}`, `Ordinary memory ${index % 50} about the usual things`, {
        tags: [`t${index % 7}`],
      }),
    );
    await store.upsert([...usual, memory('needle', 'A zebra crossed the usual road')]);
    const query = { terms: ['zebra', 'usual'], vector: embedded('zebra crossed'), filter: {}, limit: 5 };
    expect((await store.search(query))[0]?.entry.text).toContain('zebra');
    const byTag = await store.search({ ...query, filter: { tagsAll: ['t3'] }, limit: 5 });
    expect(byTag.map(({ entry }) => entry.tags)).toEqual(Array.from({ length: 5 }, () => ['t3']));
  });

  it('has a file of its own for another way to take words apart', async () => {
    const shouting = { id: 'shouting-1', terms: (text: string) => [text.toUpperCase()] };
    const names = [analyser, shouting].map((each) =>
      indexName('shop', { ...storeOptions(), analyser: each }),
    );
    expect(new Set(names).size).toBe(2);
  });
});
