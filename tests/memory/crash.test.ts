import { appendFile, mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/services/memory/sqlite/open.ts';
import { memory, uuid } from './places.ts';
import { lostOf, openFile, runWriter, type FileEngine } from './processes.ts';

const ENGINES: FileEngine[] = ['sqlite', 'jsonl'];

/** The full runs are made by hand with larger numbers. */
const WRITERS = Number(process.env['BMAD_TEST_MEMORY_WRITERS'] ?? 4);
const WRITES = Number(process.env['BMAD_TEST_MEMORY_WRITES'] ?? 60);
const KILLS = Number(process.env['BMAD_TEST_MEMORY_KILLS'] ?? 4);
const LONG = 900_000;

async function newFile(engine: FileEngine): Promise<string> {
  return join(
    await mkdtemp(join(tmpdir(), 'bmad-crash-')),
    engine === 'jsonl' ? 'memory.jsonl' : 'memory.db',
  );
}

/** The file and its word index, looked through by SQLite itself. */
async function expectSound(file: string): Promise<void> {
  const database = await openSqlite(file, { prepare: () => undefined });
  expect(database.all('PRAGMA integrity_check')).toMatchObject([{ integrity_check: 'ok' }]);
  database.run("INSERT INTO words (words) VALUES ('integrity-check')");
  database.close();
}

/** All bytes that an engine has left in the folder of a file; some files go when it is closed. */
async function bytesOf(file: string): Promise<string> {
  const folder = dirname(file);
  const parts = await Promise.all(
    (await readdir(folder)).map(async (name) => readFile(join(folder, name), 'latin1').catch(() => '')),
  );
  return parts.join('\n');
}

describe.each(ENGINES)('what was purged from a file of %s', (engine) => {
  it('cannot be read out of it', async () => {
    const file = await newFile(engine);
    const store = await openFile(engine, file);
    const many = Array.from({ length: 60 }, (_, index) => memory(`m${index}`, `Memory ${index} of a quokka`));
    await store.upsert(many);
    const one = memory('a', 'A xylophone was here', { tags: ['marimba'] });
    await store.upsert([one, { ...one, text: 'A glockenspiel was here' }]);
    await store.forget([one], '2026-04-01');
    expect(await bytesOf(file)).toMatch(/xylophone[^]*glockenspiel|glockenspiel[^]*xylophone/);
    expect(await store.purge([one])).toHaveLength(1);
    expect(await bytesOf(file)).not.toMatch(/xylophone|glockenspiel|marimba/);
    expect(await store.search({ terms: ['quokka'], filter: {}, limit: 99 })).toHaveLength(60);
    await store.close();
    expect(await bytesOf(file)).not.toMatch(/xylophone|glockenspiel|marimba/);
    if (engine === 'sqlite') await expectSound(file);
  });

  it.runIf(engine === 'jsonl')('stays where lines of the log cannot be read, and that is said', async () => {
    const file = await newFile(engine);
    const store = await openFile(engine, file);
    const one = memory('a', 'A xylophone was here');
    await store.upsert([one]);
    await store.forget([one], '2026-04-01');
    await appendFile(file, '{"half of a li\n');
    const before = await bytesOf(file);
    await expect(store.purge([one])).rejects.toMatchObject({ code: 'unavailable' });
    expect(await bytesOf(file)).toBe(before);
    await store.close();
  });
});

describe.each(ENGINES)('many processes on one file of %s', (engine) => {
  it(
    'lose nothing, and every one sees all in the end',
    async () => {
      const file = await newFile(engine);
      const names = Array.from({ length: WRITERS }, (_, index) => `w${index}`);
      const runs = await Promise.all(names.map(async (name) => runWriter(engine, file, name, WRITES)));
      expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
        names.map(() => ({ code: 0, stderr: '' })),
      );
      const store = await openFile(engine, file);
      expect(
        await lostOf(
          store,
          runs.flatMap(({ acknowledged }) => acknowledged),
        ),
      ).toEqual([]);
      const own = Math.ceil(WRITES / 2);
      expect(await store.count({})).toBe(WRITERS * own + (WRITES - own));
      // Each writer wrote each shared memory once: one wording stands, all others are its revisions.
      const shared = { type: 'decisions', id: uuid('shared-1') } as const;
      const wordings = [await store.get(shared), ...(await store.revisions(shared))].map((one) => one?.text);
      expect(wordings).toHaveLength(WRITERS);
      expect(new Set(wordings)).toEqual(new Set(names.map((name) => `Memory 1 by ${name}.`)));
      expect(await store.health()).toMatchObject({ degraded: false });
      await store.close();
    },
    LONG,
  );

  it(
    'that are killed while they write lose nothing they were told is stored',
    async () => {
      const file = await newFile(engine);
      const acknowledged: string[] = [];
      for (let round = 0; round < KILLS; round++) {
        const after = 5 + ((round * 37) % 90);
        const run = await runWriter(engine, file, `k${round}`, 1_000, after);
        expect(run.acknowledged.length).toBeGreaterThanOrEqual(after);
        acknowledged.push(...run.acknowledged);
      }
      const store = await openFile(engine, file);
      expect(await lostOf(store, acknowledged)).toEqual([]);
      const { notes } = await store.health();
      // A line that was cut off is told; a database repairs itself.
      expect(engine === 'sqlite' ? notes : notes.filter((note) => !note.includes('cannot be read'))).toEqual(
        [],
      );
      await store.close();
      if (engine === 'sqlite') await expectSound(file);
    },
    LONG,
  );
});
