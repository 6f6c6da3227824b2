import { describe, expect, it } from 'vitest';
import { isSmall } from './small-wish.ts';

describe('isSmall', () => {
  it.each([
    'I want a small command line tool in Node, `tally`, that counts words and lines in text files.',
    'Je voudrais que la boutique envoie un courriel quand une commande est expédiée ; petit, en Node, sans dépendance.',
    'a single endpoint that says the time',
    'Fix the typo in the footer',
    'juste une page de contact',
    'une petite commande qui compte les mots',
  ])('takes for one story: %s', (wish) => expect(isSmall(wish)).toBe(true));

  it.each([
    '',
    'a marketplace for plants, with a simple checkout',
    'bookkeeping for small businesses',
    'une plateforme pour les petites entreprises',
    'la comptabilité des petites entreprises',
    'an application for our customers, with accounts and invoices',
  ])('leaves the choice: %s', (wish) => expect(isSmall(wish)).toBe(false));
});
