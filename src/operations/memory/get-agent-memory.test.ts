import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { KIT_FILES } from '../../../tests/support/kit-project.ts';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { getAgentMemory } from './get-agent-memory.ts';

const files = {
  ...KIT_FILES,
  '_bmad/_config/custom/agents/frontend-specialist.md':
    'AGENT_TAG=pixel | AGENT_NAME=Pixel | LEARNINGS_FILE=frontend-ux\n',
  '_bmad/_config/custom/agents/typescript-expert.md':
    'AGENT_TAG=pixel | AGENT_NAME=Pixel | LEARNINGS_FILE=frontend-ts\n',
  '_bmad/_memory/agent-learnings/frontend-ux.md': '- [2026-01-01] Contrastes\n',
  '_bmad/_memory/agent-learnings/frontend-ts.md': '- [2026-01-02] Types stricts\r\n',
  '_bmad/_memory/agent-learnings/project-knowledge.md': '- [2026-01-06] Deux dépôts\n',
  '_bmad/_memory/agent-learnings/architect.md': '- [2026-01-07] Couches\n',
};
const session = await memorySession(afterAll, { files });

interface Learning {
  text: string;
  agent: string;
  sources: string[];
  id?: string;
  date?: string;
}
const learnt = async (input: object): Promise<Learning[]> =>
  (await session.ok(getAgentMemory, input)).data['learnings'] as Learning[];

describe('get_agent_memory', () => {
  it('gives the newest first, undated ones last, each with its place', async () => {
    expect(await learnt({ agent: 'fullstack-dev' })).toMatchObject([
      { text: 'Le module panier nécessite un verrou optimiste', sources: ['_bmad/_memory/memories.json'] },
      { text: 'Une puce avec astérisque', date: '2026-02-20' },
      {
        text: 'Vider le cache Redis entre les tests du panier',
        sources: ['_bmad/_memory/agent-learnings/fullstack-dev.md:5'],
      },
      { text: 'Sans date du tout' },
    ]);
    expect(await learnt({ agent: 'fullstack-dev', last_n: 1 })).toHaveLength(1);
  });

  it.each(['project-navigator', 'atlas', 'Atlas', 'ATLAS', 'project-knowledge'])(
    'finds all files of an agent by the name %s',
    async (agent) => {
      expect((await learnt({ agent })).map(({ text }) => text)).toEqual([
        'Deux dépôts',
        'Le dépôt principal est un monorepo',
      ]);
    },
  );

  it('gives the learnings of both agents that share a tag', async () => {
    expect((await learnt({ agent: 'pixel' })).map(({ text, agent }) => [text, agent])).toEqual([
      ['Types stricts', 'typescript-expert'],
      ['Contrastes', 'frontend-specialist'],
    ]);
  });

  it('knows the agents of BMAD by their names, with and without learnings', async () => {
    expect((await learnt({ agent: 'architect' })).map(({ text }) => text)).toEqual(['Couches']);
    expect((await learnt({ agent: 'Winston' })).map(({ text }) => text)).toEqual(['Couches']);
    expect(await learnt({ agent: 'analyst' })).toEqual([]);
    const { answer } = await session.ok(getAgentMemory, { agent: 'analyst' });
    expect(answer.steps).toMatchObject([
      { operation: 'recall_structured', args: { agent: 'analyst' } },
      { operation: 'remember_structured', args: { type: 'agent-learnings', agent: 'analyst' } },
    ]);
  });

  it('joins a memory and its copy in the file', async () => {
    const id = await session.remember('agent-learnings', 'Atlas', 'Les services parlent par NATS');
    const [first] = await learnt({ agent: 'atlas' });
    expect(first).toMatchObject({ id, text: 'Les services parlent par NATS' });
    expect(first?.sources).toHaveLength(2);
  });

  it('ranks by a query, over files and the store', async () => {
    const found = await learnt({ agent: 'stack', query: 'cache redis' });
    expect(found[0]?.text).toBe('Vider le cache Redis entre les tests du panier');
    // What an agent has learnt is shown whole, whatever the question has in common with it.
    expect(await learnt({ agent: 'atlas', query: 'cache redis' })).not.toEqual([]);
  });

  it('ranks by meaning where there is an embedder', async () => {
    const other = await memorySession(onTestFinished, { files, flags: {} });
    const { data } = await other.ok(getAgentMemory, { agent: 'atlas', query: 'repository layout' });
    expect((data['learnings'] as Learning[]).map(({ text }) => text)).toContain(
      'Le dépôt principal est un monorepo',
    );
  });

  it('takes agent_id for agent', async () => {
    expect(await learnt({ agent_id: 'pixel' })).toHaveLength(2);
  });

  it('lists the agents there are when nobody has the name', async () => {
    const error = await session.fail(getAgentMemory, { agent: 'fullstak-dev' });
    expect(error).toMatchObject({
      code: 'not_found',
      suggestions: expect.arrayContaining(['fullstack-dev']),
    });
    expect(error.hint).toContain('project-navigator');
  });

  it.each(['../x', 'a/b', 'a\\b', '..', '.hidden', 'a\u0000b'])('refuses %j', async (agent) => {
    expect((await session.fail(getAgentMemory, { agent })).code).toBe('invalid_input');
  });

  it.each([0, -1, 1.5])('refuses last_n %d', async (last_n) => {
    expect((await session.fail(getAgentMemory, { agent: 'atlas', last_n })).code).toBe('invalid_input');
  });
});
