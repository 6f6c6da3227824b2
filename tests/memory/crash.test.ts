import { spawn, spawnSync } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sqliteDriver } from '../../src/services/memory/sqlite/database.ts';
import { temporaryFolder } from '../support/app.ts';
import { memory, uuid } from './places.ts';
import { killTrial, lostOf, openLines, partsOf, runWriter, type IndexKind } from './processes.ts';
import { rounds, some } from '../support/how-much.ts';

const KINDS: IndexKind[] = ['sqlite', 'memory'];

/** The full runs are made by hand with larger numbers. */
const WRITERS = Number(process.env['BMAD_TEST_MEMORY_WRITERS'] ?? 4);
const WRITES = Number(process.env['BMAD_TEST_MEMORY_WRITES'] ?? rounds(12, 30));
/** A hundred are in `many-kills.test.ts`. */
const KILLS = Number(process.env['BMAD_TEST_MEMORY_KILLS'] ?? rounds(1, 2));
const APART_WRITES = rounds(15, 80);
/** A program with process numbers of its own, as sandboxes of editors and pods give them. */
const APART = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];
const canBeApart = spawnSync('unshare', [...APART.slice(1), 'true']).status === 0;
const NEEDED = canBeApart ? '' : ' (skipped: this system does not let the tests make a PID namespace)';
const LONG = 900_000;

/** The index and its words, looked through by SQLite itself. */
async function expectSound(folder: string): Promise<void> {
  const connection = (await sqliteDriver()).connect(partsOf(folder).index, 1_000);
  expect(connection.prepare('PRAGMA integrity_check').get()).toMatchObject({ integrity_check: 'ok' });
  connection.exec("INSERT INTO words (words) VALUES ('integrity-check')");
  connection.close();
}

/** All bytes that are left in a folder: lines, mirror, index and its log. */
async function bytesOf(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true });
  const parts = names.map((name) => readFile(join(folder, name), 'latin1').catch(() => ''));
  return (await Promise.all(parts)).join('\n');
}

describe.each(KINDS)('what was purged from lines with an index in %s', (kind) => {
  it('cannot be read out of any file', async () => {
    const folder = await temporaryFolder(onTestFinished);
    const store = await openLines(kind, folder);
    const other = await openLines(kind, folder, { machine: 'other' });
    const many = Array.from({ length: 60 }, (_, index) => memory(`m${index}`, `Memory ${index} of a quokka`));
    await store.upsert(many);
    const one = memory('a', 'A xylophone was here', { tags: ['marimba'] });
    await store.upsert([one, { ...one, text: 'A glockenspiel was here' }]);
    await other.upsert([{ ...one, text: 'A xylophone was there' }]);
    await store.forget([one], '2026-04-01');
    expect(await bytesOf(folder)).toMatch(/xylophone[^]*glockenspiel|glockenspiel[^]*xylophone/);
    expect(await store.purge([one])).toHaveLength(1);
    expect(await bytesOf(folder)).not.toMatch(/xylophone|glockenspiel|marimba/);
    expect(await store.search({ terms: ['quokka'], filter: {}, limit: 99 })).toHaveLength(60);
    expect(await other.get(one)).toBeUndefined();
    await Promise.all([store.close(), other.close()]);
    expect(await bytesOf(folder)).not.toMatch(/xylophone|glockenspiel|marimba/);
    if (kind === 'sqlite') await expectSound(folder);
  });
});

describe.each(KINDS)('what is remembered again after it was purged, with an index in %s,', (kind) => {
  it('stays, also where the index is made again and on other machines', async () => {
    const folder = await temporaryFolder(onTestFinished);
    const store = await openLines(kind, folder);
    const one = memory('a', 'A xylophone was here');
    await store.upsert([one]);
    await store.forget([one], '2026-04-01');
    await store.purge([one]);
    await store.upsert([{ ...one, text: 'A marimba is here' }]);
    await store.close();
    await rm(partsOf(folder).index, { force: true });
    const again = await openLines(kind, folder, { machine: 'other' });
    expect((await again.get(one))?.text).toBe('A marimba is here');
    expect(await again.revisions(one)).toEqual([]);
    await again.close();
    expect(await bytesOf(partsOf(folder).lines)).toContain('A marimba is here');
    expect(await bytesOf(folder)).not.toContain('xylophone');
  });
});

// The lines are the same; the index in a file is the one that can be damaged.
describe.each(some(1, KINDS))('many processes that write lines, with an index in %s', (kind) => {
  it(
    'lose nothing, and every one sees all in the end (F-01)',
    async () => {
      const folder = await temporaryFolder(onTestFinished);
      const names = Array.from({ length: WRITERS }, (_, index) => `w${index}`);
      const runs = await Promise.all(names.map(async (name) => runWriter(kind, folder, name, WRITES)));
      expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
        names.map(() => ({ code: 0, stderr: '' })),
      );
      const store = await openLines(kind, folder);
      const acknowledged = runs.flatMap((run) => run.acknowledged);
      expect(await lostOf(store, acknowledged)).toEqual([]);
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
    'that are killed while they write lose nothing they were told is stored, and have nothing twice',
    async () => {
      const folder = await temporaryFolder(onTestFinished);
      expect(await killTrial(kind, folder, 8, KILLS)).toMatchObject({ lost: [], twice: 0, notes: [] });
      if (kind === 'sqlite') await expectSound(folder);
    },
    LONG,
  );

  it.skipIf(!canBeApart)(
    `in different process namespaces lose nothing either (F-01)${NEEDED}`,
    async () => {
      const folder = await temporaryFolder(onTestFinished);
      const busy = [1, 2].map(() => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
      onTestFinished(() => busy.forEach((each) => each.kill('SIGKILL')));
      const runs = await Promise.all(
        [[], [], APART, APART].map((by, at) =>
          runWriter(kind, folder, `n${at}`, APART_WRITES, undefined, by),
        ),
      );
      expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
        runs.map(() => ({ code: 0, stderr: '' })),
      );
      const store = await openLines(kind, folder);
      expect(runs.flatMap(({ acknowledged }) => acknowledged)).toHaveLength(4 * APART_WRITES);
      expect(
        await lostOf(
          store,
          runs.flatMap(({ acknowledged }) => acknowledged),
        ),
      ).toEqual([]);
      await store.close();
    },
    LONG,
  );
});
