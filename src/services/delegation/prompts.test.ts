import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { estimateTokens } from '../../base/text/text-budget.ts';
import { withinTokens } from './prompts.ts';

const text = fc
  .array(fc.lorem({ maxCount: 12 }), { minLength: 1, maxLength: 30 })
  .map((lines) => lines.join('\n'));

it('keeps texts within the tokens, short ones whole, and tells what is missing', () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 6 }), fc.integer({ min: 0, max: 600 }), (texts, tokens) => {
      const given = texts.map((each, at) => ({ title: `part ${at}`, text: each }));
      const { texts: kept, leftOut } = withinTokens(given, tokens);
      expect(kept.reduce((sum, each) => sum + estimateTokens(each.text), 0)).toBeLessThanOrEqual(
        // The end of a line costs a part of a token, which is rounded for each text.
        tokens + kept.length,
      );
      for (const each of kept) {
        const at = Number(/\d+/.exec(each.title)?.[0]);
        expect(texts[at]?.startsWith(each.text)).toBe(true);
      }
      const whole = kept.filter(({ title }) => !title.endsWith('(beginning)')).length;
      expect(whole + leftOut.length).toBe(texts.length);
    }),
  );
});

it('cuts a single long line at a word', () => {
  const { texts } = withinTokens([{ title: 'x', text: 'word '.repeat(500) }], 20);
  expect(texts[0]?.text).toMatch(/^(?:word )+word$/);
});

it.each([
  ['Chinese', '商店卖面包和牛奶'.repeat(2_000)],
  ['signs of two codes', '🥐🍞'.repeat(5_000)],
  ['packed JSON', JSON.stringify(Array.from({ length: 3_000 }, (_, n) => ({ id: n, name: `n${n}` })))],
  ['one long word', 'x'.repeat(50_000)],
])('gives the beginning of %s, which has no spaces', (_what, long) => {
  const { texts, leftOut } = withinTokens([{ title: 'x', text: long }], 100);
  const begin = texts[0]?.text ?? '';
  expect(long.startsWith(begin)).toBe(true);
  expect(begin).not.toMatch(/[\uD800-\uDBFF]$/);
  expect(estimateTokens(begin)).toBeLessThanOrEqual(100);
  expect(estimateTokens(begin)).toBeGreaterThan(80);
  expect(leftOut).toHaveLength(1);
});

it('goes by the length of the whole where it got only a beginning', () => {
  const lines = 'a line of words\n'.repeat(100);
  const { texts, leftOut } = withinTokens([{ title: 'x', text: lines, times: 10 }], 100_000);
  expect(texts[0]?.title).toBe('x (beginning)');
  expect(leftOut[0]).toMatch(/^x: the last \d+ of \d+ tokens$/);
});
