import { describe, expect, it } from 'vitest';
import { operations } from '../../operations/index.ts';
import { overview } from './overview.ts';

describe('the overview of the commands', () => {
  it('names the first word of every command', () => {
    const text = overview('');
    const words = operations.flatMap(({ command }) => command?.split(' ')[0] ?? []);
    expect(words.length).toBeGreaterThan(60);
    for (const word of new Set(words))
      expect(text).toMatch(new RegExp(`^  ${word} |^Also: [\\w, \\n]*\\b${word}\\b`, 'm'));
  });

  it('keeps the lines of commands as wide as a screen', () => {
    for (const line of overview('').split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  });
});
