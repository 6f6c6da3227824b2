import { describe, expect, it } from 'vitest';
import { refusal } from '../../../tests/support/thrown.ts';
import { globMatcher } from './glob.ts';

describe('globMatcher', () => {
  it.each([
    ['*', ['a', 'a.md', ''], ['a/b', '/']],
    ['*.md', ['a.md', '.md'], ['a.mdx', 'b/a.md', 'a.md/']],
    ['bmm/*.md', ['bmm/a.md'], ['bmm/b/a.md', 'xbmm/a.md', 'bmm/a.md.bak']],
    ['**', ['', 'a', 'a/b/c.md'], []],
    ['**/*.md', ['a.md', 'b/a.md', 'c/b/a.md'], ['a.csv', 'a.md/b']],
    ['bmm/**', ['bmm/', 'bmm/a', 'bmm/a/b'], ['bmm', 'bmmx/a', 'core/a']],
    ['bmm/**/a.md', ['bmm/a.md', 'bmm/b/a.md', 'bmm/b/c/a.md'], ['bmm/xa.md', 'a.md', 'bmm/b/xa.md']],
    ['**/b/**', ['b/', 'b/c', 'a/b/c'], ['b', 'ab/c', 'a/bc/d']],
    ['a**b', ['ab', 'axb', 'a/x/b'], ['a', 'b', 'abc']],
    ['a***b', ['ab', 'a/b'], ['a']],
    ['a/***/b', ['a/b', 'a/x/b'], ['ab', 'a/xb']],
    ['?', ['a', 'é', '😀', '名'], ['', '/', 'ab']],
    ['a?c', ['abc', 'a.c'], ['ac', 'a/c', 'abbc']],
    ['??.md', ['ab.md', 'a😀.md'], ['a.md', '😀.md']],
    ['😀*', ['😀', '😀.md'], ['😁']],
    ['', [''], ['a']],
    ['a.c', ['a.c'], ['abc']],
    ['[ab]', ['[ab]'], ['a']],
    ['{a,b}', ['{a,b}'], ['a']],
    ['a+(b)|$^', ['a+(b)|$^'], ['aab']],
    ['README.md', ['README.md'], ['readme.md']],
    ['..a/b..', ['..a/b..'], []],
  ])('%j matches %j and not %j', (pattern, hits, misses) => {
    const matches = globMatcher(pattern);
    expect(hits.filter((path) => !matches(path))).toEqual([]);
    expect(misses.filter((path) => matches(path))).toEqual([]);
  });

  const long = `${'a'.repeat(500)}/${'a/'.repeat(200)}`;
  it.each([
    ['a hundred stars with a tail', `${'*a'.repeat(100)}b`, long, false],
    ['250 stars', '*'.repeat(250), long, true],
    ['125 single stars', '*?'.repeat(125), 'a'.repeat(5_000), true],
    ['125 single stars across folders', '*?'.repeat(125), long, false],
    ['60 folder wildcards', `${'**/'.repeat(60)}x`, long, false],
    ['60 folder wildcards with a hit', `${'**/'.repeat(60)}x`, `${long}x`, true],
    ['80 deep wildcards with a tail', `${'**a'.repeat(80)}b`, long, false],
    ['a regular expression', '(a+)+$', `${'a'.repeat(5_000)}!`, false],
    ['200 braces', '{'.repeat(200), '{'.repeat(200), true],
    ['200 braces in vain', '{'.repeat(200), '{'.repeat(199), false],
  ])('comes to an end for %s', (_, pattern, path, matches) => {
    expect(globMatcher(pattern)(path)).toBe(matches);
  });

  it.each([
    ['../x', 'The pattern "../x" leaves the BMAD content.'],
    ['a/../b', 'The pattern "a/../b" leaves the BMAD content.'],
    ['**/..', 'The pattern "**/.." leaves the BMAD content.'],
    ['/etc/*', 'The pattern "/etc/*" leaves the BMAD content.'],
    ['a\\b', 'The pattern "a\\\\b" leaves the BMAD content.'],
    ['a'.repeat(257), 'The pattern is 257 characters long.'],
    ['*'.repeat(100_000), 'The pattern is 100000 characters long.'],
  ])('refuses %j', async (pattern, message) => {
    const error = await refusal(() => globMatcher(pattern));
    expect([error.code, error.message]).toEqual(['invalid_input', message]);
  });
});
