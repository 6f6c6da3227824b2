import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { namedIn } from './context-files.ts';
import { cases } from '../../../tests/support/how-much.ts';

const paths = (line: string): string[] => namedIn(line).mentions.map(({ path }) => path);

it.each([
  ['@docs/prd.md', ['docs/prd.md'], true],
  ['  - @docs/prd.md, @docs/api.md;', ['docs/prd.md', 'docs/api.md'], true],
  ['12. @docs/prd.md', ['docs/prd.md'], true],
  ['1) @docs/prd.md.', ['docs/prd.md'], true],
  ['@"docs/my file.md" @a.md', ['docs/my file.md', 'a.md'], true],
  ['@app/(shop)/[id]/page.tsx', ['app/(shop)/[id]/page.tsx'], true],
  ['(see @docs/prd.md).', ['docs/prd.md'], false],
  ['(@app/(shop)/page.tsx)!', ['app/(shop)/page.tsx'], false],
  ['<@a.md>', ['a.md'], false],
  ['@docs/prd.md?', ['docs/prd.md'], false],
  ['As @docs/prd.md: says', ['docs/prd.md'], false],
  ['ada@example.org and @', [], false],
  ['@"no end', [], false],
  ['', [], false],
])('%s names %j', (line, named, isOnlyNames) => {
  expect(paths(line)).toEqual(named);
  expect(namedIn(line).isOnlyNames).toBe(isOnlyNames);
});

const HOSTILE = ['@a', '@', '@"', '"', ' ', ')', '@(', '.', ',', '- ', '@a, ', '\t', '@a@', '!'];

it.each(HOSTILE)('a line of 200,000 characters of %j comes to an end', (piece) => {
  const line = piece.repeat(Math.ceil(200_000 / piece.length));
  for (const text of [line, `${line} !`, `- ${line}`])
    expect(namedIn(text).mentions.length).toBeLessThan(200_001);
});

it('comes to an end with any mixture of them, and invents no path', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...HOSTILE), { maxLength: 60 }), fc.nat(2_000), (pieces, times) => {
      const line = pieces.join('').repeat(times).slice(0, 50_000);
      for (const path of paths(line).slice(0, 50)) expect(line).toContain(path);
    }),
    { numRuns: cases(100) },
  );
});
