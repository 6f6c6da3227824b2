import { expect } from 'vitest';
import type { MemoryStore } from '../../src/services/memory/store.ts';
import { keyOf, memory, uuid } from './places.ts';
import { embedded } from './words.ts';

export const GOOD = [
  memory('a', 'Redis keeps the sessions of the shop.', { tags: ['redis'] }),
  memory('b', 'Redis is emptied between two tests.', { at: '2026-03-02T10:00:00.000Z' }),
  memory('c', 'The bus is NATS.', { at: '2026-03-03T10:00:00.000Z' }),
];

const QUERY = { terms: ['redis'], vector: embedded('Redis'), filter: {}, limit: 10 };
export const texts = (entries: readonly { text: string }[]): string[] =>
  entries.map(({ text }) => text).sort();

/** Everything that a store is asked, and what it says; errors that are not ours go through. */
export async function askAll(store: MemoryStore) {
  const first: string[] = [];
  for (let after: string | undefined, pages = 0; pages < 20; pages++) {
    const page = await store.list({}, { limit: 2, after });
    first.push(...page.entries.map(({ text }) => text));
    after = page.next;
    if (after === undefined) break;
  }
  await store.list({ agents: ['ATLAS'], tagsAll: ['redis', 'shop'] }, { limit: 5 });
  await store.count({ includeForgotten: true, tagsAll: ['redis'] });
  const hasFirst = (await store.find(uuid('a'))).length > 0;
  if (hasFirst) await store.revisions({ type: 'decisions', id: uuid('a') });
  await store.changed();
  await store.pending({ limit: 10 });
  await store.embedding();
  await store.stamp();
  const stats = await store.stats();
  const found = (await store.search(QUERY)).map(({ entry, score }) => {
    expect(score).toBeLessThan(2);
    return entry;
  });
  await store.search({ ...QUERY, vector: undefined, filter: { agents: ['atlas'], tagsAll: ['redis'] } });
  const health = await store.health();
  return { listed: first.sort(), count: await store.count({}), stats, found: texts(found), health };
}

/** Writes, finds, forgets and removes something. */
export async function tryWriting(store: MemoryStore): Promise<void> {
  const next = memory('new', 'Redis was written to after all of this.', { at: '2026-03-09T10:00:00.000Z' });
  await store.upsert([next]);
  expect(await store.get(keyOf(next))).toMatchObject({ text: next.text });
  expect(texts((await store.search(QUERY)).map(({ entry }) => entry))).toContain(next.text);
  await store.forget([keyOf(next)], '2026-03-10T10:00:00Z');
  expect(await store.purge([keyOf(next)])).toHaveLength(1);
}
