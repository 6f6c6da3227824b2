import { expect, it } from 'vitest';
import type { KitEntry } from '../../kit/memories/entries.ts';
import type { OpenMemory, Session } from './opened.ts';
import { similarTo } from './similar.ts';

const FRESH = {
  id: 'fresh',
  type: 'decisions',
  agent: 'pm',
  text: 'the checkout has 5 payment providers',
  tags: [],
} as const;

function worldWith(texts: readonly string[]): { opened: OpenMemory; analysed: string[] } {
  const analysed: string[] = [];
  const entries = texts.map(
    (text): KitEntry =>
      ({ type: 'decisions', agent: 'dev', text, tags: [], names: ['dev'], source: 'log.md' }) as never,
  );
  const opened = {
    files: { kit: { app: 'shop' }, read: async () => Promise.resolve({ entries, problems: [] }) },
    analyser: {
      id: 'test',
      terms: (text: string) => {
        analysed.push(text);
        return text.split(' ');
      },
    },
  } as unknown as OpenMemory;
  return { opened, analysed };
}

const session = {
  store: { search: async () => Promise.resolve([]) },
  embedder: undefined,
  troubles: [],
} as unknown as Session;

it('finds the entry of a file that matters among thousands, which are analysed once', async () => {
  const others = Array.from({ length: 3_000 }, (_, index) => `the entry of number ${index} here`);
  const { opened, analysed } = worldWith([...others, 'the checkout has 3 payment providers']);
  const nearest = async () => (await similarTo(opened, session, FRESH, undefined))[0];
  const expected = { relation: 'about the same', source: 'log.md', text: expect.stringContaining('has 3') };
  expect(await nearest()).toMatchObject(expected);
  analysed.length = 0;
  expect(await nearest()).toMatchObject(expected);
  expect(analysed).toEqual([FRESH.text]);
});

it('says nothing about entries that have nothing in common', async () => {
  const { opened } = worldWith(['another subject entirely', 'nothing of it']);
  expect(await similarTo(opened, session, FRESH, undefined)).toEqual([]);
});
