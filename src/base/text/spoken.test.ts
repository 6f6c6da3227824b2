import { describe, expect, it } from 'vitest';
import { say, speaking, spokenLanguage } from './message.ts';

const FRENCH =
  'La revue de l’API est terminée : aucun changement n’est incompatible avec les clients actuels, mais le champ « total » doit être documenté. Les tests sont dans le dossier prévu et ils passent.';
const ENGLISH =
  'The review of the API is complete: no change is incompatible with the clients that are in use, but the field "total" must be documented. The tests are in the folder and they pass.';

it('tells French and English where a text is long enough', () => {
  expect(spokenLanguage(FRENCH)).toBe('French');
  expect(spokenLanguage(ENGLISH)).toBe('English');
  expect(spokenLanguage(`${FRENCH}\n\n\`\`\`\n${ENGLISH.repeat(3)}\n\`\`\``)).toBe('French');
});

it('says nothing of short texts, of both at once, and of code', () => {
  expect(spokenLanguage('No breaking change found.')).toBeUndefined();
  expect(spokenLanguage(`${FRENCH} ${ENGLISH}`)).toBeUndefined();
  expect(
    spokenLanguage(JSON.stringify({ verdict: 'pass', files: Array(40).fill('src/cart.ts') })),
  ).toBeUndefined();
});

describe('a sentence of ours that was stored', () => {
  const words = { 'It ended with {0} after {1} s.': 'Fini avec {0} en {1} s.', 'Exit code 0.': 'Code 0.' };
  const said = (text: string): string => speaking(words, () => say(text));

  it('is said with the figures that are in it', () => {
    expect(said('It ended with 7 after 1.5 s.')).toBe('Fini avec 7 en 1.5 s.');
    expect(said('Exit code 0.')).toBe('Code 0.');
  });

  it('stays as it is where the other language does not have it, and to who reads ours', () => {
    expect(said('It ended with 7 after {1} s.')).toBe('It ended with 7 after {1} s.');
    expect(said('Exit code 1.')).toBe('Exit code 1.');
    expect(say('It ended with 7 after 1.5 s.')).toBe('It ended with 7 after 1.5 s.');
  });
});
