import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateTokens, fitted, packed, type Piece } from './text-budget.ts';

const piece = (title: string, text: string, more: Partial<Piece> = {}): Piece => ({
  title,
  text,
  required: 0,
  rank: 1,
  rest: 'in order',
  share: 1,
  ...more,
});
const section = (title: string, words: number): string =>
  `## ${title}\n\n${`${title} word `.repeat(words)}\n\n`;

describe('pieces within a budget', () => {
  it('are whole when there is room, and nothing is said to be missing', () => {
    const { text, isComplete, leftOut } = packed('# Head', [piece('One', 'a'), piece('Two', 'b')], [], 500);
    expect(text).toBe('# Head\n\n## One\n\na\n\n## Two\n\nb');
    expect([isComplete, leftOut]).toEqual([true, []]);
  });

  it('of instructions end where the room ends; of documents the sections about the matter are there', () => {
    const text = section('One', 100) + section('Two', 100) + section('Three', 100);
    const order = packed('# Head', [piece('P', text)], [], 600);
    expect(order.text).toMatch(/One word[^]*Two word[^]*\[left out: Three\]/);
    const score = ({ title }: { title: string | undefined }): number => (title === 'Three' ? 1 : 0);
    const scored = packed('# Head', [piece('P', text, { rest: 'by score', score })], [], 400);
    expect(scored.text).toMatch(/\[left out: One · Two\]\n## Three/);
    expect(scored.leftOut).toEqual([{ title: 'P', why: 'no room for 2 of 3 parts: One · Two' }]);
  });

  it('are not repeated', () => {
    const same = section('Legal', 40);
    const pieces = [piece('A', same, { source: 'a.md' }), piece('B', `${section('Own', 3)}${same}`)];
    const { text, leftOut } = packed('# Head', pieces, [], 2_000);
    expect(text.match(/Legal word/g)).toHaveLength(40);
    expect(text).toContain('[left out: Legal (see a.md)]');
    expect(leftOut).toEqual([{ title: 'B', why: 'partly identical to a.md' }]);
  });

  it('that are required and do not fit are told', () => {
    const text = section('All', 500);
    const { isComplete, needed } = packed('# Head', [piece('P', text, { required: text.length })], [], 300);
    expect(isComplete).toBe(false);
    expect(packed('# Head', [piece('P', text, { required: text.length })], [], needed).isComplete).toBe(true);
  });

  it('never take more than the budget, and are the same each time', () => {
    const texts = fc.array(
      fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('## A\n\n', '\n', 'word ', '<step n="1">\n')),
      {
        maxLength: 60,
      },
    );
    const pieces = fc.array(
      fc.record({ parts: texts, required: fc.nat(200), rank: fc.nat(3), scored: fc.boolean() }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(pieces, fc.nat(600), (given, budget) => {
        const made = given.map(({ parts, required, rank, scored }, index) =>
          piece(`P${index}`, parts.join(''), {
            required,
            rank,
            share: 0.5,
            rest: scored ? 'by score' : 'in order',
          }),
        );
        const one = packed('# Head', made, [{ title: 'X', why: 'no' }], budget);
        expect(estimateTokens(one.text)).toBeLessThanOrEqual(budget);
        expect(packed('# Head', made, [{ title: 'X', why: 'no' }], budget)).toEqual(one);
        if (!one.isComplete)
          expect(packed('# Head', made, [{ title: 'X', why: 'no' }], one.needed).isComplete).toBe(true);
      }),
    );
  });
});

it('cuts a text to tokens without half a character', () => {
  expect(fitted('word '.repeat(100), 10)).toMatch(/^(?:word ?){5,12}$/);
  expect(fitted('😀'.repeat(10), 5)).toMatch(/^(?:😀)+$/u);
  expect(fitted('anything', 0)).toBe('');
});
