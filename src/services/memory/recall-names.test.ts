import { afterAll, expect, it } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { openProject } from '../../../tests/memory/open-project.ts';
import { memoryList } from '../../operations/memory/memory-operations.ts';

const nfd = (text: string): string => text.normalize('NFD');
const files = {
  'project-context.yaml': 'project:\n  name: "Zoo"\n',
  '_bmad/_memory/agent-learnings/Élodie.md': `- [2026-01-02] Les girafes mangent ${nfd('à midi précisément')}\n`,
  [`_bmad/_memory/${nfd('Zoé')}-learnings.md`]: '- [2026-01-02] Les zèbres mangent à midi\n',
  '_bmad/_memory/memories.json': JSON.stringify([
    { id: 1, memory: 'Les lions mangent la nuit', metadata: { agent: 'ÉLODIE', tags: [nfd('savane été')] } },
  ]),
};
const session = await memorySession(afterAll, { files });
await session.remember('agent-learnings', 'ÉLODIE', 'Les tigres mangent le soir', [nfd('savane été')]);

it.each(['élodie', 'ÉLODIE', nfd('Élodie')])('agents are known in any case and form: %j', async (agent) => {
  const hits = await session.recall('qui mangent', { agent });
  expect(hits.map(({ snippet }) => snippet.split(' ')[1] ?? '').toSorted()).toEqual([
    'girafes',
    'lions',
    'tigres',
  ]);
  const { data } = await session.ok(memoryList, { agent });
  expect(data['total']).toBe(3);
});

it('agents named by files in the other form are found too', async () => {
  expect(await session.recall('zèbres', { agent: 'zoé' })).toHaveLength(1);
});

it.each(['savane été', nfd('savane été')])('tags are known in either form: %j', async (tag) => {
  const hits = await session.recall('qui mangent', { tags: [tag] });
  expect(hits.map(({ snippet }) => snippet.split(' ')[1] ?? '').toSorted()).toEqual(['lions', 'tigres']);
});

it.each(['à midi précisément', nfd('à midi précisément')])(
  'questions are understood in either form: %j',
  async (query) => {
    expect((await session.recall(query))[0]?.snippet).toContain('girafes');
  },
);

it('recall can be kept to one type and some agents', async () => {
  await session.remember('decisions', 'Élodie', 'Les tigres mangent aussi le matin');
  const memory = await openProject(session.folder);
  const ask = async (agents: string[]): Promise<string[]> => {
    const question = { query: 'mangent', limit: 50, type: 'agent-learnings', agents } as const;
    const { hits } = await memory.recall(question, undefined);
    return hits.map(({ entry }) => entry.text.split(' ')[1] ?? '').toSorted();
  };
  expect(await ask(['élodie'])).toEqual(['girafes', 'lions', 'tigres']);
  expect(await ask(['élodie', 'ZOÉ'])).toEqual(['girafes', 'lions', 'tigres', 'zèbres']);
  expect(await ask(['nobody'])).toEqual([]);
  expect(await ask([])).toHaveLength(4);
  await memory.close();
});
