import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Driver } from '../../src/services/memory/sqlite/driver.ts';
import { openSqliteStore, type SqliteStore } from '../../src/services/memory/sqlite/store.ts';
import { temporaryFolder } from '../support/app.ts';
import { memory, storeOptions } from './places.ts';
import { watchedDriver } from './watched-driver.ts';
import { embedded, otherSpace } from './words.ts';

/** Counts the statements that load vectors. */
async function counting(): Promise<{ driver: Driver; loads(): number }> {
  let loads = 0;
  const driver = await watchedDriver((use, sql) => {
    if (use === 'prepare' && sql.includes('max(place)')) loads += 1;
  });
  return { driver, loads: () => loads };
}

async function store(
  file: string,
  more: Partial<Parameters<typeof openSqliteStore>[0]> = {},
): Promise<SqliteStore> {
  const opened = await openSqliteStore({ ...storeOptions(), file, journal: 'delete', ...more });
  onTestFinished(() => opened.close());
  return opened;
}

const nearest = async (from: SqliteStore, text: string): Promise<string | undefined> =>
  (await from.search({ terms: [], vector: embedded(text), filter: {}, limit: 1 }))[0]?.entry.text;

/** A file with some memories, whose vectors were loaded and left. */
async function prepared(): Promise<{ folder: string; file: string }> {
  const folder = await temporaryFolder(onTestFinished);
  const file = join(folder, 'memory.db');
  const writer = await store(file);
  await writer.upsert(
    ['Redis keeps sessions', 'Orders go over NATS'].map((text, at) => memory(`m${at}`, text)),
  );
  await writer.close();
  const reader = await store(file, { writes: false });
  let pauses = 0;
  await reader.prepare(async () => void (pauses += 1));
  await reader.handOn();
  await reader.close();
  expect(pauses).toBe(0);
  return { folder, file };
}

describe('vectors that were loaded before anyone asked', () => {
  it('are those of the store that opens the same file next, with what has changed since', async () => {
    const { file } = await prepared();
    const other = await store(file);
    await other.upsert([memory('m0', 'Memcached keeps sessions'), memory('m2', 'Invoices are archived')]);
    await other.close();
    const { driver, loads } = await counting();
    const next = await store(file, { driver });
    expect(await nearest(next, 'Memcached')).toBe('Memcached keeps sessions');
    expect(await nearest(next, 'Invoices archived')).toBe('Invoices are archived');
    expect(await nearest(next, 'NATS')).toBe('Orders go over NATS');
    expect(loads()).toBe(0);
    await next.close();
    const later = await store(file, { driver });
    expect(await nearest(later, 'NATS')).toBe('Orders go over NATS');
    expect(loads()).toBe(1);
  });

  it('are not used for another file in its place, one in it, or another embedder', async () => {
    const { driver, loads } = await counting();
    const { folder, file } = await prepared();
    const elsewhere = join(folder, 'other.db');
    const other = await store(elsewhere);
    await other.upsert([memory('m9', 'Kubernetes runs it')]);
    await other.close();
    await rm(file);
    await copyFile(elsewhere, file);
    const replaced = await store(file, { driver });
    expect(await nearest(replaced, 'Kubernetes')).toBe('Kubernetes runs it');
    expect(loads()).toBe(1);
    const again = await prepared();
    // The bytes of another store in the same file.
    await copyFile(elsewhere, again.file);
    const overwritten = await store(again.file, { driver });
    expect(await nearest(overwritten, 'Kubernetes')).toBe('Kubernetes runs it');
    expect(loads()).toBe(2);
    const third = await prepared();
    const strange = await store(third.file, { driver, space: otherSpace });
    const vector = embedded('Redis', otherSpace);
    expect(await strange.search({ terms: [], vector, filter: {}, limit: 1 })).toEqual([]);
    expect(loads()).toBe(3);
  });

  it('are done without where they cannot be looked at, and the next question is answered', async () => {
    const { file } = await prepared();
    let fails = false;
    const driver = await watchedDriver((_use, _sql, [first]) => {
      if (fails && first === 'store') throw new Error('disk I/O error');
    });
    const next = await store(file, { driver });
    fails = true;
    await expect(nearest(next, 'NATS')).rejects.toThrow('disk I/O error');
    fails = false;
    expect(await nearest(next, 'NATS')).toBe('Orders go over NATS');
  });
});
