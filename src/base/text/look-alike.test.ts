import { describe, expect, it } from 'vitest';
import { looks } from './hidden.ts';

describe('what a name looks like', () => {
  it.each([
    ['Cyrillic letters', 'аrсhіtесt'],
    ['Greek letters', 'αrchιtect'],
    ['full-width letters', 'ａｒｃｈｉｔｅｃｔ'],
    ['capitals of another script', 'АRСНITECТ'.replace('Н', 'h')],
    ['mathematical letters', '𝐚𝐫𝐜𝐡𝐢𝐭𝐞𝐜𝐭'],
  ])('is the same with %s (S-13)', (_how, name) => {
    expect(looks(name)).toBe(looks('architect'));
  });

  it('is the same with digits for letters, and another dash', () => {
    expect(looks('t00l-1ist')).toBe(looks('tool-list'));
    expect(looks('bmad‑prd')).toBe(looks('bmad_prd'));
  });

  it('is another with an accent, or another letter', () => {
    expect(looks('résumé')).not.toBe(looks('resume'));
    expect(looks('architect')).not.toBe(looks('architects'));
    expect(looks('архитектор')).not.toBe(looks('architect'));
  });
});
