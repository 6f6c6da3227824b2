import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { checkFailures } from './check-failures.ts';

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
      risk: 'high',
      compared: 2,
      warnings: [{ category: 'CC-FAIL', severity: 'critical' }],
      rules: ['aucun « terminé » sans contrat vert'],
    });
    expect(answer.body).toContain('Rules to keep:');
  });

  it('is as high as the worst failure that is similar enough, and says why', async () => {
    const similar = await session.ok(checkFailures, {
      change:
        'Rework the settings page of the shop, translate its labels, and have the tests of the integration run later than the story is closed',
    });
    expect(similar.data).toMatchObject({ risk: 'high', warnings: [{ severity: 'critical' }] });
    expect(similar.answer.body).toMatch(
      /^Risk: high\. A past failure \(critical\) is similar, by \d+ %: .*test/m,
    );
    const weak = await session.ok(checkFailures, {
      change:
        'Translate the labels of the settings page, order the icons, and write one more story about colours for the designers with tests for contrast',
    });
    expect(weak.data).toMatchObject({ risk: 'low', warnings: [{ severity: 'critical' }] });
    expect(weak.answer.body).toContain('Risk: low. The plan has only a few words in common with these');
    expect(weak.answer.body).toMatch(/^- \d+ %, a weak match: \[critical\] CC-FAIL/m);
  });

  it('knows when nothing is alike, and when there is nothing to compare with', async () => {
    expect((await session.ok(checkFailures, { change: 'Rename a style class' })).data).toMatchObject({
      risk: 'none',
      warnings: [],
    });
    const empty = await memorySession(onTestFinished, { files: {} });
    expect((await empty.ok(checkFailures, { change: 'anything' })).answer.body).toContain('No failures');
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
