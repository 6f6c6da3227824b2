import { plural, speaking } from './message.ts';
import { describe, expect, it } from 'vitest';
import { byteLength, cell, cut, fenced, kilobytes, oneLine } from './text.ts';

describe('oneLine', () => {
  it.each([
    ['short', 10, 'short'],
    ['  two\n\n  lines\t here ', 20, 'two lines here'],
    ['exactly ten', 11, 'exactly ten'],
    ['one word too many', 12, 'one word…'],
    ['unbreakablelongword', 8, 'unbreak…'],
    ['a unbreakablelongword', 8, 'a unbre…'],
    ['', 10, ''],
    [`${' '.repeat(500)}late`, 10, 'late'],
    [`a${' '.repeat(500)}b`, 10, 'a b'],
    [`a${' '.repeat(500)}word that is long`, 10, 'a word…'],
    ['1234😀67', 6, '1234…'],
  ])('writes %j in %i characters as %j', (text, max, line) => {
    expect(oneLine(text, max)).toBe(line);
  });
});

describe('fenced', () => {
  it.each([
    ['plain', '```\nplain\n```'],
    ['ends with a break\n', '```\nends with a break\n```'],
    ['', '```\n\n```'],
    ['`` two', '```\n`` two\n```'],
    ['```\ncode\n```', '````\n```\ncode\n```\n````'],
    ['a ````` b', '``````\na ````` b\n``````'],
  ])('wraps %j', (text, wrapped) => {
    expect(fenced(text)).toBe(wrapped);
  });

  it('names the language', () => {
    expect(fenced('a: 1', 'yaml')).toBe('```yaml\na: 1\n```');
  });
});

describe('cell', () => {
  it.each([
    [' a\n b\r\nc ', 'a b c'],
    ['a | b', 'a \\| b'],
    ['a \\| b', 'a \\\\\\| b'],
    ['C:\\x', 'C:\\x'],
    ['||', '\\|\\|'],
  ])('writes %j as %j', (text, written) => {
    expect(cell(text)).toBe(written);
  });
});

describe('cut', () => {
  it('never leaves half a character', () => {
    expect([0, 1, 2, 3, 4, 9].map((length) => cut('a😀b', length))).toEqual([
      '',
      'a',
      'a',
      'a😀',
      'a😀b',
      'a😀b',
    ]);
  });
});

it('counts bytes and things', () => {
  expect(byteLength('é😀')).toBe(6);
  expect(kilobytes(12_345)).toBe('12.3 kB');
  expect([plural(0, 'agent'), plural(1, 'agent'), plural(2, 'entry', 'entries')]).toEqual([
    '0 agents',
    '1 agent',
    '2 entries',
  ]);
  const french = { '{n} agent': '{n} agent', '{n} agents': '{n} agents' };
  expect(speaking(french, () => [0, 1, 2].map((count) => plural(count, 'agent')))).toEqual([
    '0 agent',
    '1 agent',
    '2 agents',
  ]);
});
