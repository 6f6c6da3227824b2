import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { recallStructured } from './recall-structured.ts';

const WEAK = 'All matches are weak';

describe('a question for a kind of memories', () => {
  let session: Awaited<ReturnType<typeof memorySession>>;
  beforeAll(async () => {
    session = await memorySession(afterAll);
    await session.remember('decisions', 'pm', 'Les commandes sont annulables pendant un jour');
    await session.remember('failures', 'dev', 'La migration a bloqué la production');
    await session.remember('agent-learnings', 'dev', 'Le décideur a échoué à joindre le serveur');
  });

  it.each([
    ['Qu’est-ce qui a été décidé ?', 'decisions'],
    ["Qu'est-ce qu'on a décidé jusqu'ici ?", 'decisions'],
    ['what did we decide', 'decisions'],
    ['What has been decided so far?', 'decisions'],
    ['Which decisions were made?', 'decisions'],
    ['Qu’est-ce qui a échoué ?', 'failures'],
    ['what went wrong', 'failures'],
    ['Quels sont nos échecs ?', 'failures'],
    ['Qu’avons-nous appris ?', 'agent-learnings'],
    ['what have we learned?', 'agent-learnings'],
  ])('lists that kind, newest first: %s', async (query, type) => {
    const { data } = await session.ok(recallStructured, { query, limit: 2 });
    const hits = data['hits'] as { type: string; createdAt: string; updatedAt: string }[];
    expect(hits.length).toBeGreaterThan(0);
    expect(new Set(hits.map((hit) => hit.type))).toEqual(new Set([type]));
    expect(hits[0]).toMatchObject({ stored: true });
    expect(JSON.stringify(data)).not.toContain(WEAK);
  });

  it('is ranked by words where it says more', async () => {
    const [hit] = await session.recall('Qu’est-ce qui a été décidé pour les messages ?');
    expect(hit?.snippet).toContain('NATS');
    expect(await session.recall('what did we decide about zebras')).toEqual([]);
  });

  it('keeps to the type, the agent and the limit', async () => {
    expect(await session.recall('what did we decide', { agent: 'nobody' })).toEqual([]);
    expect(await session.recall('what did we decide', { limit: 1 })).toHaveLength(1);
    const { answer } = await session.ok(recallStructured, { query: 'what did we decide', limit: 1 });
    expect(answer.note).toMatch(/^The newest 1 of \d+ decisions\./);
    // The list of memories knows only what is stored, and here files of the project have decisions too.
    const [step] = answer.steps ?? [];
    expect(step).toMatchObject({ operation: 'recall_structured', args: { type: 'decisions' } });
    const all = await session.ok(recallStructured, step?.args ?? {});
    expect(all.answer.note).toMatch(/all there are\.$/m);
  });

  it('leads to the list of memories where all of them are stored', async () => {
    const own = await memorySession(onTestFinished, { files: {} });
    await own.remember('decisions', 'pm', 'Orders can be cancelled for a day');
    await own.remember('decisions', 'pm', 'Prices include tax');
    const { answer } = await own.ok(recallStructured, { query: 'what did we decide', limit: 1 });
    expect(answer.steps).toMatchObject([{ operation: 'memory_list', args: { type: 'decisions' } }]);
  });
});

describe('that all matches are weak', () => {
  const isWeak = async (
    own: Awaited<ReturnType<typeof memorySession>>,
    query: string,
    more = {},
  ): Promise<boolean> =>
    JSON.stringify((await own.ok(recallStructured, { query, ...more })).data).includes(WEAK);

  it('is said where only one word of a long text is the same, and not of all there is of a type', async () => {
    const own = await memorySession(onTestFinished, { files: {} });
    await own.remember(
      'shared-context',
      'pm',
      'Agents déployés : Atlas navigue le projet, Stack développe le web, Probe vérifie la qualité, Mnemo garde la mémoire, Sentinel surveille la sécurité, Loop automatise la maintenance, Quill rédige la documentation technique',
    );
    await own.remember(
      'failures',
      'dev',
      'Le panier perd ses articles après une heure sans activité du client',
    );
    expect(await isWeak(own, 'Comment déployons-nous en production chaque semaine ?')).toBe(true);
    expect(await isWeak(own, 'déploiement production')).toBe(true);
    expect(await isWeak(own, 'quels articles du catalogue le fournisseur a-t-il retirés')).toBe(true);
    expect(
      await isWeak(own, 'quels articles du catalogue le fournisseur a-t-il retirés', { type: 'failures' }),
    ).toBe(false);
  });
});

describe('two memories that contradict each other', () => {
  it('are shown side by side, and named, where only one would be found', async () => {
    const own = await memorySession(onTestFinished);
    const old = await own.remember('decisions', 'architect', 'PostgreSQL garde les commandes et les clients');
    for (const part of ['images', 'factures', 'journaux', 'archives', 'traces', 'devis'])
      await own.remember('decisions', 'architect', `La base de données des ${part} est sauvegardée la nuit`);
    const fresh = await own.remember(
      'decisions',
      'architect',
      'La base de données du projet est désormais MongoDB, plus PostgreSQL',
    );
    for (const query of ['Quelle base de données utilisons-nous ?', 'base de données du projet MongoDB']) {
      const { data } = await own.ok(recallStructured, { query, limit: 3 });
      const ids = (data['hits'] as { id: string }[]).map(({ id }) => id);
      expect(ids, query).toHaveLength(3);
      expect(Math.abs(ids.indexOf(old) - ids.indexOf(fresh)), query).toBe(1);
      expect(JSON.stringify(data['notes']), query).toContain('contradict');
    }
  });
});
