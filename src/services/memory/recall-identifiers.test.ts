import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { recallStructured } from '../../operations/memory/recall-structured.ts';
import { MemoryStore } from './store.ts';

const session = await memorySession(afterAll, { files: {} });
await session.remember('decisions', 'architect', 'US-3 keeps orders in PostgreSQL');
afterEach(() => void vi.restoreAllMocks());

it('a pasted list of identifiers is searched for the first of them only, and told in few words', async () => {
  const search = vi.spyOn(MemoryStore.prototype, 'search');
  const list = (from: number): string =>
    Array.from({ length: 1_000 }, (_, index) => `US-${from + index}`).join(' ');
  expect(await session.recall(list(1))).toHaveLength(1);
  const { data } = await session.ok(recallStructured, { query: list(5_000) });
  expect(search.mock.calls.length).toBeLessThan(40);
  expect(String(data['notes']).length).toBeLessThan(300);
});
