import { describe, expect, it } from 'vitest';
import { fold, nearest } from './suggest.ts';

const NAMES = ['architect', 'analyst', 'pm', 'dev', 'tech-writer', 'ux-designer', 'code-review'];

describe('nearest', () => {
  it.each([
    ['architetc', ['architect']],
    ['Architect', ['architect']],
    ['arch', ['architect']],
    ['tech writer', ['tech-writer']],
    ['TECH_WRITTER', ['tech-writer']],
    ['codereview', ['code-review']],
    ['de', ['dev']],
    ['px', ['pm']],
    ['zebra', []],
    ['', []],
  ])('suggests for %j', (wrong, suggestions) => {
    expect(nearest(wrong, NAMES)).toEqual(suggestions);
  });

  it('takes no piece of a word for a name (M-61)', () => {
    expect(nearest('agent-builder', ['build', 'dev'])).toEqual([]);
    expect(nearest('story-review', ['review', 'dev'])).toEqual(['review']);
    expect(nearest('buil', ['build'])).toEqual(['build']);
  });

  it('puts the closest first and keeps to the count', () => {
    const known = ['prd-validate', 'prd-edit', 'prd', 'prd-edits'];
    expect(nearest('prd-edi', known, 2)).toEqual(['prd-edit', 'prd-edits']);
    expect(nearest('prd', known, 9)).toEqual(['prd', 'prd-edit', 'prd-edits', 'prd-validate']);
    expect(nearest('prd', known, 0)).toEqual([]);
  });

  it('names a thing once, in the spelling that came first', () => {
    expect(nearest('dev', ['Dev', 'dev', 'DEV'])).toEqual(['Dev']);
  });

  it('copes with long and odd names', () => {
    expect(nearest('a'.repeat(100_000), ['b', 'a'.repeat(64)])).toEqual(['a'.repeat(64)]);
    expect(nearest('__proto__', ['constructor', '__proto__', ''])).toEqual(['__proto__']);
  });
});

describe('fold', () => {
  it.each([
    ['Tech  Writer', 'tech-writer'],
    ['TECH_WRITER', 'tech-writer'],
    ['cafe\u0301', 'café'],
    ['a _\t b', 'a-b'],
  ])('takes %j for %j', (name, folded) => {
    expect(fold(name)).toBe(folded);
  });

  it('tells long names apart, so that one is never taken for the other', () => {
    const beginning = 'x'.repeat(200);
    expect(fold(`${beginning}a`)).not.toBe(fold(`${beginning}b`));
  });
});
