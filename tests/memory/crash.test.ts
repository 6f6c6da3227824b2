import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/base/sqlite.ts';
import { uuid } from './places.ts';
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
