import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openStore, type StorePlace } from '../../src/services/memory/open.ts';
import { memory, storeOptions } from './places.ts';

async function engineOf(place: Omit<StorePlace, 'folder'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bmad-open-'));
  const store = await openStore({ folder, ...place }, storeOptions());
  const { engine, place: where } = await store.health();
  await store.close();
  return `${engine} ${where.replace(folder, '')}`;
}

it('opens the best engine that there is, or the one that is asked for', async () => {
  expect(await engineOf({})).toBe('sqlite /.bmad-memory.db');
  expect(await engineOf({ engine: 'sqlite', qdrant: { url: 'http://127.0.0.1:9' } })).toBe(
    'sqlite /.bmad-memory.db',
  );
  expect(await engineOf({ engine: 'jsonl' })).toBe('jsonl /.bmad-memory.jsonl');
  expect(await engineOf({ qdrant: { url: 'http://127.0.0.1:9' } })).toBe('qdrant http://127.0.0.1:9');
});

it('does not go to another engine because the one asked for is away', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bmad-open-'));
  const store = await openStore({ folder, qdrant: { url: 'http://127.0.0.1:9' } }, storeOptions());
  await expect(store.upsert([memory('a', 'Where does this go?')])).rejects.toMatchObject({
    code: 'unavailable',
  });
  await expect(openStore({ folder, engine: 'qdrant' }, storeOptions())).rejects.toMatchObject({
    code: 'invalid_input',
  });
});
