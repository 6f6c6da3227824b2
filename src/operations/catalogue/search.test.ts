import { afterAll, describe, expect, it } from 'vitest';
import { openSession, saidIn } from '../../../tests/support/operations.ts';
import { search } from './search.ts';

const session = await openSession(afterAll);

async function found(query: string, more: object = {}): Promise<string[]> {
  const { data } = await session.ok(search, { query, ...more });
  return (data['items'] as { name: string }[]).map(({ name }) => name);
}

async function items(query: string): Promise<{ name: string; why: string }[]> {
  return (await session.ok(search, { query })).data['items'] as { name: string; why: string }[];
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
    const { data } = await session.ok(search, { query: 'design', type: 'agents' });
    expect(new Set((data['items'] as { kind: string }[]).map(({ kind }) => kind))).toEqual(
      new Set(['agent']),
    );
    expect(await found('review', { module: 'core' })).not.toContain('code-review');
  });

  it('puts what replaced an old name first and the old name last', async () => {
    const names = await found('quick dev', { limit: 50 });
    expect(names[0]).toBe('build');
    expect(names.at(-1)).toBe('quick-dev');
    expect((await items('quick-dev'))[0]).toMatchObject({ name: 'build', why: 'replaces bmad-quick-dev' });
  });

  it.each(['create-story', 'dev-story'])(
    'puts %s, an old name that nothing replaced, first',
    async (name) => {
      expect((await items(name))[0]).toMatchObject({ name, why: 'old name' });
    },
  );

  it.each([
    ['I want to break my product down into stories', 'create-epics-and-stories'],
    ['rédiger le cahier des charges', 'prd'],
    ['ARCHITECTE', 'architect'],
    ['retrospectiv', 'retrospective'],
    ['bmm/architect', 'architect'],
    ['PRDs', 'prd'],
    ['write the product requirements', 'prd'],
    ['exigences produit', 'prd'],
    ['écrire les exigences du produit', 'prd'],
  ])('understands %j as %s', async (query, best) => {
    expect((await found(query))[0]).toBe(best);
  });

  it.each([
    ['code-review', 'name'],
    ['Winston', 'alias'],
    ['user stories', 'title: stories; description: user; meaning 0.'],
    ['étude de la concurrence', 'description: research, competitive; meaning 0.'],
  ])('says for %j why: %s', async (query, why) => {
    expect((await items(query))[0]?.why).toContain(why);
  });

  it('filters by module, phase and origin', async () => {
    const all = async (more: object): Promise<string[]> => found('review', { limit: 200, ...more });
    expect(await all({ module: 'CORE' })).toContain('review');
    expect(await all({ module: 'CORE' })).not.toContain('code-review');
    expect(await all({ category: 'ship' })).toContain('code-review');
    expect(await all({ category: 'ship' })).not.toContain('prd');
    expect(await all({ origin: 'package' })).toEqual(await all({}));
    expect(await all({ category: 'deprecated' })).toContain('editorial-review');
    expect(await all({ category: 'deprecated' })).not.toContain('review');
    expect(await all({ type: 'skills' })).not.toContain('code-review');
  });

  it.each([
    [{ module: 'bmx' }, /no module "bmx"/, /Known modules: core, bmm|Known modules: bmm, core/],
    [
      { category: 'plans' },
      /no category "plans"/,
      /Categories: analysis, .* Phases of this BMAD: .*plan, ship/,
    ],
    [{ origin: 'team' }, /no origin "team"/, /Known origins: "package", "BMAD .* \(built in\)"/],
  ])('names what there is for %j', async (filter, message, hint) => {
    const error = await session.fail(search, { query: 'review', ...filter });
    expect(error.message).toMatch(message);
    expect(error.text).toMatch(hint);
  });

  it('says which types there are', async () => {
    const error = await session.fail(search, { query: 'review', type: 'files' });
    expect(error.text).toContain('knowledge');
  });

  it('says how to start the best hit', async () => {
    const { answer } = await session.ok(search, { query: 'prd', limit: 1 });
    expect(answer.note).toMatch(/^1 of \d+ matches, best first\.$/);
    expect(saidIn(answer)).toContain('Start the first: bmad {operation:"execute", workflow:"prd"}');
  });

  it.each([
    'product requirements',
    'define what my app must do',
    'décrire ce que mon application doit faire',
  ])('has the workflow whose abbreviation stands for %j among the first three', async (query) => {
    expect((await found(query)).slice(0, 3)).toContain('prd');
  });

  it.each(['define what my app must do', 'décrire ce que mon application doit faire'])(
    'has it first for %j, and no group discussion that shares one word',
    async (query) => {
      expect((await found(query))[0]).toBe('prd');
    },
  );

  it.each(['make me a coffee', 'le chat dort sur le canapé'])(
    'starts nothing for %j, and judges nothing',
    async (query) => {
      const { answer, data } = await session.ok(search, { query });
      expect(data['weak']).toBe(true);
      expect(answer.note).toMatch(/^\d+ of \d+ matches, best first\./);
      expect(saidIn(answer)).toContain('List the workflows: bmad {operation:"list", query:"workflows"}');
      expect(saidIn(answer)).not.toContain('Start');
    },
  );

  it.each(['what should I do after a story is built', 'review my code', 'a tool that keeps a reading list'])(
    'says of %j what names it matches, and that next knows the project (J-E16)',
    async (query) => {
      const { answer } = await session.ok(search, { query });
      expect(answer.steps).toContainEqual({ operation: 'next', why: 'See what comes next in this project' });
    },
  );

  it('has why something matched for those who ask for everything', async () => {
    const { answer } = await session.ok(search, { query: 'review', limit: 1 });
    expect(answer.body).not.toMatch(/meaning|\[/);
    const full = (await session.ok(search, { query: 'review my code', limit: 1, detail: 'full' })).answer;
    expect(full.body).toMatch(/\[title: code, review; meaning [\d.]+\]$/);
    expect(full.note).toMatch(/, ~\d+ tokens\.$/);
  });

  it('says how to read on', async () => {
    const { answer } = await session.ok(search, { query: 'review', limit: 1 });
    expect(answer.steps?.at(-1)).toEqual({
      operation: 'search',
      args: { query: 'review', limit: 1, cursor: expect.stringMatching(/^l/) as string },
      why: 'Read the next part',
    });
  });

  it.each([
    ['brackets', '((('],
    ['a pattern', '.*(a+)+$'],
    ['a backslash', '\\'],
    ['a NUL', '\0'],
    ['a lone surrogate', '\ud83d story'],
    ['one long word', 'x'.repeat(100_000)],
    ['many words', 'story épic '.repeat(9_000)],
    ['an emoji', '👩‍💻'],
    ['several scripts', 'база 仕様 قصة'],
  ])('survives %s', async (_, query) => {
    const { answer } = await session.ok(search, { query });
    expect(answer.body.length).toBeLessThan(10_000);
  });

  it('answers in words when nothing matches', async () => {
    expect((await session.ok(search, { query: 'zzzzqqqq' })).answer).toEqual({
      body: 'Nothing matches "zzzzqqqq".',
      note: 'Try other words.',
      steps: [
        { operation: 'list', args: { what: 'workflows' }, why: 'List the workflows' },
        { operation: 'next', why: 'See what comes next in this project' },
      ],
    });
  });

  it('wants words', async () => {
    expect((await session.fail(search, { query: '   ' })).code).toBe('invalid_input');
  });
});
