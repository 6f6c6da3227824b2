import { expect, it } from 'vitest';
import { otherWordings, subjectWords, thingsMeant } from './lexicon.ts';

it.each([
  ['base de données', 'database'],
  ['base de donnees', 'database'],
  ['Bases de données', 'database'],
  ['quel SGBD utilise-t-on ?', 'database'],
  ['quel SGBD utilise-t-on ?', 'base de données'],
  ['which database do we use?', 'base de données'],
  ['mot de passe des utilisateurs', 'password user'],
  ['réseau de production', 'network production'],
])('M-41: %j is also asked as %j', (asked, other) => {
  expect(otherWordings(asked)).toContain(other);
});

it('M-41: takes no word apart that only looks like another, and leaves long texts as they are', () => {
  expect(otherWordings('On utilise JWT')).toEqual([]);
  expect(otherWordings('base navale')).toEqual([]);
  expect(otherWordings('base de données '.repeat(20))).toEqual([]);
  expect(otherWordings('')).toEqual([]);
});

it('M-41: keeps the words that a question is about, or all where no others are left', () => {
  expect(subjectWords('quel SGBD utilise-t-on ?')).toBe('SGBD');
  expect(subjectWords('which database do we use?')).toBe('database');
  expect(subjectWords('utilise-t-on ?')).toBe('utilise-t-on ?');
});

it('M-41: knows what there is of the kinds a question is about, and of none where it says more', () => {
  expect(thingsMeant('Quelle base de données utilisons-nous ?')).toContain('PostgreSQL');
  expect(thingsMeant('database')).toContain('SQLite');
  expect(thingsMeant('zebra queue')).toEqual([]);
  expect(thingsMeant('On utilise PostgreSQL')).toEqual([]);
});
