import { describe, expect, it } from 'vitest';
import { growth } from '../../tests/support/work.ts';
import { withoutExamples } from './markdown.ts';

describe('a text without its examples', () => {
  it.each([
    ['a <!-- b --> c\nd', ['a  c', 'd']],
    ['a\n<!-- b\nc\n--> d\ne', ['a', '', '', ' d', 'e']],
    ['a <!-- b\nc\nd', ['a ', 'c', 'd']],
    ['a <!-- b\nc\n<!-- d\ne -->\nf', ['a ', 'c', '', '', 'f']],
    ['a <!-- b <!-- c --> d\ne', ['a  d', 'e']],
    ['a --> b\nc <!-- d\ne', ['a --> b', 'c ', 'e']],
    ['<!-- a --> b <!-- c --> d', [' b  d']],
    ['a <!--', ['a ']],
    ['<!--> a\nb', ['', 'b']],
    ['a\n```\nb\n```\nc', ['a', '', '', '', 'c']],
  ])('of %j is %j', (text, lines) => {
    expect(withoutExamples(text)).toEqual(lines);
  });

  it('does not take long for many marks', () => {
    expect(withoutExamples('- x <!-- y\n'.repeat(100_000))).toHaveLength(100_001);
    expect(growth((count) => withoutExamples('- x <!-- y\n'.repeat(count)), 10_000)).toBeLessThan(40);
  });
});
