import { describe, expect, it } from 'vitest';
import { analyse } from '../../meaning/analyse.ts';
import { relationOf, type Relation } from './relation.ts';

function between(a: string, b: string, type = 'stories'): Relation | undefined {
  const said = (text: string) => ({ type, text, terms: analyse(text) });
  return relationOf(said(a), said(b), undefined);
}

describe('numbers that name a thing', () => {
  it.each([
    ['Story 1.3 is done, all tests pass', 'Story 1.4 is done, all tests pass'],
    ['Epic 1: story 1.3 is done', 'Epic 1: story 1.4 is done'],
    ['Story 1.3 done in sprint 3', 'Story 1.4 done in sprint 3'],
    ['Récit 2-1 : terminé et relu', 'Récit 2-2 : terminé et relu'],
    ['Issue #12 is closed: login fixed', 'Issue #13 is closed: login fixed'],
    ['1.3 user login: ready for review', '1.4 user login: ready for review'],
    ['Sprint 3 ended with 2 stories open', 'Sprint 4 ended with 5 stories open'],
    ['Version 2 of the importer reads XML', 'Version 3 of the importer reads XML'],
  ])('that differ mean another subject: %j, %j', (a, b) => {
    expect(between(a, b)).toBeUndefined();
    expect(between(b, a)).toBeUndefined();
  });

  it.each([
    ['Story 1.3 is done in 5 days', 'Story 1.3 is done in 8 days'],
    ['Story 1.3 is done', 'Story 1.3 is not done'],
    ['Sprint 3: story 1.3 is done', 'Sprint 4: story 1.3 is not done'],
  ])('that are the same leave the rest to be compared: %j, %j', (a, b) => {
    expect(between(a, b)).toBe('may contradict');
  });
});

it.each([
  ['We use PostgreSQL 14.2 for orders', 'We use PostgreSQL 16.1 for orders'],
  ['The API port is 4000', 'The API port is 5000'],
  ['The public API is at version 2', 'The public API is at version 3'],
])('numbers that are values contradict: %j, %j', (a, b) => {
  expect(between(a, b, 'decisions')).toBe('may contradict');
});

it.each([
  ['On abandonne JWT.', 'JWT tokens authenticate the API.'],
  ['On abandonne JWT.', 'On utilise JWT pour authentifier les appels.'],
  ['On n’utilise plus JWT.', 'On utilise JWT pour authentifier les appels.'],
  ["Nous n'utilisons plus JWT", 'Les jetons JWT expirent après une heure'],
  ['We no longer use Redis', 'Redis keeps the sessions'],
  ['We dropped Redis', 'We use Redis for the cache'],
  ['Plus de Redis', 'Redis garde les sessions'],
  ['On arrête Jenkins', 'Jenkins construit chaque branche'],
  ["On abandonne JWT : sessions serveur pour l'authentification", "JWT stateless pour l'auth"],
  ['We drop Redis because it is one server more to run', 'Redis keeps the sessions'],
  ['On remplace Jenkins par GitHub Actions', 'Jenkins construit chaque branche'],
  ['La base est désormais MongoDB et non plus PostgreSQL', 'PostgreSQL garde les commandes'],
  ['La base de données du projet est désormais MongoDB, plus PostgreSQL', 'PostgreSQL garde les commandes'],
  ['We use MongoDB instead of PostgreSQL', 'PostgreSQL keeps the orders'],
  ['MongoDB garde les commandes au lieu de PostgreSQL', 'PostgreSQL garde les commandes'],
])('M-41: what is given up contradicts what relies on it: %j, %j', (a, b) => {
  expect(between(a, b, 'decisions')).toBe('may contradict');
  expect(between(b, a, 'decisions')).toBe('may contradict');
});

it.each([
  ['On n’utilise plus JWT.', 'On abandonne JWT.'],
  ["On n'utilise plus JWT.", 'JWT est remplacé par des sessions.'],
  ['We no longer use JWT', 'We stopped using JWT'],
  ['We do not use JWT any more', 'On abandonne JWT'],
  ['On n’abandonne pas JWT.', 'JWT tokens authenticate the API.'],
  ['We will not drop JWT', 'JWT tokens authenticate the API.'],
  ['On abandonne Jenkins', 'JWT tokens authenticate the API.'],
  ['On utilise JWT', 'JWT tokens authenticate the API.'],
  ['We drop Redis because JWT needs no server', 'JWT tokens authenticate the API.'],
  ['On abandonne Jenkins : GitHub Actions construit tout', 'GitHub Actions construit chaque branche'],
  ['We use MongoDB instead of PostgreSQL', 'MongoDB keeps the orders'],
  ['Le cache est désormais Redis, plus rapide que le disque', 'Le disque garde les images'],
  ['La route GET /users est publique', 'La route GET /orders exige une authentification'],
  ['La route GET /health n’est pas publique', 'La route GET /health exige une authentification'],
  ['The public API requires authentication', 'The public API is at version 2'],
  ['Inutile de vider le cache entre les tests', 'Pas besoin de vider le cache entre les tests'],
])('M-41: what agrees, or is about something else, does not: %j, %j', (a, b) => {
  expect(between(a, b, 'decisions')).not.toBe('may contradict');
  expect(between(b, a, 'decisions')).not.toBe('may contradict');
});

it.each([
  ['La route /health exige désormais une authentification', 'La route GET /health est publique'],
  ['GET /health now requires a token', 'The /health route is public'],
  ['Access to /health is restricted', '/health is open to everyone'],
  ['Two-factor login is mandatory for admins', 'Two-factor login is optional for admins'],
  ['Les notifications sont désactivées par défaut', 'Les notifications sont activées par défaut'],
  [
    'Inutile de vider le cache Redis entre les tests du panier',
    'Le cache Redis doit être vidé entre les tests du panier',
  ],
  [
    'There is no need to flush the Redis cache between cart tests',
    'Flush the Redis cache between cart tests',
  ],
  ['Pas besoin de relire les migrations', 'Il faut relire les migrations'],
])('what says the contrary contradicts: %j, %j', (a, b) => {
  expect(between(a, b, 'agent-learnings')).toBe('may contradict');
  expect(between(b, a, 'agent-learnings')).toBe('may contradict');
});

it.each([
  ['GET /health does not touch PostgreSQL', 'We use PostgreSQL for all data'],
  ['/health ne touche pas à PostgreSQL', 'On utilise PostgreSQL'],
])('what is denied of one path contradicts only what is said of that path: %j, %j', (a, b) => {
  expect(between(a, b, 'decision')).toBeUndefined();
  expect(between(b, a, 'decision')).toBeUndefined();
  expect(between(a, '/health uses PostgreSQL', 'decision')).toBe('may contradict');
});

it('what says the contrary in nearly the same words contradicts, whatever the types are', () => {
  const [no, yes] = ['Inutile de vider le cache Redis du panier', 'Vider le cache Redis du panier'];
  const said = (type: string, text: string) => ({ type, text, terms: analyse(text) });
  expect(relationOf(said('decisions', no), said('agent-learnings', yes), undefined)).toBe('may contradict');
  expect(relationOf(said('decisions', yes), said('agent-learnings', yes), undefined)).toBe('near-duplicate');
});
