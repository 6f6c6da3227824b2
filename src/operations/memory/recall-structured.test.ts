import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { embeddingServer } from '../../../tests/support/embedding-server.ts';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { saveSession } from '../runs/run-operations.ts';
import { recallStructured } from './recall-structured.ts';

const session = await memorySession(afterAll);
let orders = '';

beforeAll(async () => {
  orders = await session.remember('decisions', 'architect', 'Orders are kept in PostgreSQL', [
    'db',
    'orders',
  ]);
  await session.remember('decisions', 'pm', 'Orders can be cancelled for one day', ['orders']);
  await session.remember('failures', 'dev', 'The migration of the orders table locked production');
  await session.remember('agent-learnings', 'stack', 'Les commandes annulées restent visibles');
});

describe('recall_structured', () => {
  it('looks across all types, and has its scores in the data alone (J-O13)', async () => {
    const hits = await session.recall('orders', { limit: 10 });
    expect(new Set(hits.map(({ type }) => type))).toEqual(new Set(['decisions', 'failures']));
    expect(hits.every(({ score, words, matched }) => score > 0 && words > 0 && matched.length > 0)).toBe(
      true,
    );
    const { answer } = await session.ok(recallStructured, { query: 'orders postgres' });
    expect(answer.body).toMatch(
      /^1\. \[decisions\] architect, \d{4}-\d{2}-\d{2}, #db #orders\n {3}Orders are kept/,
    );
    expect(answer.body).not.toMatch(/score|words \d/);
  });

  it('shows what has none of the words last, nearest in meaning first, and says so (J-E3)', async () => {
    const own = await memorySession(onTestFinished, { files: {}, flags: {} });
    const text = 'readlist keeps its Items in one JSON file, not SQLite: read and written whole';
    await own.remember('decisions', 'architect', text, ['storage']);
    for (const other of ['Version 1 has add, list and done', 'The usage text was out of date'])
      await own.remember('decisions', 'dev', other);
    for (const query of ['persistence', 'where is the data stored', 'storage format', 'storage'])
      expect(
        (await own.recall(query)).map(({ snippet }) => snippet),
        query,
      ).toContain(text);
    expect((await own.ok(recallStructured, { query: 'persistence' })).answer.body).toMatch(
      /^The nearest in meaning; none shares a word with the question:\n1\. /,
    );
    expect((await own.recall('storage'))[0]?.snippet).toBe(text);
  });

  it('M-27: finds a French verb by its noun', async () => {
    const own = await memorySession(onTestFinished);
    await own.remember('decisions', 'architect', 'Nous déployons sur k3s');
    await own.remember('decisions', 'architect', 'Les factures sont archivées dix ans');
    const hits = await own.recall('déploiement', { limit: 5 });
    expect(hits[0]).toMatchObject({ snippet: 'Nous déployons sur k3s' });
    expect(hits[0]?.words).toBeGreaterThan(0);
  });

  it.each(['sqlite', 'memory'])(
    'finds what names an identifier, and nothing that names another, in %s',
    async (engine) => {
      const own = await memorySession(onTestFinished, { env: { BMAD_MEMORY_ENGINE: engine } });
      await writeFile(
        join(own.folder, '_bmad/_memory/handoff-log.md'),
        '| 2026-02-28 10:00 | dev → qa | valider US-042 | ⏳ |\n',
      );
      for (const text of [
        'US-142 and us-0421 were cancelled',
        'ADR-7: messages go over NATS',
        'STORY-3.2 waits for its review',
        'Story 1-2-login is built',
        'Story 1-3-login-form is planned, 11-2-login was dropped',
      ])
        await own.remember('decisions', 'architect', text);
      const found = async (query: string): Promise<string[]> =>
        (await own.recall(query, { limit: 5 })).map(({ snippet }) => snippet);
      expect(await found('US-042')).toEqual(['dev → qa: valider US-042 ⏳']);
      expect(await found('ADR-7')).toEqual(['ADR-7: messages go over NATS']);
      expect(await found('STORY-3.2')).toEqual(['STORY-3.2 waits for its review']);
      expect(await found('1-2-login')).toEqual(['Story 1-2-login is built']);
      const { answer } = await own.ok(recallStructured, { query: 'US-077' });
      expect(`${answer.body}${answer.note ?? ''}`).toContain('Nothing here names US-077');
    },
  );

  it('takes tags for words, and shows all that a filter takes, the least related last (J-E3, B-13)', async () => {
    for (const flags of [{ embedder: 'none' }, { embedder: 'static' }]) {
      const own = await memorySession(onTestFinished, { flags, files: {} });
      const kept = await own.remember('decisions', 'forge', 'readlist keeps its Items in one JSON file', [
        'storage',
      ]);
      const other = await own.remember('decisions', 'forge', 'Deadlines are shown in local time');
      await own.remember('decisions', 'pm', 'Prices have two decimals');
      const ids = async (query: string, more: object = {}): Promise<string[]> =>
        (await own.recall(query, more)).map(({ id }) => id);
      for (const query of ['storage', 'storage format']) expect((await ids(query))[0], query).toBe(kept);
      expect(await ids('persistence', { tags: ['storage'] })).toEqual([kept]);
      expect(new Set(await ids('what did forge decide?', { agent: 'forge' }))).toEqual(
        new Set([kept, other]),
      );
      expect(await ids('items', { type: 'decisions' })).toHaveLength(3);
      expect((await ids('items', { type: 'decisions' }))[0]).toBe(kept);
      const { answer } = await own.ok(recallStructured, { query: 'which cup did the football team win' });
      expect(`${answer.body}${answer.note ?? ''}`).not.toMatch(/weak|perhaps/);
    }
  });

  it('shows a memory and its copies in files once', async () => {
    const [hit, ...rest] = await session.recall('kept in PostgreSQL');
    expect(hit).toMatchObject({ id: orders, stored: true });
    expect(hit?.sources.join()).toMatch(/decisions-log\.md:\d+/);
    expect(rest.map(({ snippet }) => snippet)).not.toContain('Orders are kept in PostgreSQL');
  });

  it('finds what only a file of the project has, and says where', async () => {
    expect((await session.recall('monorepo dépôt'))[0]).toMatchObject({
      stored: false,
      agent: 'project-navigator',
      sources: ['_bmad/_memory/atlas-learnings.md:1'],
    });
    expect((await session.recall('livré tests', { type: 'failures' }))[0]?.sources[0]).toContain(
      'failure-museum.md',
    );
    expect((await session.recall('verrou optimiste'))[0]?.sources).toEqual(['_bmad/_memory/memories.json']);
    expect((await session.recall('branches courtes'))[0]?.type).toBe('shared-context');
    expect(await session.recall('exemple commenté titre')).toEqual([]);
  });

  it.each([
    [{ type: 'failures' }, ['failures']],
    [{ agent: 'pm' }, ['decisions']],
    [{ tags: ['db', 'orders'] }, ['decisions']],
    [{ tags: ['db', 'nothing'] }, []],
    [{ agent: 'nobody' }, []],
    [{ since: '2100-01-01' }, []],
    [{ until: '2000-01-01' }, []],
    [{ min_score: 1.5 }, []],
  ])('keeps exactly to %j', async (filter, types) => {
    const hits = await session.recall('orders', { ...filter, limit: 50 });
    expect([...new Set(hits.map(({ type }) => type))]).toEqual(types);
  });

  it('knows an agent under all its names, and days as the user has them', async () => {
    const texts = async (more: object): Promise<string[]> =>
      (await session.recall('panier commandes', { limit: 20, ...more })).map(({ snippet }) => snippet);
    expect(await texts({ agent: 'fullstack-dev' })).toEqual(await texts({ agent: 'Stack' }));
    expect(await texts({ agent: 'stack' })).toContain('Les commandes annulées restent visibles');
    const thatDay = await texts({ since: '2026-02-10', until: '2026-02-10' });
    expect(thatDay[0]).toBe('Vider le cache Redis entre les tests du panier');
    expect(thatDay).not.toContain('Les commandes annulées restent visibles');
  });

  it('takes the question in other words too', async () => {
    expect(await session.recall('zebra')).toEqual([]);
    const [hit] = await session.recall('zebra', { alt_queries: ['production locked', 'nothing'] });
    expect(hit).toMatchObject({ type: 'failures', matched: ['product', 'lock'] });
  });

  it('shows a snippet first, and the whole text by id', async () => {
    const text =
      `${'Many words before it. '.repeat(40)}The needle is here. ${'And after. '.repeat(40)}`.trim();
    const id = await session.remember('stories', 'sm', text);
    const { data, answer } = await session.ok(recallStructured, { query: 'needle' });
    const [hit] = data['hits'] as { snippet: string }[];
    expect(hit?.snippet.length).toBeLessThan(300);
    expect(hit?.snippet).toContain('needle');
    expect(answer.steps).toMatchObject([{ operation: 'memory_get', args: { id } }]);
    expect((await session.ok(recallStructured, { query: id })).answer.body).toContain(text);
  });

  it('refuses a question of blanks', async () => {
    expect(await session.fail(recallStructured, { query: '   ' })).toMatchObject({
      code: 'invalid_input',
      subject: 'query',
    });
  });

  it('tells numbers apart', async () => {
    await session.remember('stories', 'dev', 'Story 2.3 waits for review');
    await session.remember('stories', 'dev', 'Story 1.1 waits for review');
    expect((await session.recall('Story 1.1'))[0]).toMatchObject({
      snippet: 'Story 1.1 waits for review',
      words: 1,
    });
    expect((await session.recall('story 2.3'))[0]).toMatchObject({ snippet: 'Story 2.3 waits for review' });
  });

  it('says so when nothing is known', async () => {
    const { answer, data } = await session.ok(recallStructured, { query: 'qqqq' });
    expect(answer.body).toMatch(
      /^No memory contains these words\. The latest decisions are:\n- \[decisions\] .*\n- .*\n- [^\n]*$/,
    );
    expect(data['latest']).toHaveLength(3);
    const narrow = await session.ok(recallStructured, { query: 'qqqq', until: '2000-01-01' });
    expect(narrow.answer.body).toBe('No memory contains these words.');
  });

  it('always ends with what it does not search, and the calls that do (36-1)', async () => {
    const own = await memorySession(onTestFinished, { files: {}, flags: {} });
    await own.remember('decisions', 'dev', 'readlist keeps everything in one JSON file');
    const at = { project: own.folder };
    await own.ok(saveSession, { agent: 'dev', work: ['Fixed the typo in the usage text'], ...at });
    for (const asked of [
      { query: 'JSON file' },
      { query: 'what did we do last time and what is left' },
      { query: 'usage text typo', type: 'stories' },
    ]) {
      const { answer } = await own.ok(recallStructured, { ...asked, ...at });
      const where = `project:${JSON.stringify(own.folder)}`;
      expect(answer.note?.split('\n').at(-1)).toBe(
        `Recall searches neither the project's documents (search_codebase {query:${JSON.stringify(asked.query)}, lang:"markdown", ${where}}) nor the last session (get_project_context {${where}}).`,
      );
    }
  });

  it.each([
    [{ limit: -1 }],
    [{ limit: 1e12 }],
    [{ limit: 'five' }],
    [{ limit: 0 }],
    [{ query: '' }],
    [{ since: 'yesterday' }],
    [{ type: 'all' }],
    [{ min_score: -1 }],
  ])('refuses %j', async (wrong) => {
    const error = await session.fail(recallStructured, { query: 'orders', ...wrong });
    expect(error.code).toBe('invalid_input');
  });

  it.each(['(((', 'a OR b NEAR c', '"', '*', '\0\uD800', 'x'.repeat(20_000), '👩‍💻', 'OR AND NOT'])(
    'survives %j',
    async (query) => {
      expect(await session.recall(query)).toBeInstanceOf(Array);
    },
  );
});

describe('recall_structured with an embedder', () => {
  it('finds by meaning what has no word in common, and degrades to words when it fails', async () => {
    const server = await embeddingServer(afterAll);
    const flags = { ollamaUrl: server.url };
    const meaning = await memorySession(afterAll, { flags, files: { 'package.json': '{}' } });
    await meaning.remember('decisions', 'dev', 'Postgres for the orders');
    const [hit] = await meaning.recall('database', { type: 'decisions' });
    expect(hit?.snippet).toBe('Postgres for the orders');
    expect(hit?.meaning).toBeGreaterThan(0.2);
    server.status = 500;
    const { data } = await meaning.ok(recallStructured, { query: 'postgres orders' });
    expect(String(data['notes'])).toMatch(/Words only, without meaning: Ollama .* answered with status 500/);
    expect((data['hits'] as unknown[]).length).toBeGreaterThan(0);
    // It is not asked again at once.
    const asked = server.asked.length;
    await meaning.recall('orders');
    expect(server.asked.length).toBe(asked);
  });
});
