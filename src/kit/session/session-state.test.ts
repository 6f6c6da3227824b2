import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/kit-project.ts';
import { kitIn } from '../../../tests/support/kit.ts';
import type { KitWithMemory } from '../kit.ts';
import { sessionIn, writeSession } from './session-state.ts';

const NOW = new Date(2026, 10, 15, 9, 5);
const SESSION = {
  agent: 'dev',
  work: ['cart page', 'its\ntests'],
  files: ['a.ts'],
  state: 'works\n# no heading',
  next: 'CI',
  requests: [],
};

async function project(
  page?: string,
): Promise<{ kit: KitWithMemory; read(name: string): Promise<string>; copies(): Promise<string[]> }> {
  const root = await temporaryFolder(onTestFinished);
  await writeFiles(root, {
    '_bmad/_memory/memories.json': '[]',
    ...(page === undefined ? {} : { '_bmad/_memory/session-state.md': page }),
  });
  const kit = await kitIn(root);
  const memory = kit.memory ?? '';
  return {
    kit: { ...kit, memory },
    read: (name) => readFile(join(memory, name), 'utf8'),
    copies: () => readdir(join(memory, 'session-summaries')),
  };
}

describe('sessionIn', () => {
  it('knows nothing from the page of a new project', () => {
    const page = '# État de Session\n\n| Champ | Valeur |\n|---|---|\n| **Agent** | — |\n| **Date** | — |\n';
    expect(sessionIn(page)).toBeUndefined();
    expect(sessionIn('')).toBeUndefined();
  });

  it('leaves out what stands for nothing', () => {
    const page =
      '## Dernière Session\n\n| Champ | Valeur |\n|---|---|\n| **Agent** | dev |\n| **Date** | 2026-11-14 23:56 |\n| **Durée estimée** | — |\n\n' +
      '## Travail effectué\n\n> indice\n\n- a\n- b\n\n## Fichiers modifiés\n\n- (aucun)\n\n## État actuel\n\n(aucun état enregistré)\n\n## Prochaine étape recommandée\n\ntester\n';
    expect(sessionIn(page)).toEqual({
      agent: 'dev',
      date: '2026-11-14 23:56',
      work: ['a', 'b'],
      files: [],
      state: undefined,
      next: 'tester',
      requests: [],
    });
  });
});

describe('writeSession', () => {
  it('writes the page and a copy, in the form that is read again', async () => {
    const { kit, read, copies } = await project();
    const { files } = await writeSession(kit, 'Demo Shop', SESSION, NOW);
    expect(files).toEqual([
      '_bmad/_memory/session-state.md',
      '_bmad/_memory/session-summaries/20261115-0905-dev.md',
    ]);
    const page = await read('session-state.md');
    expect(page.match(/^## .*$/gm)).toEqual([
      '## Dernière Session',
      '## Travail effectué',
      '## Fichiers modifiés',
      '## État actuel',
      '## Prochaine étape recommandée',
      '## Requêtes inter-agents générées',
    ]);
    expect(page).toContain('| **Date** | 2026-11-15 09:05 |');
    expect(sessionIn(page)).toMatchObject({ agent: 'dev', work: ['cart page', 'its tests'], next: 'CI' });
    expect(await read('session-summaries/20261115-0905-dev.md')).toBe(page);
    await writeSession(kit, 'Demo Shop', SESSION, NOW);
    expect(await copies()).toHaveLength(1);
  });

  it('keeps the copy of another session of the same minute', async () => {
    const { kit, copies } = await project();
    await writeSession(kit, 'Demo Shop', SESSION, NOW);
    await writeSession(kit, 'Demo Shop', { ...SESSION, next: 'rest' }, NOW);
    expect(await copies()).toEqual(['20261115-0905-dev-2.md', '20261115-0905-dev.md']);
  });

  it('keeps a page that somebody has written by hand, and its language and line ends', async () => {
    const own =
      '# Session State\r\n\r\n## Last Session\r\n\r\n| Field | Value |\r\n|---|---|\r\n| **Agent** | ../qa |\r\n| **Date** | 2026-11-01 08:00 |\r\n\r\n## Work done\r\n\r\n- by hand\r\n';
    const { kit, read, copies } = await project(own);
    await writeSession(kit, 'Demo Shop', SESSION, NOW);
    const page = await read('session-state.md');
    expect(page).toContain('## Recommended next step\r\n');
    expect(page.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    expect(await copies()).toEqual(['20261101-0800--qa.md', '20261115-0905-dev.md']);
    expect(await read('session-summaries/20261101-0800--qa.md')).toBe(own);
  });
});
