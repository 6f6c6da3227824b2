import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { getFailureMuseum, logFailure } from '../project/failures.ts';
import { logDecision, logLearning, rememberStructured } from './remember.ts';
import { memoryGet, memorySupersede } from './memory-operations.ts';

const FRENCH = { '_bmad/_memory/config.yaml': 'user_name: Alice\ncommunication_language: Français\n' };
const session = await memorySession(afterAll, { files: { ...FRENCH, '_bmad/_memory/memories.json': '[]' } });
const fileOf = (name: string): Promise<string> =>
  readFile(join(session.folder, '_bmad/_memory', name), 'utf8');

const english = {
  title: 'The story was closed before the tests had run',
  category: 'CC-FAIL',
  severity: 'critical',
  status: 'open',
};
const french = {
  title: 'La story a été fermée avant les tests',
  category: 'CC-FAIL',
  root_cause: 'le contrat n’a pas été lancé',
  status: 'open',
};

describe('the language of a project whose kit is in French', () => {
  it('M-49: is named where a text is in another one, with the call that says it in the right one', async () => {
    const text = 'Refunds are paid to the customer within two weeks';
    const given = { type: 'decisions', agent: 'pm', text };
    const { data, answer } = await session.ok(rememberStructured, given);
    const { id } = data['memory'] as { id: string };
    expect(answer.body).toContain('The text is in English; the language of this project is Français.');
    expect(answer.steps).toContainEqual({
      operation: 'memory_update',
      args: { id },
      open: ['text'],
      why: 'Say it in Français',
    });
    for (const [operation, input] of [
      [logDecision, { text: 'The cart is kept in the session of the customer', agent: 'pm' }],
      [logLearning, { text: 'Run all of the migrations before the tests', agent: 'dev' }],
      [logFailure, english],
    ] as const)
      expect((await session.ok(operation, input)).answer.body).toContain(
        'the language of this project is Français',
      );
  });

  it('says nothing of a text that is in it, or that cannot be told', async () => {
    for (const text of [
      'Les remboursements sont versés au client sous deux semaines',
      'PostgreSQL 16, pgbouncer, Redis 7',
      'Le helper `is_the_cart_in_the_session` est à éviter dans le panier',
    ]) {
      const { answer } = await session.ok(rememberStructured, { type: 'decisions', agent: 'pm', text });
      expect(answer.body).not.toContain('language of this project');
    }
  });

  it('M-49: is that of what is added to its files, and is read back', async () => {
    await session.ok(logFailure, french);
    const page = await fileOf('failure-museum.md');
    expect(page).toContain('**Cause racine** : le contrat n’a pas été lancé\n**Statut** : ouvert\n');
    const { data } = await session.ok(getFailureMuseum);
    expect(data['failures']).toContainEqual(
      expect.objectContaining({ title: french.title, status: 'open', root_cause: french.root_cause }),
    );
    expect(await fileOf('agent-learnings/dev.md')).toContain('> Apprentissages accumulés par cet agent.');
  });

  it('M-49: is that of a failure where there is no museum, too', async () => {
    const files = { 'project-context.yaml': 'project:\n  name: Boutique\nuser:\n  language: Français\n' };
    const other = await memorySession(onTestFinished, { files });
    const { data } = await other.ok(logFailure, french);
    const { answer } = await other.ok(memoryGet, { id: data['id'] });
    expect(answer.body).toContain('Cause racine : le contrat n’a pas été lancé\nStatut : ouvert');
    const museum = await other.ok(getFailureMuseum);
    expect(museum.data['failures']).toMatchObject([{ status: 'open', root_cause: french.root_cause }]);
  });

  it('M-49: gives way to that of a page that somebody has written in another one', async () => {
    const page =
      '# Contradictions\n\n## Resolved Contradictions\n\n| Detected | Resolved | Agent | Subject | Action |\n|---|---|---|---|---|\n';
    const other = await memorySession(onTestFinished, {
      files: { ...FRENCH, '_bmad/_memory/contradiction-log.md': page },
    });
    const old = await other.remember('decisions', 'pm', 'Le panier est vidé sous une heure');
    const by = await other.remember('decisions', 'pm', 'Le panier est vidé sous deux heures');
    await other.ok(memorySupersede, { id: old, by });
    const file = join(other.folder, '_bmad/_memory/contradiction-log.md');
    // An English page stays English.
    expect(await readFile(file, 'utf8')).toMatch(
      / \| Replaced by: Le panier est vidé sous deux heures \|\n$/,
    );
  });
});
