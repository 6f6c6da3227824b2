import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { checkFailures } from './failures.ts';

const files = {
  '_bmad/_memory/failure-museum.md': `## 🔴 Critiques

### [2026-02-10] [dev] CC-FAIL — Livré sans lancer les tests d'intégration
**Ce qui s'est passé** : la story a été déclarée terminée, les tests étaient rouges
**Règle instaurée** : aucun « terminé » sans contrat vert

## 🟡 Importantes

### [2026-03-10] [architect] WRONG-ASSUMPTION — Horloge supposée en UTC
**Leçon** : lire la configuration du fuseau
`,
};
const session = await memorySession(afterAll, { files });

describe('check_failures', () => {
  it('warns of a plan that repeats a failure, with the rule to keep', async () => {
    const { data, answer } = await session.ok(checkFailures, {
      change: 'Déclarer la story terminée sans lancer les tests',
    });
    expect(data).toMatchObject({
      compared: 2,
      warnings: [{ category: 'CC-FAIL', severity: 'critical' }],
      rules: ['aucun « terminé » sans contrat vert'],
    });
    expect(answer.body).toContain('Rules to keep:');
  });

  it('names the nearest and leaves the judgement to the reader', async () => {
    const { answer, data } = await session.ok(checkFailures, {
      change: 'Translate the labels of the settings page, and write one more story with tests for contrast',
    });
    expect(data).toMatchObject({ compared: 2, warnings: [{ severity: 'critical' }] });
    expect(answer.body).toMatch(/^Past failures, the nearest first \(\d of 2\):\n- \[critical\] CC-FAIL/);
    expect(answer.body).not.toMatch(/risk|\d %/i);
  });

  it('knows when nothing is alike, and when there is nothing to compare with', async () => {
    const { answer, data } = await session.ok(checkFailures, { change: 'Rename a style class' });
    expect(data).toMatchObject({ warnings: [], rules: [] });
    expect(answer.body).toBe('None of 2 past failures has anything in common with it.');
    const empty = await memorySession(onTestFinished, { files: {} });
    expect((await empty.ok(checkFailures, { change: 'anything' })).answer.body).toBe(
      'No failures are recorded yet.',
    );
  });

  it('compares with what was only remembered, too', async () => {
    await session.remember('failures', 'qa', 'Backups were never restored before the migration');
    const { data } = await session.ok(checkFailures, { change: 'Run the migration, backups are there' });
    expect(data['warnings']).toMatchObject([{ agents: ['qa'] }]);
  });

  it('compares meaning where there is an embedder', async () => {
    const other = await memorySession(onTestFinished, { files, flags: {} });
    const { data } = await other.ok(checkFailures, {
      change: 'Mark the user story as done although the integration tests have not been run',
    });
    expect(data['warnings']).toMatchObject([{ category: 'CC-FAIL' }]);
  });

  it('wants to know what is planned', async () => {
    expect((await session.fail(checkFailures, { change: ' ' })).code).toBe('invalid_input');
  });
});
