import { describe, expect, it } from 'vitest';
import { isSmall, isWish } from './small-wish.ts';

describe('isSmall', () => {
  it.each([
    'I want a small command line tool in Node, `tally`, that counts words and lines in text files.',
    'Je voudrais que la boutique envoie un courriel quand une commande est expédiée ; petit, en Node, sans dépendance.',
    'a single endpoint that says the time',
    'Fix the typo in the footer',
    'juste une page de contact',
    'a command that counts words',
    'Add a dark mode button',
    'une petite commande qui compte les mots',
  ])('takes for one story: %s', (wish) => expect(isSmall(wish)).toBe(true));

  it.each([
    '',
    'a marketplace for plants, with a simple checkout',
    'bookkeeping for small businesses',
    'une plateforme pour les petites entreprises',
    'la comptabilité des petites entreprises',
    'an application for our customers, with accounts and invoices',
    'A bug tracker for our 200 engineers with projects, sprints and reports',
    'a fixed asset management system',
    'ajoute une petite boutique avec paiement, comptes et stock',
    'a command centre for our fleet, with maps and alarms',
    'a single page application for hospitals with accounts, billing and scheduling',
    'not a simple thing: a whole shop with payments',
    'a small shop with accounts, invoices, stock, suppliers, returns and reports',
  ])('leaves the choice: %s', (wish) => expect(isSmall(wish)).toBe(false));
});

describe('isWish', () => {
  it.each([
    'Can you add a dark mode toggle?',
    'Progress bar for uploads',
    'Status page for the API',
    'what I want is a dark mode',
    'a small tool',
    'Next to the name, show the age',
  ])('hears one: %s', (words) => expect(isWish(words)).toBe(true));

  it.each([
    '',
    'what should I do? I have little time',
    'What is next?',
    'où en est le projet',
    'Où en est-on ?',
    'continue',
    'status of the project',
    'ok',
    'go ahead',
    'La suite, stp',
  ])('hears none: %s', (words) => expect(isWish(words)).toBe(false));
});
