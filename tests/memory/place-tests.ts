import { expect, test } from 'vitest';
import type { MemoryStore } from '../../src/services/memory/store.ts';
import type { Place } from './places.ts';

export type PlaceTest = (name: string, body: (open: Place['open']) => Promise<void>) => void;

/** Tests that have a place of their own and whose stores are closed afterwards. */
export function testsOn(engine: string, makePlace: () => Promise<Place>): PlaceTest {
  return (name, body) => {
    const run = async (): Promise<void> => {
      const place = await makePlace();
      const opened: MemoryStore[] = [];
      try {
        await body(async (options) => {
          const store = await place.open(options);
          opened.push(store);
          return store;
        });
      } finally {
        for (const store of opened) await store.close();
        await place.remove();
      }
    };
    test(`${engine} ${name}`, async () => {
      expect.hasAssertions();
      await run();
    });
  };
}
