import { describe, expect, it } from 'vitest';
import { GRIMOIRE_FILES, NEW_MUSEUM } from '../../../tests/support/kit-trees.ts';
import { categoryOf, severityOf, museumIn, museumLog } from './museum.ts';

describe('museumIn', () => {
  it('finds nothing in a new museum: its entries are examples', () => {
    expect(museumIn(NEW_MUSEUM, 'm.md')).toEqual([]);
  });

  it('reads the fields of an entry and the severity of its section', () => {
    const text =
      '## 🔴 Top\n\n### [2026-02-10] [dev] CC-FAIL — Tests non exécutés\n**Ce qui s’est passé** : un\ndeux\n**Cause racine** : hâte\n' +
      '**Impact** : revert\n**Leçon** : vérifier\n**Règle instaurée** : pas de fin sans CC\n';
    expect(museumIn(text, 'm.md')).toMatchObject([
      {
        title: 'Tests non exécutés',
        category: 'CC-FAIL',
        severity: 'critical',
        date: '2026-02-10',
        agents: ['dev'],
        happened: 'un deux',
        cause: 'hâte',
        impact: 'revert',
        lesson: 'vérifier',
        rule: 'pas de fin sans CC',
        line: 3,
      },
    ]);
  });

  it.each([
    ['### [2026-01-01] CC-FAIL — x', 'CC-FAIL', 'x', []],
    ['### [2026-01-01] [dev] [CC-FAIL] — x', 'CC-FAIL', 'x', ['dev']],
    ['### [2026-01-01] [ARCH-MISTAKE] x', 'ARCH-MISTAKE', 'x', []],
    [
      '### [2026-01-01] [dev] HALLUCINATION — an API that is not there',
      'HALLUCINATION',
      'an API that is not there',
      ['dev'],
    ],
    ['### [2026-01-01] [dev] cc-fail : x', 'CC-FAIL', 'x', ['dev']],
    ['### [2026-01-01] [Mauvaise hypothèse] x', 'WRONG-ASSUMPTION', 'x', []],
    ['### [2026-01-01] [dev] Perte de contexte — x', 'CONTEXT-LOSS', 'x', ['dev']],
    ['### [2026-01-01] [dev] NEW-KIND — x', 'UNKNOWN', 'NEW-KIND — x', ['dev']],
    ['### [2026-01-01] [dev] Sans catégorie', 'UNKNOWN', 'Sans catégorie', ['dev']],
  ])('understands the heading %s', (heading, category, title, agents) => {
    expect(museumIn(`## Erreurs importantes 🟡\n${heading}\n- Leçon : a\n`, '')).toMatchObject([
      { category, title, agents, severity: 'important', lesson: 'a' },
    ]);
  });

  it('reads old lines with a date', () => {
    expect(museumIn('## Critical errors\n\n- [2026-02-01] Une ligne\n- sans date\n', '')).toMatchObject([
      { title: 'Une ligne', severity: 'critical', date: '2026-02-01', line: 3 },
    ]);
  });

  it('reads the page of the other family', () => {
    const page = GRIMOIRE_FILES['_grimoire/_memory/failure-museum.md'] ?? '';
    expect(museumIn(page, '')).toMatchObject([
      {
        id: 'FM-001',
        severity: 'micro',
        status: 'resolved',
        date: '2026-03-01',
        agents: ['dev'],
        fix: 'le correctif',
        rule: 'Une règle',
      },
    ]);
  });
});

describe('museumLog', () => {
  it('reads one failure a line and tells of lines that are no JSON', () => {
    const problems: string[] = [];
    const log = `${GRIMOIRE_FILES['_grimoire/_memory/failure-museum.jsonl'] ?? ''}{broken\n[]\n`;
    expect(museumLog(log, 'm.jsonl', problems)).toMatchObject([
      { id: 'FM-001', severity: 'micro', category: 'UNKNOWN', rule: 'Une règle' },
      { id: 'FM-002', severity: 'critical', status: 'open', category: 'CC-FAIL', line: 2 },
    ]);
    expect(problems).toEqual(['m.jsonl:3 is not valid JSON and was skipped.']);
  });
});

describe('severityOf', () => {
  it.each([
    ['🔴 Top Erreurs Critiques', 'critical'],
    ['Erreurs Importantes 🟡', 'important'],
    ['🟢 Micro-Erreurs', 'micro'],
    ['Critical failures', 'critical'],
    ['high', 'critical'],
    ['medium', 'important'],
    ['low', 'micro'],
    ['CRITIQUE', 'critical'],
    ['Sévérité : Élevée', 'critical'],
    ['severity:HIGH', 'critical'],
    ['Bloquant', 'critical'],
    ['Moyenne', 'important'],
    ['Importantes', 'important'],
    ['Mineure', 'micro'],
    ['Highlights', 'unknown'],
    ['Leçons majeures de la phase', 'unknown'],
    ['📊 Statistiques', 'unknown'],
  ])('%s is %s', (title, severity) => {
    expect(severityOf(title)).toBe(severity);
  });
});

describe('categoryOf', () => {
  it.each([
    ['cc-fail', 'CC-FAIL'],
    ['Wrong assumption', 'WRONG-ASSUMPTION'],
    ['mauvaise hypothèse', 'WRONG-ASSUMPTION'],
    ['Perte de contexte', 'CONTEXT-LOSS'],
    ['hallucinations', 'HALLUCINATION'],
    ['erreur d’architecture', 'ARCH-MISTAKE'],
    ['étape sautée', 'PROCESS-SKIP'],
    ['process_skip', 'PROCESS-SKIP'],
    ['NEW-KIND', undefined],
    ['Sans catégorie', undefined],
  ])('%s is %s', (word, category) => {
    expect(categoryOf(word)).toBe(category);
  });
});
