import { expect, it, onTestFinished } from 'vitest';
import type { MemoryKey } from '../../src/model/memory.ts';
import { dot, normalized } from '../../src/meaning/vectors.ts';
import { ranked, weighed } from '../../src/services/memory/rank.ts';
import { temporaryFolder } from '../support/app.ts';
import { memory, storeOptions } from './places.ts';
import { openLines } from './processes.ts';
import { analyser, embedded } from './words.ts';

const WORDS =
  'queue cache harbour schema payment retry index worker ledger tenant region shard token budget'.split(' ');
const LIMIT = 5;
const COUNT = 400;

/** Texts and questions without chance: the same in every run. */
const sentence = (seed: number, length: number): string =>
  Array.from({ length }, (_, at) => WORDS[(seed * 7 + at * (seed + 3)) % WORDS.length]).join(' ');

it('finds what was added after the first question, be it few or many, to memories that all have the words', async () => {
  const folder = await temporaryFolder(onTestFinished);
  const store = await openLines('sqlite', folder, { options: storeOptions({ space: null }) });
  const add = (name: string, texts: readonly string[]): Promise<unknown> =>
    store.upsert(texts.map((text, at) => memory(`${name}${at}`, text, { vector: undefined })));
  const best = async (): Promise<string | undefined> =>
    (await store.search({ terms: ['ledger', 'tenant'], filter: {}, limit: 5 }))[0]?.entry.text;
  await add(
    'first',
    Array.from({ length: 160 }, (_, at) => `ledger tenant queue item${at}`),
  );
  expect(await best()).toContain('ledger tenant queue');
  await add('few', ['shard', 'token', 'ledger tenant cache', 'ledger tenant']);
  expect(await best()).toBe('ledger tenant');
  await add('many', [
    ...Array.from({ length: 520 }, (_, at) => `shard item${at}`),
    'ledger tenant ledger tenant',
  ]);
  expect(await best()).toBe('ledger tenant ledger tenant');
  await store.close();
});

it('finds what comparing with each one finds, of many that share their words', async () => {
  const folder = await temporaryFolder(onTestFinished);
  const store = await openLines('sqlite', folder);
  const texts = Array.from({ length: COUNT }, (_, at) => `${sentence(at, 2 + (at % 9))} item${at}`);
  await store.upsert(texts.map((text, at) => memory(`m${at}`, text)));
  const { entries } = await store.list({}, { limit: COUNT });
  const having = (term: string): number =>
    entries.filter(({ text }) => analyser.terms(text).includes(term)).length;
  for (let seed = 0; seed < 60; seed++) {
    const question = seed % 4 === 0 ? `${sentence(seed, 1)} item${seed * 5}` : sentence(seed, 1 + (seed % 4));
    const [terms, vector] = [analyser.terms(question), embedded(question)];
    const unit = normalized(vector);
    // All of them, one by one.
    const right = ranked(
      weighed(terms, having, entries.length),
      entries.map((entry) => ({
        entry,
        terms: analyser.terms(entry.text),
        cosine: dot(unit, normalized(embedded(entry.text))),
      })),
      { vector, limit: LIMIT },
    );
    const found = await store.search({ terms, vector, filter: {}, limit: LIMIT });
    const scores = (hits: readonly { score: number }[]): string[] =>
      hits.map(({ score }) => score.toFixed(5));
    expect(scores(found), question).toEqual(scores(right));
  }
  await store.close();
});

it('finds a memory by its words alone that has lost its vector, beside many that are near', async () => {
  const folder = await temporaryFolder(onTestFinished);
  const store = await openLines('sqlite', folder);
  await store.upsert(Array.from({ length: 60 }, (_, at) => memory(`m${at}`, `ledger item${at}`)));
  const { entry } = (await store.upsert([memory('lost', 'harbour item')]))[0] as { entry: MemoryKey };
  const question = 'ledger tenant region shard';
  const query = { terms: analyser.terms(question), vector: embedded(question), filter: {}, limit: LIMIT };
  expect((await store.search(query))[0]?.cosine).toBeGreaterThan(0);
  await store.update(entry, { text: question, vector: undefined, at: '2026-01-02T00:00:00.000Z' });
  const hits = await store.search({ ...query, limit: 60 });
  expect(hits.find((hit) => hit.entry.id === entry.id)).toMatchObject({ score: 0.5, cosine: undefined });
  const best = await store.search(query);
  expect(best.map((hit) => hit.entry.id)).toEqual(hits.slice(0, LIMIT).map((hit) => hit.entry.id));
  await store.close();
});
