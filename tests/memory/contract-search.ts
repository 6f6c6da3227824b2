import { describe, expect } from 'vitest';
import type { MemoryFilter } from '../../src/model/memory.ts';
import type { VectorSpace } from '../../src/services/memory/engine.ts';
import type { MemoryStore } from '../../src/services/memory/store.ts';
import type { PlaceTest } from './place-tests.ts';
import { memory, uuid } from './places.ts';
import { analyser, embedded } from './words.ts';

/** The part of the contract about finding memories and about vectors of more than one embedder. */
export function searchContract(
  test: PlaceTest,
  { space, otherSpace }: { space: VectorSpace; otherSpace: VectorSpace },
): void {
  const ids = (hits: { entry: { id: string } }[]): string[] => hits.map(({ entry }) => entry.id);
  const ask = (text: string) => ({
    terms: analyser.terms(text),
    vector: embedded(text),
    filter: {},
    limit: 10,
  });

  async function filled(store: MemoryStore): Promise<void> {
    await store.upsert([
      memory('pg', 'Postgres holds the orders', { tags: ['db', 'orders'], agent: 'atlas' }),
      memory('redis', 'Redis holds the sessions', {
        tags: ['db', 'cache'],
        agent: 'dev',
        at: '2026-04-01T00:00:00Z',
      }),
      memory('deploy', 'Deploy on Friday broke the orders', {
        type: 'failures',
        tags: ['ops'],
        agent: 'dev',
        at: '2026-05-01T00:00:00Z',
      }),
    ]);
  }

  describe('search', () => {
    test('ranks by words and vectors and says how', async (open) => {
      const store = await open();
      await filled(store);
      const hits = await store.search(ask('Postgres orders'));
      expect(ids(hits)[0]).toBe(uuid('pg'));
      expect(hits).toHaveLength(3);
      expect(hits[0]).toMatchObject({ coverage: 1, matched: ['postgres', 'orders'] });
      for (const { score, cosine = 0, coverage } of hits)
        expect(score).toBeCloseTo(cosine + 0.5 * coverage ** 5, 5);
      const deploy = hits.find(({ entry }) => entry.id === uuid('deploy'));
      // "orders" is in two of three memories, "postgres" in one: the common word weighs less.
      const weight = (df: number): number => Math.log(1 + (3 - df + 0.5) / (df + 0.5));
      expect(deploy?.coverage).toBeCloseTo(weight(2) / (weight(2) + weight(1)), 6);
      expect(hits.map(({ score }) => score)).toEqual(
        hits.map(({ score }) => score).toSorted((a, b) => b - a),
      );
    });

    test('searches by words alone and by a vector alone', async (open) => {
      const store = await open();
      await filled(store);
      const words = await store.search({ terms: ['orders', 'friday', 'unheard'], filter: {}, limit: 10 });
      expect(ids(words)).toEqual([uuid('deploy'), uuid('pg')]);
      expect(words[0]?.cosine).toBeUndefined();
      expect(words[0]?.score).toBe(words[0]?.coverage);
      expect(words[0]?.score).toBeLessThan(1);
      const vector = embedded('Redis holds the sessions');
      const near = await store.search({ terms: [], vector, filter: {}, limit: 1 });
      expect(ids(near)).toEqual([uuid('redis')]);
      expect(near[0]?.cosine).toBeCloseTo(1, 5);
      expect(await store.search({ terms: [], filter: {}, limit: 10 })).toEqual([]);
      const best = words[0]?.score;
      expect(
        await store.search({ terms: ['orders', 'friday', 'unheard'], filter: {}, limit: 9, minScore: best }),
      ).toEqual(words.slice(0, 1));
    });

    test('takes words as words, whatever they are', async (open) => {
      const store = await open();
      await filled(store);
      for (const word of ['"', '*', 'AND', 'orders OR redis', "'; --", 'near(', '\u{1F600}', '', '\0'])
        expect(await store.search({ terms: [word], filter: {}, limit: 10 })).toEqual([]);
      const many = Array.from({ length: 500 }, (_, index) => `w${index}`);
      expect(await store.search({ terms: [...many, 'friday'], filter: {}, limit: 10 })).toHaveLength(1);
    });

    const filters = [
      ['types', { types: ['failures'] }, ['deploy']],
      ['agents', { agents: ['dev'] }, ['deploy', 'redis']],
      ['several agents', { agents: ['dev', 'atlas'] }, ['deploy', 'redis', 'pg']],
      ['one tag', { tagsAll: ['cache'] }, ['redis']],
      ['all tags', { tagsAll: ['db', 'orders'] }, ['pg']],
      ['since', { since: '2026-04-01' }, ['deploy', 'redis']],
      ['until', { until: '2026-04-01T00:00:00Z' }, ['redis', 'pg']],
      [
        'all of these',
        { agents: ['dev'], tagsAll: ['db'], since: '2026-03-15', types: ['decisions'] },
        ['redis'],
      ],
      ['empty lists', { types: [], agents: [], tagsAll: [] }, ['deploy', 'redis', 'pg']],
      ['no match', { agents: ['de'] }, []],
    ] as const;
    test('filters exactly, in lists, counts and search', async (open) => {
      const store = await open();
      await filled(store);
      for (const [name, filter, expected] of filters) {
        const names = expected.map(uuid);
        expect(
          (await store.list(filter, { limit: 10 })).entries.map(({ id }) => id),
          name,
        ).toEqual(names);
        expect(await store.count(filter), name).toBe(expected.length);
        expect(ids(await store.search({ ...ask('holds orders'), filter })).toSorted(), name).toEqual(
          names.toSorted(),
        );
      }
      await expect(store.count({ since: 'yesterday-ish' })).rejects.toMatchObject({ code: 'invalid_input' });
    });
  });

  describe('names', () => {
    test('of agents are the same in any case, and letters in either form of Unicode', async (open) => {
      const store = await open();
      const nfd = (text: string): string => text.normalize('NFD');
      await store.upsert([
        memory('a', 'Written by somebody', { agent: 'Élodie', tags: [nfd('été')], at: '2026-01-03' }),
        memory('b', 'Written by somebody', { agent: nfd('élodie'), tags: ['été'], at: '2026-01-02' }),
        memory('c', 'Written by somebody', { agent: 'Dev', tags: ['Été'], at: '2026-01-01' }),
        memory('d', 'Written by somebody', { agent: 'İ', at: '2025-01-01' }),
      ]);
      const cases: [MemoryFilter, string[]][] = [
        [{ agents: ['ÉLODIE'] }, ['a', 'b']],
        [{ agents: [nfd('Élodie')] }, ['a', 'b']],
        [{ agents: ['dEV', 'nobody'] }, ['c']],
        [{ agents: ['elodie'] }, []],
        [{ agents: ['İ'] }, ['d']],
        [{ tagsAll: [nfd('été')] }, ['a', 'b']],
        [{ tagsAll: ['été'] }, ['a', 'b']],
        [{ tagsAll: [nfd('Été')] }, ['c']],
        [{ agents: ['élodie'], tagsAll: ['été'], since: '2026-01-03' }, ['a']],
      ];
      for (const [filter, names] of cases) {
        const shown = JSON.stringify(filter);
        expect(
          (await store.list(filter, { limit: 9 })).entries.map(({ id }) => id),
          shown,
        ).toEqual(names.map(uuid));
        expect(await store.count(filter), shown).toBe(names.length);
        for (const query of [ask('somebody'), { ...ask('somebody'), vector: undefined }])
          expect(ids(await store.search({ ...query, filter })).toSorted(), shown).toEqual(
            names.map(uuid).toSorted(),
          );
      }
      expect(await store.get({ type: 'decisions', id: uuid('a') })).toMatchObject({
        agent: 'Élodie',
        tags: ['été'],
      });
    });
  });

  describe('vectors', () => {
    test('never compares vectors of another embedder, and counts what has to be embedded again', async (open) => {
      const old = await open();
      await filled(old);
      const store = await open({ space: otherSpace });
      expect(await store.embedding()).toEqual({ total: 3, embedded: 0 });
      const vector = embedded('Postgres holds the orders', otherSpace);
      expect(await store.search({ terms: [], vector, filter: {}, limit: 5 })).toEqual([]);
      expect(await store.search({ terms: ['postgres'], vector, filter: {}, limit: 5 })).toMatchObject([
        { cosine: undefined, coverage: 1, score: 0.5 },
      ]);
      const first = await store.pending({ limit: 2 });
      const rest = await store.pending({ limit: 2, after: first.next });
      expect([...first.entries, ...rest.entries].map(({ id }) => id)).toEqual(
        ['deploy', 'redis', 'pg'].map(uuid),
      );
      expect(rest.next).toBeUndefined();
      const vectors = [...first.entries, ...rest.entries].map(({ type, id, text }) => ({
        key: { type, id },
        text,
        vector: embedded(text, otherSpace),
      }));
      expect(await store.setVectors(vectors.slice(0, 2))).toBe(2);
      expect(await store.embedding()).toMatchObject({ total: 3, embedded: 2 });
      await store.update(vectors[2]?.key ?? memory('pg', ''), {
        text: 'Postgres holds it all',
        at: '2026-06-01',
      });
      expect(await store.setVectors(vectors.slice(2)), 'the text has changed since').toBe(0);
      const [waiting] = (await store.pending({ limit: 9 })).entries;
      expect(waiting?.revision).toBe(2);
      const key = { type: 'decisions', id: uuid('pg') } as const;
      const text = 'Postgres holds it all';
      await store.setVectors([{ key, text, vector: embedded(text, otherSpace) }]);
      expect(await store.embedding()).toMatchObject({ total: 3, embedded: 3 });
      expect((await store.pending({ limit: 9 })).entries).toEqual([]);
      expect(await store.search({ terms: [], vector, filter: {}, limit: 5 })).toHaveLength(3);
    });

    test('drops the vector of a text that has changed, and keeps it otherwise', async (open) => {
      const store = await open();
      await filled(store);
      const key = { type: 'decisions', id: uuid('pg') } as const;
      await store.update(key, { tags: ['db'], at: '2026-06-01' });
      await store.forget([key], '2026-06-02');
      await store.restore([key]);
      expect(await store.embedding()).toMatchObject({ embedded: 3 });
      await store.update(key, { text: 'Nothing like before', at: '2026-06-03' });
      expect(await store.embedding()).toMatchObject({ embedded: 2 });
      const hits = await store.search(ask('Postgres'));
      expect(ids(hits)).not.toContain(uuid('pg'));
      await store.upsert([memory('pg', 'Nothing like before', { tags: ['db'] })]);
      expect(await store.embedding(), 'the same text with a vector').toMatchObject({ embedded: 3 });
    });

    test('works with words only', async (open) => {
      const store = await open({ space: null });
      await store.upsert([memory('a', 'Only words here.', { vector: undefined })]);
      expect(await store.search({ terms: ['words'], filter: {}, limit: 5 })).toMatchObject([{ score: 1 }]);
      expect(await store.embedding()).toEqual({ total: 1, embedded: 0 });
      expect((await store.pending({ limit: 5 })).entries).toEqual([]);
    });

    test('refuses vectors of a wrong size and takes one without direction', async (open) => {
      const store = await open();
      const wrong = memory('a', 'A text of its own.', { vector: new Float32Array(3).fill(1) });
      await expect(store.upsert([wrong])).rejects.toMatchObject({ code: 'unavailable' });
      const nan = memory('a', 'A text of its own.', { vector: new Float32Array(space.dim).fill(Number.NaN) });
      await expect(store.upsert([nan])).rejects.toMatchObject({ code: 'unavailable' });
      expect(await store.count({})).toBe(0);
      await store.upsert([memory('a', 'A text of its own.', { vector: new Float32Array(space.dim) })]);
      expect(await store.search(ask('own'))).toMatchObject([{ cosine: 0, coverage: 1 }]);
    });
  });
}
