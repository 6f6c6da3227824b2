import { expect, it } from 'vitest';
import { spokenLanguage } from './message.ts';

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
