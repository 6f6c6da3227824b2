import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { estimateTokens } from '../../base/token-estimate.ts';
import { withinTokens } from './budget.ts';

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
