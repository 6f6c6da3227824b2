import { isAbsolute, join, sep } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BmadError } from '../../src/base/errors.ts';
import { contentPath, contentUri } from '../../src/base/files/paths.ts';
import { cases } from '../support/how-much.ts';

/** Names people and programs give to files, with everything in them that could be mistaken for syntax. */
const letter = fc.oneof(
  fc.constantFrom(...'abzAZ019'.split('')),
  fc.constantFrom(...' "\'%#?&=+@,;[](){}<>|*!$~^`-_.'.split('')),
  fc.constantFrom('é', 'e\u0301', '名', '😀', '👩‍💻', 'ß', '\u00A0'),
);
const name = fc
  .array(letter, { minLength: 1, maxLength: 12 })
  .map((letters) => letters.join(''))
  .filter((text) => !/[. ]$/.test(text) && !/%(?:2e|2f|5c|00|25|c0|e0)/i.test(text));
const cleanPath = fc.array(name, { minLength: 1, maxLength: 8 }).map((names) => names.join('/'));

/** Pieces of attacks, put together in any order. */
const pieces =
  '.. . / \\ % %2e %2E %2f %5c %25 %252e %c0%ae %00 : C: bmad:// bmad: file:// a etc ~ $HOME'.split(' ');
const disguises = '\uFF0E \uFF0F \uFF3C \u2024 \u2025 \u2026 \u2044 \u2215 \uFE52 \u29F8 \uD800 \0 \n'.split(
  ' ',
);
const attack = fc
  .array(fc.constantFrom(' ', ...pieces, ...disguises), { maxLength: 12 })
  .map((parts) => parts.join(''));

/** The path, or the error that refuses it; anything else that is thrown fails the test. */
function outcome(input: string): string | BmadError {
  try {
    return contentPath(input);
  } catch (error) {
    if (error instanceof BmadError) return error;
    throw error;
  }
}

describe('contentPath', () => {
  it('takes back what contentUri made of any clean path', () => {
    fc.assert(
      fc.property(cleanPath, (path) => {
        expect(contentPath(contentUri(path))).toBe(path);
      }),
      { numRuns: cases(800) },
    );
  });

  it('makes URIs that every URL parser understands, without query and fragment', () => {
    fc.assert(
      fc.property(cleanPath, (path) => {
        const { protocol, search, hash } = new URL(contentUri(path).replace('bmad://', 'bmad://host/'));
        expect([protocol, search, hash]).toEqual(['bmad:', '', '']);
      }),
    );
  });

  it.each([
    ['any text', fc.string({ unit: 'binary', maxLength: 60 })],
    ['attacks', attack],
    ['encoded attacks', attack.map((text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '')))],
    ['clean paths among attacks', fc.tuple(cleanPath, attack, cleanPath).map((parts) => parts.join(''))],
  ])('gives a path inside the root or refuses, for %s', (_, input) => {
    const root = join(sep, 'root', 'bmad');
    fc.assert(
      fc.property(input, (text) => {
        const path = outcome(text);
        if (path instanceof BmadError) return path.text.length < 1_200;
        // What a careless reader of the path could make of it must stay inside too.
        for (const reading of [path, path.normalize('NFKC'), path.normalize('NFC').replaceAll('\\', '/')]) {
          expect(reading.split(/[/\\]/)).not.toContain('..');
          expect(isAbsolute(reading)).toBe(false);
          expect(join(root, reading).startsWith(root + sep)).toBe(true);
        }
        expect(path).not.toMatch(/(?![\t\n])[\p{Cc}\\]/u);
        return contentPath(contentUri(path)) === path;
      }),
      { numRuns: cases(1_000) },
    );
  });
});
