import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { agentFile, makeRepository } from '../../../tests/support/git-repository.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { sourcesResolve, sourcesUpdate } from './sources.ts';
import { sourcesApprove } from './sources-review.ts';

const env = { PATH: process.env['PATH'] };

async function setUp(flags: { git?: string[] } = {}) {
  const parent = await temporaryFolder(afterAll);
  const cache = join(parent, 'cache');
  const repository = await makeRepository(parent, 'team', { 'agents/ada.md': agentFile('ada') });
  const git = flags.git?.map((tail) => `${repository.source}${tail}`) ?? [];
  const session = await openSession(afterAll, { env, flags: { cache, git } });
  const textAt = async (source: string): Promise<string> => {
    const { data } = await session.ok(sourcesResolve, { source });
    return readFile(join(String(data['folder']), 'agents/ada.md'), 'utf8');
  };
  return { parent, cache, repository, session, textAt };
}

describe('sources_resolve', () => {
  it('gives what the remote of an unknown source has now, and the last copy when it cannot be asked', async () => {
    const { parent, cache, repository, session, textAt } = await setUp();
    const source = `${repository.source}#main`;
    expect(await textAt(source)).toBe(agentFile('ada'));
    const commit = await repository.commit({ 'agents/ada.md': agentFile('ada', 'New') });
    expect(await textAt(source)).toBe(agentFile('ada', 'New'));
    expect((await session.ok(sourcesResolve, { source })).data['commit']).toBe(commit);
    const offline = await openSession(afterAll, { env: { PATH: parent }, flags: { cache } });
    expect((await offline.ok(sourcesResolve, { source })).data['commit']).toBe(commit);
    expect(await offline.fail(sourcesResolve, { source: `${repository.source}#other` })).toMatchObject({
      code: 'unavailable',
    });
    await rm(repository.folder, { recursive: true });
    expect((await session.fail(sourcesResolve, { source })).code).toBe('not_found');
  });

  it('gives the approved content of a configured source', async () => {
    const { repository, session, textAt } = await setUp({ git: ['#main'] });
    const source = `${repository.source}#main`;
    expect(await textAt(source)).toBe(agentFile('ada'));
    const commit = await repository.commit({ 'agents/ada.md': agentFile('ada', 'New') });
    expect(await textAt(source)).toBe(agentFile('ada'));
    await session.ok(sourcesUpdate);
    await session.ok(sourcesApprove, { commit });
    expect(await textAt(source)).toBe(agentFile('ada', 'New'));
  });

  it('refuses what is no git source, and shows no credentials', async () => {
    const { session } = await setUp();
    expect((await session.fail(sourcesResolve, { source: 'ext::sh -c id' })).code).toBe('invalid_input');
    const error = await session.fail(sourcesResolve, {
      source: 'git+https://ada:hunter2hunter2@localhost:1/org/repo.git',
    });
    expect(error.code).toBe('unavailable');
    expect(JSON.stringify(error.text)).not.toContain('hunter2');
  });
});
