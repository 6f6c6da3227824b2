import { afterAll, describe, expect, it } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { complete } from './prompts.ts';
import { read } from '../catalogue/read.ts';
import { listResources, readResource } from './resources.ts';
import { saveSession } from '../runs/run-operations.ts';

const session = await memorySession(afterAll);
const textOf = async (uri: string): Promise<unknown> =>
  (await session.ok(readResource, { uri })).data['text'];

describe('resources of the project', () => {
  it('are listed', async () => {
    const { data } = await session.ok(listResources);
    const uris = (data['items'] as { uri: string }[]).map(({ uri }) => uri);
    expect(uris.filter((uri) => uri.startsWith('bmad://project/'))).toEqual([
      'bmad://project/context',
      'bmad://project/decisions',
      'bmad://project/failures',
      'bmad://project/session',
    ]);
  });

  it('are read', async () => {
    expect(await textOf('bmad://project/context')).toContain('# Corner Shop');
    expect(await textOf('bmad://project/decisions')).toContain('PostgreSQL');
    expect(await textOf('bmad://project/failures')).toContain('Livré sans lancer les tests');
    expect(await textOf('bmad://project/agents/Atlas')).toContain('monorepo');
    expect(await textOf('bmad://project/session')).toContain('No session');
    await session.ok(saveSession, { agent: 'dev', next: 'CI' });
    expect(await textOf('bmad://project/session')).toContain('## Prochaine étape recommandée');
  });

  it('are read by "read" too, by section', async () => {
    const { data } = await session.ok(read, { target: 'bmad://project/context', section: 'Decisions' });
    expect(data).toMatchObject({ origin: 'project', text: expect.stringContaining('PostgreSQL') });
  });

  it('refuse agents that lead away or are not there', async () => {
    for (const name of ['..%2Fx', '%2e%2e', 'a%5Cb'])
      expect((await session.fail(readResource, { uri: `bmad://project/agents/${name}` })).code).toBe(
        'forbidden',
      );
    expect((await session.fail(readResource, { uri: 'bmad://project/agents/nobody' })).code).toBe(
      'not_found',
    );
    expect((await session.fail(readResource, { uri: 'bmad://project/other' })).code).toBe('not_found');
  });

  it('have completions', async () => {
    const { data } = await session.ok(complete, { what: 'project_agent', value: 'full' });
    expect(data['values']).toEqual(['fullstack-dev']);
  });
});
