import { describe, expect, it } from 'vitest';
import { aboutAbbreviations, spelledOut } from './record-text.ts';

describe('spelledOut', () => {
  it.each([
    ['prd', 'product requirements document'],
    ['validate-prd', 'product requirements document'],
    ['qa-generate-e2e-tests', 'quality assurance, end-to-end'],
    ['ux-designer', 'user experience'],
    ['spectrum', ''],
    ['constructor', ''],
  ])('reads %s as %j', (name, words) => {
    expect(spelledOut(name)).toBe(words);
  });
});

describe('aboutAbbreviations', () => {
  it('says what it is for, and nothing for other names', () => {
    expect(aboutAbbreviations('create-prd')).toContain('what the product or application must do');
    expect(aboutAbbreviations('retrospective')).toEqual([]);
  });
});
