import { describe, expect, it } from 'vitest';
import { badShape, DEEPEST, MOST_MESSAGES, MOST_NAMES } from './json.ts';

const shape = (text: string): string | undefined => badShape(Buffer.from(text));
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const list = (messages: number): string => JSON.stringify(Array.from({ length: messages }, () => ({ a: 1 })));

describe('the shape of a JSON text', () => {
  it.each([
    '',
    '{}',
    nested(DEEPEST),
    list(MOST_MESSAGES),
    JSON.stringify({ many: Array.from({ length: 1000 }, () => 1) }),
    JSON.stringify({ text: `${'['.repeat(1000)}"${'{'.repeat(1000)}\\` }),
    JSON.stringify(['\\', '"[[', ',a'.repeat(1000)]),
    ']]]]',
    '"never ends \\',
  ])('is good: %.40s', (text) => {
    expect(shape(text)).toBeUndefined();
  });

  it('may not be too deep, in lists or objects, closed or not', () => {
    expect(shape(nested(DEEPEST + 1))).toContain(`${DEEPEST} levels`);
    expect(shape('['.repeat(1_000_000))).toContain('levels');
    expect(shape('{"a":'.repeat(DEEPEST + 1))).toContain('levels');
    expect(shape(`["\\"", ${'{"a":['.repeat(DEEPEST)}`)).toContain('levels');
  });

  it('may not be a list of too many', () => {
    expect(shape(` ${list(MOST_MESSAGES + 1)}`)).toContain(`${MOST_MESSAGES} messages`);
  });

  it('may not have an object of too many names, at any depth (S-09)', () => {
    const names = (count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, ':']));
    expect(shape(JSON.stringify({ params: [names(MOST_NAMES), names(MOST_NAMES)] }))).toBeUndefined();
    expect(shape(JSON.stringify({ params: [1, names(MOST_NAMES + 1)] }))).toContain(`${MOST_NAMES} names`);
  });
});
