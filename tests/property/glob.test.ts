import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { globMatcher } from '../../src/base/text/glob.ts';
import { cases } from '../support/how-much.ts';

/**
 * What a pattern means, in the plainest words: `?` is a character, `*` any number of them, `**` crosses folders too,
 * and a `**` with a slash after it stands for any number of whole folders. Slow, and short enough to be believed.
 */
function means(pattern: string, path: string, atStart = true): boolean {
  if (pattern === '') return path === '';
  const [, stars = '', slash = ''] = /^(\*\*+)(\/?)/.exec(pattern) ?? [];
  if (stars !== '') {
    const rest = pattern.slice(stars.length + slash.length);
    if ((slash === '' || atStart) && means(rest, path, atStart)) return true;
    return path !== '' && means(pattern, tail(path), path.startsWith('/'));
  }
  const [first = ''] = pattern;
  if (first === '*') {
    if (means(pattern.slice(1), path, atStart)) return true;
    return path !== '' && !path.startsWith('/') && means(pattern, tail(path), false);
  }
  const [head = ''] = path;
  const fits = head !== '' && (first === '?' ? head !== '/' : first === head);
  return fits && means(pattern.slice(first.length), tail(path), head === '/');
}

function tail(text: string): string {
  const [head = ''] = text;
  return text.slice(head.length);
}

const pattern = fc
  .array(fc.constantFrom('*', '**', '**/', '?', '/', 'a', 'b', '.', '😀'), { maxLength: 7 })
  .map((parts) => parts.join(''))
  .filter((text) => !text.startsWith('/') && !text.split('/').includes('..'));
const path = fc
  .array(fc.constantFrom('/', 'a', 'b', '.', '😀'), { maxLength: 7 })
  .map((parts) => parts.join(''));

describe('globMatcher', () => {
  it('agrees with what a pattern means', () => {
    fc.assert(
      fc.property(pattern, path, (glob, text) => {
        expect(globMatcher(glob)(text)).toBe(means(glob, text));
      }),
      { numRuns: cases(20_000) },
    );
  });

  it('agrees for paths that were made to match', () => {
    const piece = fc.constantFrom('a', 'b', 'ab', 'x.md');
    const folders = fc.array(piece, { maxLength: 4 });
    fc.assert(
      fc.property(folders, piece, folders, piece, (above, folder, below, file) => {
        const text = [...above, folder, ...below, file].join('/');
        for (const glob of ['**', `**/${file}`, `**/${folder}/**`, `**/${folder}/**/${file}`, text])
          expect([glob, text, globMatcher(glob)(text)]).toEqual([glob, text, true]);
        const single = [...above, folder, ...below].map(() => '*').join('/');
        expect(globMatcher(`${single}/${file}`)(text)).toBe(true);
        expect(globMatcher(`${single}/*/${file}`)(text)).toBe(false);
      }),
    );
  });
});
