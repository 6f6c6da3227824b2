import { link, mkdir, readdir, readFile, rename, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sqliteDriver } from '../../src/services/memory/sqlite/database.ts';
import { temporaryFolder } from '../support/app.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { openProject, storeIn } from './open-project.ts';
import { uuid } from './places.ts';

const driver = await sqliteDriver();
const STORE = '_bmad/_memory/.bmad-memory';

/** The tables of the version before, as it made them. */
const TABLES = `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE memory (
     rid INTEGER PRIMARY KEY,
     type TEXT NOT NULL,
     id TEXT NOT NULL,
     agent TEXT NOT NULL,
     text TEXT NOT NULL,
     tags TEXT NOT NULL,
     project TEXT NOT NULL,
     created_at TEXT NOT NULL,
     updated_at TEXT NOT NULL,
     revision INTEGER NOT NULL,
     forgotten_at TEXT,
     superseded_by TEXT,
     superseded_at TEXT,
     terms TEXT NOT NULL,
     rev INTEGER NOT NULL,
     UNIQUE (type, id)
   );
   CREATE TABLE revision (
     rid INTEGER NOT NULL REFERENCES memory (rid),
     revision INTEGER NOT NULL,
     text TEXT NOT NULL,
     tags TEXT NOT NULL,
     agent TEXT NOT NULL,
     at TEXT NOT NULL,
     PRIMARY KEY (rid, revision)
   );
   CREATE TABLE vector (rid INTEGER NOT NULL, space TEXT NOT NULL, vector BLOB NOT NULL);
   PRAGMA user_version=2;`;

const row = (
  rid: number,
  text: string,
  more: { at?: string; forgotten?: string; tags?: string } = {},
): string => {
  const { at = '2026-03-01T10:00:00.000Z', forgotten, tags = '[]' } = more;
  const gone = forgotten === undefined ? 'NULL' : `'${forgotten}'`;
  return `INSERT INTO memory VALUES (${rid}, 'decisions', '${uuid(`m${rid}`)}', 'dev', '${text}', '${tags}', 'shop',
    '2026-03-01T10:00:00.000Z', '${at}', 1, ${gone}, NULL, NULL, '', 1);`;
};

const ROWS = `${row(1, 'Redis keeps the sessions')} ${row(2, 'Something else', { forgotten: '2026-03-02T10:00:00.000Z' })}
  INSERT INTO revision VALUES (1, 1, 'Memcached keeps the sessions', '[]', 'dev', '2026-02-01T10:00:00.000Z');`;

function run(file: string, sql: string): void {
  const connection = driver.connect(file, 1_000);
  connection.exec(sql);
  connection.close();
}

async function project(sql = `${TABLES} ${ROWS}`) {
  const root = await temporaryFolder(onTestFinished);
  await writeFiles(root, KIT_FILES);
  const folder = join(root, STORE);
  await mkdir(folder, { recursive: true });
  const file = join(folder, '.bmad-memory.db');
  if (sql !== '') run(file, sql);
  return { root, folder, file };
}

async function textsIn(root: string, notes: string[] = []): Promise<string[]> {
  const store = await storeIn(root, { notes });
  const { entries } = await store.list({ includeForgotten: true }, { limit: 99 });
  await store.close();
  return entries
    .map(({ text, forgottenAt }) => `${text}${forgottenAt === undefined ? '' : ' (gone)'}`)
    .sort();
}

const key = (rid: number) => ({ type: 'decisions', id: uuid(`m${rid}`) }) as const;

describe('a store of the version before', () => {
  it('is written as lines once, with its past, and set aside', async () => {
    const { root, folder, file } = await project();
    expect(await textsIn(root)).toEqual([' (gone)', 'Redis keeps the sessions']);
    expect(await textsIn(root)).toHaveLength(2);
    const store = await storeIn(root);
    expect((await store.revisions(key(1))).map(({ text }) => text)).toEqual(['Memcached keeps the sessions']);
    await store.close();
    expect((await readFile(file)).readUInt32BE(60)).toBe(1_000);
    const names = await readdir(folder);
    expect(names.filter((name) => name.startsWith('.bmad-memory.db.moved-'))).toHaveLength(1);
    expect(names.filter((name) => /-(?:wal|shm|journal)$/.test(name) && !name.includes('.moved-'))).toEqual(
      [],
    );
  });

  it('is only read by one who may not write', async () => {
    const { root, folder } = await project();
    const before = await readdir(folder);
    const reader = await storeIn(root, { writes: false });
    expect(await reader.count({ includeForgotten: true })).toBe(2);
    await reader.close();
    expect(await readdir(folder)).toEqual(before);
    // What is in no line is in no file of the cache either.
    const other = await storeIn(root, { writes: false, cache: join(root, 'no-cache') });
    expect(await other.count({ includeForgotten: true })).toBe(2);
    await other.close();
  });

  it('is taken in again where somebody has gone back to that version meanwhile', async () => {
    const { root, folder, file } = await project();
    await textsIn(root);
    const aside = (await readdir(folder)).find((name) => name.includes('.moved-')) ?? '';
    await rename(join(folder, aside), file);
    run(
      file,
      `UPDATE memory SET text = 'Valkey keeps the sessions', updated_at = '2027-01-01T10:00:00.000Z' WHERE rid = 1;
       ${row(3, 'New in the version before')}`,
    );
    expect(await textsIn(root)).toEqual([
      ' (gone)',
      'New in the version before',
      'Valkey keeps the sessions',
    ]);
    const store = await storeIn(root);
    expect((await store.get(key(1)))?.others).toBeUndefined();
    await store.close();
  });

  it('brings nothing back that was removed for good since', async () => {
    const { root, folder, file } = await project();
    const store = await storeIn(root);
    await store.forget([key(1)], '2026-04-01');
    await store.purge([key(1)]);
    await store.close();
    const aside = (await readdir(folder)).find((name) => name.includes('.moved-')) ?? '';
    await rename(join(folder, aside), file);
    expect(await textsIn(root)).toEqual([' (gone)']);
  });

  it('keeps no text of what was forgotten, and says so where somebody wants it back', async () => {
    const { root, folder } = await project();
    const memory = await openProject(root);
    await memory.status();
    for (const day of (await readdir(folder)).filter((name) => /^\d/.test(name)))
      for (const name of await readdir(join(folder, day)))
        expect(await readFile(join(folder, day, name), 'utf8')).not.toContain('Something else');
    const { entries } = await memory.list({ all: true, stored: true }, { limit: 9 });
    expect(entries.map(({ text }) => text)).toContain('(forgotten before lines; its text was not kept)');
    await expect(memory.restore(key(2).id)).rejects.toThrow(/was not kept/);
    await memory.close();
  });

  it.each([
    [
      'a view in place of a table',
      `${TABLES} DROP TABLE memory; CREATE VIEW memory AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS rid FROM n`,
    ],
    [
      'a column that is computed',
      `${TABLES} ALTER TABLE memory ADD COLUMN y AS (hex(zeroblob(100000000))); ${row(1, 'x')}`.replace(
        "'', 1)",
        "'', 1)",
      ),
    ],
    ['a table too few', `${TABLES} DROP TABLE revision`],
    ['other tables', 'CREATE TABLE mine (x)'],
  ])('is left alone and named where it has %s (S-05)', async (_, sql) => {
    const { root, file } = await project(
      sql.includes('ADD COLUMN') ? sql.slice(0, sql.indexOf('INSERT')) : sql,
    );
    const before = await readFile(file);
    const notes: string[] = [];
    expect(await textsIn(root, notes)).toEqual([]);
    expect(notes.join()).toMatch(/cannot be read. It was left unchanged/);
    expect((await readFile(file)).equals(before)).toBe(true);
  });

  it('is left alone where it is no database, or larger than any (S-05)', async () => {
    const { root, file } = await project('');
    await writeFile(file, 'This is no database. '.repeat(400));
    const notes: string[] = [];
    expect(await textsIn(root, notes)).toEqual([]);
    await truncate(file, 2 * 1024 ** 3);
    expect(await textsIn(root, notes)).toEqual([]);
    expect(notes).toHaveLength(2);
    await truncate(file, 0);
  });

  it('is not followed to a file elsewhere (N-08)', async () => {
    const elsewhere = await project();
    for (const make of [symlink, link]) {
      const { root, folder, file } = await project('');
      await make(elsewhere.file, file);
      const notes: string[] = [];
      const before = await readFile(elsewhere.file);
      expect(await textsIn(root, notes)).toEqual([]);
      expect(notes).toHaveLength(1);
      expect(await readdir(folder)).toContain('.bmad-memory.db');
      expect((await readFile(elsewhere.file)).equals(before)).toBe(true);
    }
  });

  it('has no other file removed by a journal that names it (S-05)', async () => {
    const { root, folder, file } = await project();
    const precious = join(folder, 'precious.txt');
    await writeFile(precious, 'not yours');
    const pages = (await readFile(file)).length / 4096;
    const [header, name] = [Buffer.alloc(512), Buffer.from(precious)];
    const magic = Buffer.from('d9d505f920a163d7', 'hex');
    magic.copy(header);
    header.writeUInt32BE(pages, 16);
    header.writeUInt32BE(512, 20);
    header.writeUInt32BE(4096, 24);
    const tail = Buffer.alloc(8);
    tail.writeUInt32BE(name.length, 0);
    tail.writeUInt32BE(
      name.reduce((sum, byte) => sum + byte, 0),
      4,
    );
    const page = Buffer.alloc(4);
    page.writeUInt32BE(0x40000000 / 4096 + 1);
    await writeFile(`${file}-journal`, Buffer.concat([header, page, name, tail, magic]));
    const notes: string[] = [];
    expect(await textsIn(root, notes)).toEqual([]);
    expect(notes.join()).toContain('cannot be read');
    expect(await readFile(precious, 'utf8')).toBe('not yours');
  });

  it('is taken from a log as well, which then is refused by that version', async () => {
    const { root, folder } = await project('');
    const log = join(folder, '.bmad-memory.jsonl');
    const entry = {
      type: 'decisions',
      id: uuid('a'),
      agent: 'dev',
      text: 'Kept in a log',
      tags: [],
      project: 'shop',
      createdAt: '2026-03-01T10:00:00.000Z',
      updatedAt: '2026-03-01T10:00:00.000Z',
      revision: 1,
    };
    const lines = [{ log: 'bmad-memory', version: 1 }, { put: { entry, revisions: [] } }];
    await writeFile(log, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    expect(await textsIn(root)).toEqual(['Kept in a log']);
    expect(await readFile(log, 'utf8')).toContain('"version":1000');
    expect(await textsIn(root)).toEqual(['Kept in a log']);
  });
});
