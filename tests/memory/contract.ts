import { describe, expect } from 'vitest';
import { MEMORY_TYPES, type MemoryKey } from '../../src/model/memory.ts';
import { pastContract } from './contract-past.ts';
import { searchContract } from './contract-search.ts';
import { testsOn } from './place-tests.ts';
import { keyOf, memory, uuid, type Place } from './places.ts';
import { embedded, otherSpace, space } from './words.ts';

/** What every engine has to do, and does the same. */
export function storeContract(
  engine: string,
  makePlace: () => Promise<Place>,
  { vectorsStay = true }: { vectorsStay?: boolean } = {},
): void {
  /** Where vectors are those of one process, others find by words. */
  const meant = (text: string) => (vectorsStay ? embedded(text) : undefined);
  const test = testsOn(engine, makePlace);

  describe('writing', () => {
    test('tells created, unchanged and updated apart, and keeps the earlier text', async (open) => {
      const store = await open();
      const first = memory('a', 'We use Postgres for the orders.', { tags: ['db', 'db', 'orders'] });
      const [created] = await store.upsert([first]);
      expect(created).toMatchObject({ outcome: 'created', previous: undefined });
      expect(created?.entry).toEqual({
        ...keyOf(first),
        agent: 'atlas',
        text: first.text,
        tags: ['db', 'orders'],
        project: 'bmad-shop',
        createdAt: first.at,
        updatedAt: first.at,
        revision: 1,
      });
      const later = '2026-03-02T08:00:00.000Z';
      expect((await store.upsert([{ ...first, at: later }]))[0]).toMatchObject({
        outcome: 'unchanged',
        entry: created?.entry,
      });
      const [changed] = await store.upsert([{ ...first, text: 'We use SQLite for the orders.', at: later }]);
      expect(changed).toMatchObject({
        outcome: 'updated',
        entry: { revision: 2, createdAt: first.at, updatedAt: later },
        previous: { revision: 1, text: first.text, at: first.at },
      });
      expect(await store.revisions(first)).toEqual([changed?.previous]);
      expect(await store.get(first)).toEqual(changed?.entry);
      expect(await store.count({})).toBe(1);
    });

    test('keeps a batch in order, the later of two equal keys winning', async (open) => {
      const store = await open();
      const answers = await store.upsert([
        memory('a', 'First wording of it.'),
        memory('b', 'Something else.'),
        memory('a', 'Second wording of it.'),
      ]);
      expect(answers.map(({ outcome }) => outcome)).toEqual(['created', 'created', 'updated']);
      expect((await store.get(memory('a', '')))?.text).toBe('Second wording of it.');
      expect(await store.upsert([])).toEqual([]);
    });

    test('keeps one id in two types apart, and finds both', async (open) => {
      const store = await open();
      await store.upsert([
        memory('a', 'The same text twice.', { type: 'stories' }),
        memory('a', 'The same text twice.'),
      ]);
      expect((await store.find(uuid('a'))).map(({ type }) => type)).toEqual(['decisions', 'stories']);
      expect(await store.find(uuid('nothing'))).toEqual([]);
      expect(await store.get({ type: 'failures', id: uuid('a') })).toBeUndefined();
    });

    test('keeps every character that can be written', async (open) => {
      const store = await open();
      const text = `Été \u{1F600} "quoted" \\ {"json": 1}\nline\u2028two\t'; DROP TABLE memory; -- ${'x'.repeat(50_000)}`;
      await store.upsert([memory('a', text), memory('b', 'a\0b \uD800 c')]);
      expect((await store.get(memory('a', '')))?.text).toBe(text);
      expect((await store.get(memory('b', '')))?.text).toBe('ab \uFFFD c');
    });

    test('updates under the same id', async (open) => {
      const store = await open();
      const key = keyOf(memory('a', ''));
      await store.upsert([memory('a', 'Old text about caching.', { tags: ['x'] })]);
      const at = '2026-04-01T00:00:00.000Z';
      const answer = await store.update(key, { text: 'New text about caching.', at });
      expect(answer).toMatchObject({
        outcome: 'updated',
        entry: { tags: ['x'], revision: 2, updatedAt: at },
      });
      expect(await store.update(key, { tags: ['x'], at })).toMatchObject({ outcome: 'unchanged' });
      const missing = keyOf(memory('missing', ''));
      await expect(store.update(missing, { text: 'x', at })).rejects.toMatchObject({ code: 'not_found' });
      await expect(store.forget([missing], at)).rejects.toMatchObject({ code: 'not_found' });
      await expect(store.revisions(missing)).rejects.toMatchObject({ code: 'not_found' });
    });

    test('forgets and restores', async (open) => {
      const store = await open();
      const at = '2026-04-01T00:00:00.000Z';
      await store.upsert([memory('a', 'Forget this one.'), memory('b', 'Keep this one.')]);
      const key = keyOf(memory('a', ''));
      expect(await store.forget([key], at)).toMatchObject([{ id: key.id, forgottenAt: at }]);
      expect(await store.forget([key], at)).toEqual([]);
      expect((await store.list({}, { limit: 10 })).entries.map(({ id }) => id)).toEqual([uuid('b')]);
      expect(await store.count({ includeForgotten: true })).toBe(2);
      expect(await store.search({ terms: ['forget'], filter: {}, limit: 5 })).toEqual([]);
      expect(await store.restore([key])).toHaveLength(1);
      expect(await store.restore([key])).toEqual([]);
      expect(await store.search({ terms: ['forget'], filter: {}, limit: 5 })).toHaveLength(1);
      expect((await store.get(key))?.forgottenAt).toBeUndefined();
    });

    test('brings back what is remembered again, unless told not to', async (open) => {
      const store = await open();
      const at = '2026-04-01T00:00:00.000Z';
      const one = memory('a', 'Forget this one.');
      await store.upsert([one]);
      await store.forget([one], at);
      expect((await store.upsert([{ ...one, revive: false }]))[0]).toMatchObject({ outcome: 'unchanged' });
      expect((await store.get(one))?.forgottenAt).toBe(at);
      expect((await store.upsert([one]))[0]).toMatchObject({ outcome: 'updated', entry: { revision: 1 } });
      expect((await store.get(one))?.forgottenAt).toBeUndefined();
    });

    test('supersedes', async (open) => {
      const store = await open();
      const at = '2026-04-01T00:00:00.000Z';
      await store.upsert([memory('a', 'We use Redis.'), memory('b', 'We use no Redis.')]);
      const key = keyOf(memory('a', ''));
      expect(await store.supersede(key, uuid('b'), at)).toMatchObject({
        supersededBy: uuid('b'),
        supersededAt: at,
      });
      expect((await store.list({}, { limit: 9 })).entries.map(({ id }) => id)).toEqual([uuid('b')]);
      expect(await store.count({ includeSuperseded: true })).toBe(2);
      const hits = await store.search({ terms: ['redis'], filter: { includeSuperseded: true }, limit: 9 });
      expect(hits).toHaveLength(2);
    });
  });

  describe('reading', () => {
    test('lists newest first, page by page, without gaps or doubles', async (open) => {
      const store = await open();
      const many = Array.from({ length: 23 }, (_, index) =>
        memory(`m${index}`, `Memory number ${index}.`, {
          type: MEMORY_TYPES[index % MEMORY_TYPES.length] ?? 'stories',
          at: new Date(Date.UTC(2026, 0, 1 + Math.floor(index / 6))).toISOString(),
        }),
      );
      await store.upsert(many);
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await store.list({}, { limit: 5, after });
        expect(page.entries.length).toBeLessThanOrEqual(5);
        seen.push(...page.entries.map(({ type, id }) => `${type}/${id}`));
        after = page.next;
      } while (after !== undefined);
      expect(new Set(seen).size).toBe(23);
      const rank = ({ type }: MemoryKey): number => MEMORY_TYPES.indexOf(type);
      const expected = many.toSorted(
        (a, b) => b.at.localeCompare(a.at) || rank(a) - rank(b) || (a.id < b.id ? -1 : 1),
      );
      expect(seen).toEqual(expected.map(({ type, id }) => `${type}/${id}`));
      await expect(store.list({}, { limit: 5, after: 'bm9uc2Vuc2U' })).rejects.toMatchObject({
        code: 'invalid_input',
      });
    });

    test('counts and describes', async (open) => {
      const store = await open();
      expect(await store.stats()).toMatchObject({
        total: 0,
        live: 0,
        byAgent: {},
        oldest: undefined,
      });
      await store.upsert([
        memory('a', 'One.', { agent: 'dev', vector: undefined }),
        memory('b', 'Two.', { type: 'failures', at: '2026-05-01T00:00:00.000Z' }),
        memory('c', 'Three.'),
        memory('d', 'Four.'),
      ]);
      await store.forget([memory('c', '')], '2026-06-01T00:00:00.000Z');
      await store.supersede(memory('d', ''), undefined, '2026-06-01T00:00:00.000Z');
      expect(await store.stats()).toEqual({
        total: 4,
        live: 2,
        superseded: 1,
        forgotten: 1,
        byType: { 'shared-context': 0, decisions: 1, 'agent-learnings': 0, failures: 1, stories: 0 },
        byAgent: { atlas: 1, dev: 1 },
        oldest: '2026-03-01T10:00:00.000Z',
        newest: '2026-05-01T00:00:00.000Z',
      });
    });

    test('says where it is and how it is', async (open) => {
      const store = await open();
      const health = await store.health();
      expect(health.engine).toBe(engine.split(' ')[0]);
      expect(health.place.length).toBeGreaterThan(3);
    });
  });

  describe('several at once', () => {
    test('sees what others wrote, and moves its stamp', async (open) => {
      const [one, two] = [await open(), await open()];
      const before = await two.stamp();
      expect(await two.search({ terms: ['shared'], filter: {}, limit: 5 })).toEqual([]);
      await one.upsert([memory('a', 'A shared memory.')]);
      const after = await two.stamp();
      expect(after).not.toBe(before);
      expect(await two.stamp()).toBe(after);
      const query = { terms: ['shared'], vector: meant('shared'), filter: {}, limit: 5 };
      expect(await two.search(query)).toEqual(await one.search(query));
      await two.upsert([memory('a', 'A shared memory, changed.')]);
      expect((await one.get(memory('a', '')))?.revision).toBe(2);
      expect(await one.search(query)).toEqual(await two.search(query));
    });

    test('keeps everything that was written at the same time', async (open) => {
      const stores = [await open(), await open(), await open()];
      await Promise.all(
        stores.flatMap((store, who) =>
          Array.from({ length: 15 }, async (_, index) =>
            store.upsert([memory(`${who}-${index}`, `Written by ${who}, number ${index}.`)]),
          ),
        ),
      );
      for (const store of stores) expect(await store.count({})).toBe(45);
    });

    test('is still there when it is opened again', async (open) => {
      const one = await open();
      const [{ entry } = { entry: undefined }] = await one.upsert([memory('a', 'To be kept for later.')]);
      await one.close();
      const two = await open();
      expect(await two.get(memory('a', ''))).toEqual(entry);
      const hits = await two.search({ terms: ['kept'], vector: meant('kept'), filter: {}, limit: 5 });
      expect(hits).toMatchObject([{ coverage: 1, matched: ['kept'] }]);
      if (vectorsStay) expect(hits[0]?.cosine).toBeGreaterThan(0);
    });
  });

  pastContract(test);
  searchContract(test, { space, otherSpace });
}
