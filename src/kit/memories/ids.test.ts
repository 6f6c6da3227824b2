import { describe, expect, it } from 'vitest';
import { appId, slug } from '../configuration.ts';
import { memoryId } from './entries.ts';

const APP = 'bmad-mon-projet-été';

describe('ids of memories', () => {
  it.each([
    [
      'atlas',
      'Choix Qdrant local plutôt que Pinecone — zéro API key',
      '728cfd79-2a3f-5f9a-ad84-d776ac131a77',
    ],
    ['phoenix', 'é'.repeat(160), '022f964e-649a-585f-bad2-deec938ac46f'],
    ['phoenix', `${'é'.repeat(150)}DIFFERENT TAIL`, '022f964e-649a-585f-bad2-deec938ac46f'],
    ['dev', `${'😀'.repeat(100)}abc`, '14b1b781-5f4b-58da-9ab3-7f670746947a'],
    ['sm', '', '2d94ae26-6b6a-5d28-87ca-e3f6929e138e'],
    ['atlas', 'same text', 'fea04700-2d6a-536b-9448-9468281675af'],
  ])('of %s: %j is the same everywhere', (agent, text, id) => {
    expect(memoryId(APP, agent, text)).toBe(id);
  });

  it('are the same as those the kit has made for other projects', () => {
    expect(memoryId('bmad-demo-shop', 'architect', "JWT stateless pour l'auth")).toBe(
      '19974dff-3aaf-5c43-a935-600854d5450d',
    );
    expect(memoryId('bmad-demo-shop', 'dev', 'é'.repeat(200))).toBe('4aaf3122-879f-577d-afbf-bf4477b5dee2');
  });

  it('take the name of the project as the kit does', () => {
    expect(appId('bmad', 'Mon Projet Été')).toBe(APP);
    expect(appId('grimoire', 'grimoire-project')).toBe('grimoire-grimoire-project');
    expect(slug('Alice Martin')).toBe('alice-martin');
  });
});
