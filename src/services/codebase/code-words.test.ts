import { describe, expect, it } from 'vitest';
import { codeWords, splitIdentifier } from './words.ts';

describe('words of code', () => {
  it.each([
    ['parseHTTPHeader_v2', ['parse', 'HTTP', 'Header', 'v2']],
    ['MAX_FILE_SIZE', ['MAX', 'FILE', 'SIZE']],
    ['$scope', ['scope']],
    ['créerUtilisateur', ['créer', 'Utilisateur']],
    ['utf8Decode', ['utf8', 'Decode']],
  ])('takes %s apart', (name, parts) => {
    expect(splitIdentifier(name)).toEqual(parts);
  });

  it('makes one word of its forms', () => {
    for (const forms of [
      'parse parses parsed parsing parser',
      'file files',
      'validate validation validates',
      'run running',
    ])
      expect(new Set(codeWords(forms)).size, forms).toBe(1);
    expect(codeWords('class status this')).toEqual(['class', 'status']);
    expect(codeWords('Élève créé')).toEqual(['eleve', 'cree'].map((word) => codeWords(word)[0]));
  });

  it('leaves out what says nothing and what must not be kept', () => {
    expect(codeWords('how is the user of a')).toEqual(['user']);
    expect(codeWords('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08')).toEqual([]);
    expect(codeWords('ghp_16C7e42F292c6912E7710c838347Ae178B4a')).toEqual([]);
  });
});
