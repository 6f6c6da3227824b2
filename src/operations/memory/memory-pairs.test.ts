import { afterAll, describe, expect, it } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { memoryKeepBoth } from './memory-operations.ts';
import { memoryPairs } from './memory-upkeep.ts';
import { rememberStructured } from './remember.ts';

interface Pairs {
  total: number;
  pairs: { memory: { id: string; text: string }; other: { id: string; text: string }; stored: boolean }[];
}

describe('memories about the same', () => {
  it('are listed in pairs until somebody has settled them', async () => {
    const session = await memorySession(afterAll, { files: {} });
    const remember = async (text: string): Promise<void> =>
      void (await session.ok(rememberStructured, { type: 'decisions', agent: 'architect', text }));
    await remember('We use PostgreSQL for orders.');
    await remember('Prices are shown with tax.');
    const look = async () => (await session.ok(memoryPairs)).data as unknown as Pairs;
    expect(await look()).toEqual({ pairs: [], total: 0 });
    await remember('We do not use PostgreSQL for orders.');
    const found = await look();
    expect(found.total).toBe(1);
    expect(found.pairs[0]).toMatchObject({
      memory: { text: 'We do not use PostgreSQL for orders.' },
      other: { text: 'We use PostgreSQL for orders.' },
      stored: true,
    });
    const [pair] = found.pairs;
    await session.ok(memoryKeepBoth, { id: pair?.memory.id, other: pair?.other.id });
    expect((await look()).total).toBe(0);
  });
});
