import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { getProjectContext } from '../project/project-context.ts';
import { logFailure } from '../project/failures.ts';
import { logLearning } from '../memory/remember.ts';
import { saveSession } from './run-operations.ts';

describe('save_session', () => {
  it('saves where the session left off, under the name of the agent’s file, with a copy', async () => {
    const session = await memorySession(onTestFinished);
    await session.ok(saveSession, { agent: 'Stack', work: ['cart', 'tests'], files: ['a.ts'], next: 'CI' });
    expect((await session.ok(getProjectContext)).data['session']).toMatchObject({
      agent: 'fullstack-dev',
      work: ['cart', 'tests'],
      files: ['a.ts'],
      next: 'CI',
    });
    const memory = join(session.folder, '_bmad/_memory');
    expect(await readFile(join(memory, 'session-state.md'), 'utf8')).toContain(
      '# État de Session — Corner Shop',
    );
    expect(await readdir(join(memory, 'session-summaries'))).toEqual([
      expect.stringMatching(/^\d{8}-\d{4}-fullstack-dev\.md$/),
    ]);
  });

  it('takes lists of texts as lines, and notes as the state (M-61)', async () => {
    const session = await memorySession(onTestFinished);
    await session.ok(saveSession, {
      agent: 'dev',
      notes: ['Cart works', 'Mail does not'],
      next: ['CI', 'Mail'],
    });
    expect((await session.ok(getProjectContext)).data['session']).toMatchObject({
      state: 'Cart works\nMail does not',
      next: 'CI\nMail',
    });
  });

  it.each([
    ['_bmad/_memory/config.yaml', 'communication_language: English\n', 'English'],
    [
      '_bmad/core/config.yaml',
      'document_output_language: english\ncommunication_language: French\n',
      'English',
    ],
    ['_bmad/config.toml', '[core]\ndocument_output_language = "Italian"\n', 'English'],
    ['project-context.yaml', 'user:\n  language: "English"\n', 'English'],
    ['project-context.yaml', 'user:\n  language: "Français"\n', 'French'],
    ['_bmad/_memory/config.yaml', 'communication_language: "{{user_language}}"\n', 'French'],
  ])('makes new files in the language that %s says: %j', async (path, text, language) => {
    const session = await memorySession(onTestFinished, {
      files: { '_bmad/_memory/decisions-log.md': '', [path]: text },
    });
    await session.ok(saveSession, { agent: 'dev', work: ['cart'] });
    await session.ok(logFailure, { title: 'Red tests', category: 'CC-FAIL', rule: 'Run them' });
    await session.ok(logLearning, { text: 'Run the migrations first', agent: 'dev' });
    const memory = join(session.folder, '_bmad/_memory');
    const written = await Promise.all(
      ['session-state.md', 'failure-museum.md', 'agent-learnings/dev.md'].map((name) =>
        readFile(join(memory, name), 'utf8'),
      ),
    );
    const words = {
      English: ['# Session State', '**Rule** : Run them', '> What this agent has learnt.'],
      French: ['# État de Session', '**Règle instaurée** : Run them', '> Apprentissages'],
    };
    const [state, museum, learnings] = words[language as 'English'];
    expect(written[0]).toContain(state);
    expect(written[1]).toContain(museum);
    expect(written[2]).toContain(learnings);
  });

  it('writes English where the project names no language and has no folder of the kit', async () => {
    const session = await memorySession(onTestFinished, { files: { '_bmad-output/prd.md': 'x' } });
    await session.ok(saveSession, { agent: 'dev', work: ['cart'] });
    const state = join(session.folder, '_bmad-output/.memory/session-state.md');
    expect(await readFile(state, 'utf8')).toContain('# Session State');
  });

  it('is kept with the user where the project has no memory folder; it needs a plain name', async () => {
    const session = await memorySession(onTestFinished, { files: {} });
    await session.ok(saveSession, { agent: 'dev', next: 'CI' });
    expect(await readdir(session.folder)).not.toContain('_bmad');
    expect((await session.ok(getProjectContext)).data['session']).toMatchObject({ agent: 'dev', next: 'CI' });
    expect((await session.fail(saveSession, { agent: '../dev' })).code).toBe('invalid_input');
  });
});

/** As the kit's own tool leaves it, with a section that somebody has added. */
const PAGE = `# État de Session — Boutique

> Ce fichier est mis à jour à chaque fin de session par l'agent actif.

## Dernière Session

| Champ | Valeur |
|-------|--------|
| **Agent** | stack |
| **Date** | 2026-03-01 10:00 |
| **Durée estimée** | 2 h |

## Travail effectué

> Liste des actions concrètes réalisées

- Le panier

## Fichiers modifiés

> Fichiers créés ou modifiés

- (aucun)

## État actuel

> Ce qui fonctionne / ne fonctionne pas

Tout marche.

## Prochaine étape recommandée

> Action précise pour la prochaine session

Les tests

## Requêtes inter-agents générées

> Requêtes ajoutées au contexte partagé

- (aucune)

## À garder

Une note de l’équipe.
`;

describe('M-49: a page that somebody else has written', () => {
  it('keeps its own words, in every part, and what was added to it', async () => {
    const session = await memorySession(onTestFinished, {
      files: { '_bmad/_memory/session-state.md': PAGE },
    });
    await session.ok(saveSession, { agent: 'dev', work: ['Le paiement'], next: 'La facture' });
    const page = await readFile(join(session.folder, '_bmad/_memory/session-state.md'), 'utf8');
    const expected = PAGE.replace('stack', 'dev')
      .replace(/2026-03-01 10:00/, /\d{4}-\d{2}-\d{2} \d{2}:\d{2}/.exec(page)?.[0] ?? '')
      .replace('2 h', '—')
      .replace('Le panier', 'Le paiement')
      .replace('Tout marche.', '(aucun état enregistré)')
      .replace('Les tests', 'La facture');
    expect(page).toBe(expected);
    expect((await session.ok(getProjectContext)).data['session']).toMatchObject({
      agent: 'dev',
      work: ['Le paiement'],
      next: 'La facture',
    });
  });

  it('has a trace that says what was done, not what comes next', async () => {
    const trace = '_bmad-output/BMAD_TRACE.md';
    const session = await memorySession(onTestFinished, {
      files: { '_bmad/_memory/session-state.md': PAGE, [trace]: '# Trace\n' },
    });
    await session.ok(saveSession, { agent: 'dev', work: ['Le paiement'], next: 'La facture' });
    const text = await readFile(join(session.folder, trace), 'utf8');
    expect(text).toMatch(/CHECKPOINT.*Le paiement/);
    expect(text).not.toContain('La facture');
  });
});
