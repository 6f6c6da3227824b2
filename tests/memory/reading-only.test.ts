import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/base/sha256.ts';
import { openSqlite } from '../../src/services/memory/sqlite/open.ts';
import { openSqliteStore } from '../../src/services/memory/sqlite/store.ts';
import { temporaryFolder } from '../support/app.ts';
import { memory, storeOptions } from './places.ts';

const QUERY = { terms: ['redis'], filter: {}, limit: 10 };

/** Every file of a folder with a digest of its bytes. */
async function everything(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).sort();
  const files = names.map(async (name) => [name, sha256(await readFile(join(folder, name)))] as const);
  return Object.fromEntries(await Promise.all(files));
}

/** A writer that was closed may take its log away late: when the driver's statements are collected. */
async function expectUnchanged(folder: string, before: Record<string, string>): Promise<void> {
  const now = await everything(folder);
  expect(now['memory.db']).toBe(before['memory.db']);
  expect(before).toMatchObject(now);
}

describe.each(['wal', 'delete'] as const)('a database (%s) that is opened only to be read', (journal) => {
  const open = async (file: string, writes: boolean) =>
    openSqliteStore({ ...storeOptions(), file, journal, writes });

  it('is not changed, and has no files made beside it', async () => {
    const folder = await temporaryFolder(afterAll);
    const file = join(folder, 'memory.db');
    const writer = await open(file, true);
    await writer.upsert([memory('a', 'Redis keeps the sessions.')]);
    await writer.close();
    const before = await everything(folder);
    const reader = await open(file, false);
    expect(await reader.count({})).toBe(1);
    expect(await reader.search(QUERY)).toHaveLength(1);
    expect(await reader.health()).toMatchObject({ degraded: false, notes: [] });
    await expect(reader.upsert([memory('b', 'Never written.')])).rejects.toMatchObject({
      code: 'unavailable',
    });
    await expectUnchanged(folder, before);
    await reader.close();
    await expectUnchanged(folder, before);
  });

  it('shows what others write meanwhile', async () => {
    const file = join(await temporaryFolder(afterAll), 'memory.db');
    const first = await open(file, true);
    await first.upsert([memory('a', 'Redis keeps the sessions.')]);
    await first.close();
    const reader = await open(file, false);
    expect(await reader.count({})).toBe(1);
    const writer = await open(file, true);
    await writer.upsert([memory('b', 'Redis is emptied at night.')]);
    expect(await reader.search(QUERY)).toHaveLength(2);
    const late = await open(file, false);
    expect(await late.count({})).toBe(2);
    await writer.upsert([memory('c', 'Redis is not NATS.')]);
    expect([await late.count({}), await reader.count({})]).toEqual([3, 3]);
    await writer.close();
    expect([await late.count({}), await reader.count({})]).toEqual([3, 3]);
    await Promise.all([reader.close(), late.close()]);
    const again = await open(file, false);
    expect(await again.count({})).toBe(3);
    await again.close();
  });

  it('is brought up to date by a reader too, where an older version wrote it', async () => {
    const file = join(await temporaryFolder(afterAll), 'memory.db');
    const writer = await open(file, true);
    await writer.upsert([memory('a', 'Kept through all versions.')]);
    await writer.close();
    const older = await openSqlite(file, {
      journal,
      prepare: (opened) => opened.exec('DROP INDEX memory_agent; PRAGMA user_version=1'),
    });
    older.close();
    const reader = await open(file, false);
    expect(await reader.count({})).toBe(1);
    await reader.close();
  });
});
