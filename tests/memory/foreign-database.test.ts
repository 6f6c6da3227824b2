import { readFile, truncate, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ANALYSER_VERSION } from '../../src/meaning/analyse.ts';
import { sqliteDriver } from '../../src/services/memory/sqlite/driver.ts';
import { openSqlite } from '../../src/services/memory/sqlite/open.ts';
import { openSqliteStore } from '../../src/services/memory/sqlite/store.ts';
import { cliFile, temporaryFolder } from '../support/app.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { bareEnvironment } from '../support/programs.ts';
import { memory, storeOptions } from './places.ts';

const driver = await sqliteDriver();

/** A store as this server leaves it, and what someone has done to it since. */
async function storeWith(sql: string): Promise<string> {
  const file = join(await temporaryFolder(afterAll), '.bmad-memory.db');
  const store = await openSqliteStore({ ...storeOptions(), file, journal: 'delete' });
  await store.upsert([memory('a', 'Written by the server itself.')]);
  await store.close();
  const connection = driver.connect(file, 1_000);
  connection.exec(sql);
  connection.close();
  return file;
}

const open = async (file: string) => openSqliteStore({ ...storeOptions(), file });

/** Rows without an end, which need no disk at all. */
const ENDLESS = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS rid FROM n';

describe('a database in a project that this server has not made', () => {
  it('answers at once instead of counting for ever (S-05)', async () => {
    const [cwd, home] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
    await writeFiles(cwd, { ...KIT_FILES, '_bmad/_memory/.bmad-memory/.gitignore': '' });
    const connection = driver.connect(join(cwd, '_bmad/_memory/.bmad-memory/.bmad-memory.db'), 1_000);
    connection.exec(`CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
      INSERT INTO meta VALUES ('rev', '1'), ('analyser', 'words-${ANALYSER_VERSION}'), ('store', 'x');
      CREATE VIEW memory AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
        SELECT x AS rid, 'decisions' AS type, 'i' || x AS id, 'dev' AS agent, 'Redis' AS text, '[]' AS tags,
          'p' AS project, '2026-01-01' AS created_at, '2026-01-01' AS updated_at, 1 AS revision,
          NULL AS forgotten_at, NULL AS superseded_by, NULL AS superseded_at, 'redis' AS terms, 1 AS rev FROM n;
      CREATE TABLE revision (rid, revision, text, tags, agent, at); CREATE TABLE vector (rid, space, vector);
      CREATE VIRTUAL TABLE words USING fts5(terms, content='', contentless_delete=1, tokenize='ascii');
      PRAGMA user_version=2;`);
    connection.close();
    const child = spawn(process.execPath, [cliFile, 'memory', 'recall', 'Redis'], {
      cwd,
      env: bareEnvironment(home),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk));
    // Endless work does not hear any other signal.
    const limit = setTimeout(() => child.kill('SIGKILL'), 45_000);
    const [code] = (await once(child, 'close')) as [number | null];
    clearTimeout(limit);
    const answer = Buffer.concat(said).toString('utf8');
    expect({ code, answer }).toMatchObject({ code: 0 });
    // What the project's own files say is still found.
    expect(answer).toContain('Vider le cache Redis');
    expect(answer).toMatch(/DEGRADED.*not a memory database of this server/s);
  });

  it.each([
    ['a view in place of a table', `DROP TABLE vector; CREATE VIEW vector AS ${ENDLESS}`],
    ['one more view', `CREATE VIEW mine AS ${ENDLESS}`],
    ['a trigger', 'CREATE TRIGGER t AFTER INSERT ON memory BEGIN DELETE FROM revision; END'],
    ['one more table', 'CREATE TABLE mine (x)'],
    ['one more index', 'CREATE INDEX mine ON memory (abs(rid))'],
    ['a virtual table', 'CREATE VIRTUAL TABLE mine USING fts5(x)'],
    ['a column that is computed', 'ALTER TABLE memory ADD COLUMN y AS (hex(zeroblob(100000000)))'],
    ['a table too few', 'DROP TABLE vector'],
    ['no version', 'PRAGMA user_version=0'],
  ])('is refused with %s (S-05)', async (_what, sql) => {
    const file = await storeWith(sql);
    const before = await readFile(file);
    await expect(open(file)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('is not a memory database of this server') as string,
    });
    expect((await readFile(file)).equals(before)).toBe(true);
  });

  it('is refused in the middle of its use when its tables change (S-05)', async () => {
    const file = await storeWith('');
    const store = await open(file);
    expect(await store.count({})).toBe(1);
    const other = driver.connect(file, 1_000);
    other.exec(`CREATE VIEW mine AS ${ENDLESS}`);
    await expect(store.count({})).rejects.toThrow(/not a memory database of this server/);
    await expect(store.upsert([memory('b', 'Written into a view.')])).rejects.toThrow(
      /not a memory database/,
    );
    other.exec('DROP VIEW mine');
    other.close();
    expect(await store.count({})).toBe(1);
    await store.close();
  });

  it('is used when someone has only had it analysed', async () => {
    const store = await open(await storeWith('ANALYZE'));
    expect(await store.count({})).toBe(1);
    await store.close();
  });

  it('has a statement ended that gives rows without an end (S-05)', async () => {
    const file = join(await temporaryFolder(afterAll), '.bmad-memory.db');
    const database = await openSqlite(file, { prepare: () => undefined, statementMs: 200 });
    await expect(database.read(() => database.all(ENDLESS))).rejects.toThrow(/did not answer within/);
    // The connection goes on working.
    expect(database.all('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    database.close();
  });

  it('is not opened when it is larger than any store of ours (S-05)', async () => {
    const file = await storeWith('');
    // No disk has to hold it: it is a hole.
    await truncate(file, 2 * 1024 ** 3 + 4096);
    await expect(open(file)).rejects.toThrow(/larger than 2 GiB/);
    await truncate(file, 0);
  });

  it('has no other file removed by a journal that names it (S-05)', async () => {
    const folder = await temporaryFolder(afterAll);
    const [file, precious] = [join(folder, '.bmad-memory.db'), join(folder, 'precious.txt')];
    const store = await openSqliteStore({ ...storeOptions(), file, journal: 'delete' });
    await store.close();
    await writeFile(precious, 'not yours');
    const pages = (await readFile(file)).length / 4096;
    const [header, name] = [Buffer.alloc(512), Buffer.from(precious)];
    const magic = Buffer.from('d9d505f920a163d7', 'hex');
    magic.copy(header);
    for (const [at, value] of [
      [16, pages],
      [20, 512],
      [24, 4096],
    ] as const)
      header.writeUInt32BE(value, at);
    const tail = Buffer.alloc(8);
    tail.writeUInt32BE(name.length, 0);
    tail.writeUInt32BE(
      name.reduce((sum, byte) => sum + byte, 0),
      4,
    );
    const page = Buffer.alloc(4);
    page.writeUInt32BE(0x40000000 / 4096 + 1);
    await writeFile(`${file}-journal`, Buffer.concat([header, page, name, tail, magic]));
    const [outcome] = await Promise.allSettled([open(file)]);
    expect(await readFile(precious, 'utf8')).toBe('not yours');
    expect(outcome).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringContaining('was not written by this server') as string },
    });
  });
});
