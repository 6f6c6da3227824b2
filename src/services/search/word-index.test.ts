import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordOf } from '../../../tests/support/records.ts';
import { FIELDS, type RecordText } from './record-text.ts';
import { slotsOf, methodVocabulary } from './question.ts';
import { lettersApart } from '../../base/text/suggest.ts';
import { WordIndex, type WordHits, smallWordTable } from './word-index.ts';

function text(name: string, description: string): RecordText {
  const fields = Object.fromEntries(FIELDS.map((field) => [field, [] as string[]])) as unknown as Record<
    (typeof FIELDS)[number],
    string[]
  >;
  return {
    record: recordOf(`workflow bmm/${name}`),
    fields: { ...fields, name: [name], description: [description] },
  };
}

const indexOf = (...texts: RecordText[]): WordIndex => new WordIndex(smallWordTable(texts));

const index = indexOf(
  text('alpha', 'Write the retrospective of an epic'),
  text('beta', 'Review the architecture'),
  text('gamma', 'A diagram of what happens, and a review of it'),
);

const asked = (question: string): WordHits => index.find(slotsOf(question, index, methodVocabulary()));

const first = (question: string): number | undefined => {
  const { scores, best } = asked(question);
  return best === 0 ? undefined : scores.indexOf(best);
};

describe('WordIndex', () => {
  it.each([
    ['retrospectives', 0],
    ['retrospectve', 0],
    ['retro', 0],
    ['rétrospective', 0],
    ['bilan', 0],
    ['archi', 1],
    ['architecte', 1],
    ['schéma', 2],
    ['zeppelin', undefined],
    ['', undefined],
  ])('leads from %j to record %s', (question, at) => {
    expect(first(question)).toBe(at);
  });

  it('prefers the name to the description', () => {
    expect(first('review beta')).toBe(1);
  });

  it.each([
    ['chat', 'chatgpt'],
    ['arc', 'architecture'],
  ])('counts %j less for %j than a longer beginning', (short, word) => {
    const words = indexOf(text('delta', word));
    const share = (typed: string): number => [...words.near(typed).values()][0] ?? 0;
    expect(share(short)).toBeLessThan(0.15);
    expect(share(word.slice(0, 5))).toBeGreaterThan(0.3);
  });

  it('takes no short word with another first letter for a slip', () => {
    const words = indexOf(text('delta', 'port offs'));
    expect(words.near('dort').size).toBe(0);
    expect(words.near('port').size + words.near('pirt').size).toBe(1);
  });

  it('says how much of the question a record has', () => {
    const covers = (question: string): number => asked(question).covers(first(question) ?? 0);
    expect(covers('beta')).toBeGreaterThan(0.5);
    expect(covers('beta zeppelin marmalade')).toBeLessThan(covers('beta') / 2);
  });

  it('counts a word once, however often it may be meant', () => {
    expect(asked('review').matched(first('review') ?? -1)).toHaveLength(1);
  });
});

describe('lettersApart', () => {
  it.each([
    ['story', 'story', 0],
    ['stroy', 'story', 1],
    ['stry', 'story', 1],
    ['storyy', 'story', 1],
    ['store', 'story', 1],
    ['spirnt', 'sprint', 1],
    ['story', 'sprint', 3],
    ['ab', 'cdef', 3],
  ])('counts from %s to %s %i', (a, b, apart) => {
    expect(lettersApart(a, b, 2)).toBe(apart);
  });

  it('is the same both ways', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
        expect(lettersApart(a, b, 2)).toBe(lettersApart(b, a, 2));
      }),
    );
  });
});
