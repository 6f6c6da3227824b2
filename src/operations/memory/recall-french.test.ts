import { describe, expect, it, onTestFinished } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';

describe('French and English words of our trade', () => {
  it('M-41: find what was noted in the other language', async () => {
    const { remember, recall } = await memorySession(onTestFinished, { files: {} });
    const id = await remember('decisions', 'architect', 'We use PostgreSQL as the database.');
    await remember('decisions', 'architect', 'On utilise des sessions de huit heures.');
    await remember('decisions', 'pm', 'Les utilisateurs reçoivent un courriel.');
    for (const query of ['base de données', 'base de donnees', 'quel SGBD utilise-t-on ?', 'database', 'BDD'])
      expect(
        (await recall(query)).map((hit) => hit.id),
        query,
      ).toEqual([id]);
    expect((await recall('who gets an e-mail?')).map(({ agent }) => agent)).toEqual(['pm']);
  });

  it('M-41: find by a kind what was decided by its name', async () => {
    const { remember, recall } = await memorySession(onTestFinished, { files: {} });
    const store = await remember('decisions', 'architect', 'PostgreSQL, pour ses transactions');
    const sign = await remember('decisions', 'architect', 'JWT sans état, jetons renouvelés');
    await remember('shared-context', 'dev', 'La variable DATABASE_URL est lue au démarrage');
    for (const query of ['Quelle base de données utilisons-nous ?', 'which database?', 'SGBD'])
      expect(
        (await recall(query)).map(({ id }) => id),
        query,
      ).toContain(store);
    for (const query of ["Qu'avons-nous décidé pour l'authentification ?", 'authentication'])
      expect(
        (await recall(query)).map(({ id }) => id),
        query,
      ).toEqual([sign]);
  });

  it('M-41: find it by its name also where its meaning alone is weak', async () => {
    const flags = { embedder: 'static' };
    const { remember, recall } = await memorySession(onTestFinished, { files: {}, flags });
    const store = await remember('decisions', 'architect', 'PostgreSQL — ACID');
    await remember('decisions', 'dev', 'chose caching strategy');
    await remember('shared-context', 'dev', '| `DATABASE_URL` | dev/prod | DSN base de données |');
    await remember('failures', 'architect', 'Stack supposé monolithe, contexte non chargé');
    for (const query of [
      "base de données : qu'a-t-on décidé et pourquoi ?",
      'Quelle base de données avons-nous choisie ?',
      'décisions sur la base de données',
      'what database was picked, and for what reason?',
    ])
      expect((await recall(query)).slice(0, 2), query).toContainEqual(expect.objectContaining({ id: store }));
  });

  it('M-41: are not found by a word that only says that something is used', async () => {
    const { remember, recall } = await memorySession(onTestFinished, { files: {} });
    await remember('decisions', 'architect', 'On utilise des sessions de huit heures.');
    expect(await recall('quel SGBD utilise-t-on ?')).toEqual([]);
    expect(await recall('utilise-t-on des sessions ?')).toHaveLength(1);
  });
});
