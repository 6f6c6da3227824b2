import { expect, it } from 'vitest';
import { isYes } from './text.ts';

it.each(['y', 'Y', ' yes ', 'o', 'Oui', 'oui\n'])('%j is a yes', (typed) => {
  expect(isYes(typed)).toBe(true);
});

it.each(['', ' ', 'n', 'no', 'non', 'ok', 'yo', 'ouvre', 'y n', 'yes please'])('%j is a no', (typed) => {
  expect(isYes(typed)).toBe(false);
});
