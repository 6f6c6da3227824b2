import { expect, it } from 'vitest';
import { estimateTokens } from './text-budget.ts';

it.each([
  ['', 0],
  ['word', 1],
  ['two words', 3],
  ['12345', 2],
  ['-'.repeat(64), 4],
  ['camelCaseName', 3],
  ['日本語', 3],
])('takes %j for %i tokens', (text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens);
});

it('counts the parts of a text at least as high as the whole', () => {
  const lines = ['# A', '', '  code();', 'été 42', '|a|b|'];
  const whole = estimateTokens(lines.join('\n'));
  expect(lines.reduce((sum, line) => sum + estimateTokens(line) + 1, 0)).toBeGreaterThanOrEqual(whole);
});
