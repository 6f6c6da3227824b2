import { describe, expect, it } from 'vitest';
import type { MemoryType } from '../../model/memory.ts';
import { newerFirst } from './recall-order.ts';
import type { Recalled } from './recall.ts';

function hit(text: string, score: number, day: string, type: MemoryType = 'decisions'): Recalled {
  const at = `2026-11-${day}T10:00:00.000Z`;
  const entry = {
    project: 'bmad-shop',
    id: text,
    type,
    agent: 'dev',
    text,
    tags: [],
    createdAt: at,
    updatedAt: at,
    revision: 1,
  };
  return { entry, score, coverage: 1, cosine: undefined, matched: [], sources: [], stored: true };
}
const terms = (text: string): string[] => text.toLowerCase().split(/\W+/);
const texts = (...hits: Recalled[]): string[] =>
  newerFirst(hits, terms, (text) => text).hits.map(({ entry }) => entry.text);

const YES = 'Orders are kept in PostgreSQL';
const NO = 'Orders are not kept in PostgreSQL';

describe('the order of hits', () => {
  it('is told with texts as they may be shown', () => {
    const { note } = newerFirst([hit(YES, 1, '01'), hit(NO, 1, '02')], terms, () => '***');
    expect(note).toBe('"***" is newer than "***" and may contradict it.');
  });

  it('has the newer of two that may contradict each other first, where both are about as good', () => {
    expect(texts(hit(YES, 1, '01'), hit(NO, 0.97, '02'))).toEqual([NO, YES]);
    expect(texts(hit(NO, 1, '01'), hit(YES, 0.97, '02'))).toEqual([YES, NO]);
  });

  it('M-27: takes equal dates for equal, and a day for no time of that day', () => {
    const at = (text: string, updatedAt: string): Recalled => {
      const made = hit(text, 1, '01');
      return { ...made, entry: { ...made.entry, createdAt: updatedAt, updatedAt } };
    };
    const midnight = new Date(2026, 10, 1).toISOString();
    for (const [one, other] of [
      ['2026-11-01T10:00:00.000Z', '2026-11-01T10:00:00.000Z'],
      [midnight, new Date(2026, 10, 1, 15).toISOString()],
      ['1970-01-01T00:00:00.000Z', '2026-11-01T10:00:00.000Z'],
    ] as const) {
      const { hits, note } = newerFirst([at(YES, one), at(NO, other)], terms, (text) => text);
      expect(hits.map(({ entry }) => entry.text)).toEqual([YES, NO]);
      expect(note).toBe(`"${YES}" and "${NO}" may contradict each other.`);
    }
  });

  it.each([
    ['one is clearly better', hit(YES, 1, '01'), hit(NO, 0.9, '02')],
    ['the newer is first already', hit(YES, 1, '03'), hit(NO, 0.99, '02')],
    ['they are about other things', hit(YES, 1, '01'), hit('Carts expire after a day', 0.99, '02')],
    ['they are of other types', hit(YES, 1, '01'), hit(NO, 0.99, '02', 'failures')],
  ])('stays as it is where %s', (_why, first, second) => {
    expect(texts(first, second)).toEqual([first.entry.text, second.entry.text]);
  });
});
