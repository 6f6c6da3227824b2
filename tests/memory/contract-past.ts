import { describe, expect } from 'vitest';
import type { PlaceTest } from './place-tests.ts';
import { keyOf, memory, uuid } from './places.ts';
import { embedded } from './words.ts';

/** The part of the contract about what memories said before, and about removing them for good. */
export function pastContract(test: PlaceTest): void {
  describe('the past', () => {
    test('tells which memories once said something else, and what, and which are gone', async (open) => {
      const store = await open();
      const [a, b] = [memory('a', 'First wording of it.'), memory('b', 'Never changed at all.')];
      const story = memory('a', 'Another type altogether.', { type: 'stories' });
      await store.upsert([a, b, story]);
      expect(await store.changed()).toEqual([]);
      await store.upsert([{ ...a, text: 'Second wording of it.' }]);
      await store.upsert([{ ...a, text: 'Third wording of it.' }]);
      await store.update(keyOf(story), { tags: ['x'], at: '2026-04-01' });
      await store.forget([keyOf(a)], '2026-04-02');
      const found = (await store.changed()).toSorted((one, two) =>
        one.entry.type < two.entry.type ? -1 : 1,
      );
      expect(found.map(({ entry }) => [entry.type, entry.text])).toEqual([
        ['decisions', 'Third wording of it.'],
        ['stories', 'Another type altogether.'],
      ]);
      await store.supersede(keyOf(b), undefined, '2026-04-03');
      expect((await store.changed()).map(({ entry }) => entry.id)).toContain(b.id);
      await store.upsert([b]);
      expect(
        (await store.changed()).map(({ entry }) => entry.id),
        'it is back',
      ).not.toContain(b.id);
      expect(found[0]?.entry).toEqual(await store.get(keyOf(a)));
      expect(found[0]?.revisions).toEqual(await store.revisions(keyOf(a)));
      expect(found[0]?.revisions.map(({ text }) => text)).toEqual([
        'Second wording of it.',
        'First wording of it.',
      ]);
    });

    test('purges what was forgotten, with all it ever said, and nothing else', async (open) => {
      const [store, other] = [await open(), await open()];
      const [a, b, c] = [
        memory('a', 'Purge this xylophone.'),
        memory('b', 'Forgotten later.'),
        memory('c', 'It stays.'),
      ];
      await store.upsert([a, b, c, { ...a, type: 'stories' }]);
      await store.update(keyOf(a), {
        text: 'Purge this, reworded.',
        at: '2026-03-02',
        vector: embedded('reworded'),
      });
      await store.supersede(keyOf(a), undefined, '2026-03-03');
      const query = {
        terms: ['purge'],
        vector: embedded('purge'),
        filter: { includeForgotten: true },
        limit: 9,
      };
      expect(await other.search(query)).not.toEqual([]);
      await store.forget([keyOf(a)], '2026-04-01T10:00:00.000Z');
      await store.forget([keyOf(b)], '2026-05-01T10:00:00.000Z');
      const stamp = await other.stamp();
      const missing = keyOf(memory('missing', ''));
      expect(await store.purge([keyOf(c), missing])).toEqual([]);
      expect(await other.stamp()).toBe(stamp);
      expect((await store.purge([keyOf(a), keyOf(c), missing])).map(({ id }) => id)).toEqual([uuid('a')]);
      expect(await other.stamp()).not.toBe(stamp);
      for (const each of [store, other]) {
        expect((await each.find(a.id)).map(({ type }) => type)).toEqual(['stories']);
        await expect(each.revisions(keyOf(a))).rejects.toMatchObject({ code: 'not_found' });
        await expect(each.restore([keyOf(a)])).rejects.toMatchObject({ code: 'not_found' });
        const filter = { includeForgotten: true, includeSuperseded: true };
        expect(await each.count(filter)).toBe(3);
        const found = (await each.search({ ...query, filter })).map(
          ({ entry }) => `${entry.type}/${entry.id}`,
        );
        expect(found).not.toContain(`decisions/${a.id}`);
        expect((await each.changed()).map(({ entry }) => entry.id)).toEqual([b.id]);
        expect(await each.stats()).toMatchObject({ total: 3, live: 2, forgotten: 1, superseded: 0 });
      }
      expect(await store.purge([keyOf(a)])).toEqual([]);
      // The same text again is a new memory, without a past.
      expect((await other.upsert([a]))[0]).toMatchObject({ outcome: 'created', entry: { revision: 1 } });
      expect((await store.get(keyOf(a)))?.text).toBe(a.text);
      expect((await store.search({ ...query, filter: {} })).map(({ entry }) => entry.id)).toContain(a.id);
    });
  });
}
