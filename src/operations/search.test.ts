import { afterAll, describe, expect, it } from 'vitest';
import { openSession } from '../../tests/support/operations.ts';
import { search } from './search.ts';

const session = await openSession(afterAll);

async function found(query: string, more: object = {}): Promise<string[]> {
  const { data } = await session.ok(search, { query, ...more });
  return (data['items'] as { name: string }[]).map(({ name }) => name);
}

describe('search', () => {
  it.each([
    ['architect', 'architect'],
    ['Winston', 'architect'],
    ['write a prd', 'prd'],
    ['brainstorm', 'brainstorming'],
    ['code review', 'code-review'],
    ['party', 'party-mode'],
    ['user interface design', 'ux-designer'],
    ['retrospectve', 'retrospective'],
  ])('finds for %j first %s', async (query, best) => {
    expect((await found(query))[0]).toBe(best);
  });

  it('looks only where it is told', async () => {
    expect(await found('design', { type: 'agents' })).toEqual(expect.arrayContaining(['ux-designer']));
    expect(
      (await found('design', { type: 'agents' })).every((name) =>
        ['analyst', 'architect', 'dev', 'pm', 'ux-designer'].includes(name),
      ),
    ).toBe(true);
    expect(await found('review', { module: 'core' })).not.toContain('code-review');
  });

  it('never finds a deprecated name', async () => {
    expect(await found('quick dev', { limit: 50 })).not.toContain('quick-dev');
  });

  it('says how to start the best hit', async () => {
    const { answer } = await session.ok(search, { query: 'prd', limit: 1 });
    expect(answer.note).toMatch(
      /^1 of \d+ matches, best first\. Start the first with \{operation:"execute", workflow:"prd"\}\./,
    );
  });

  it.each(['(((', '.*', '\\', '\0', 'x'.repeat(100_000), '👩‍💻'])('survives %j', async (query) => {
    const { answer } = await session.ok(search, { query });
    expect(answer.body.length).toBeLessThan(10_000);
  });

  it('answers in words when nothing matches', async () => {
    expect((await session.ok(search, { query: 'zzzzqqqq' })).answer).toEqual({
      body: 'Nothing matches "zzzzqqqq".',
      note: 'Try other words, or {operation:"list", query:"workflows"}.',
    });
  });

  it('wants words', async () => {
    expect((await session.fail(search, { query: '   ' })).code).toBe('invalid_input');
  });
});
