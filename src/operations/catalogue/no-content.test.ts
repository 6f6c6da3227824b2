import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { activate } from '../activation/activate.ts';
import { getAgentMemory } from '../memory/get-agent-memory.ts';
import { delegateToAgent } from '../delegation/delegate-to-agent.ts';
import { findPrompt } from '../client/prompts.ts';
import { next } from '../project/next.ts';
import { doctor } from '../server/doctor.ts';
import { getKnowledge } from './details.ts';
import { list } from './list.ts';
import { read } from './read.ts';
import { search } from './search.ts';

describe.each(['local', 'user', 'strict'])(
  'without content, with discovery "%s" (A-4)',
  async (discovery) => {
    const folder = await temporaryFolder(afterAll);
    const session = await openSession(afterAll, { flags: { project: folder, discovery } });
    const said = `No BMAD content was found: discovery is "${discovery}", so only `;

    it.each([
      ['architect', 'agent'],
      ['prd', 'workflow'],
    ])('the start of %s says so, and names no list', async (name, kind) => {
      const error = await session.fail(activate, { name, kind });
      expect(error.code).toBe('not_found');
      expect(error.hint).toContain(said);
      expect(error.steps).toEqual([{ operation: 'doctor', why: 'See why' }]);
    });

    it.each([
      ['a file', read, { target: 'bmad://core/config.yaml' }],
      ['a domain', getKnowledge, { domain: 'architecture' }],
      ['a prompt', findPrompt, { name: 'bmad-architect' }],
      ['the memory of an agent', getAgentMemory, { agent: 'architect' }],
      ['a delegation', delegateToAgent, { agent_id: 'architect', task: 'Review it' }],
    ] as const)('what asks for %s is told so', async (_what, operation, input) => {
      const error = await session.fail(operation, input);
      expect(error.code).toBe('not_found');
      expect(error.hint).toContain(said);
      expect(error.steps).toEqual([{ operation: 'doctor', why: 'See why' }]);
    });

    it('a search says so, and does not ask for other words', async () => {
      const { answer } = await session.ok(search, { query: 'architecture' });
      expect(answer.note).toContain(said);
      expect(answer.steps).toEqual([{ operation: 'doctor', why: 'See why' }]);
    });

    it('a list of what the server makes itself says so', async () => {
      const { answer } = await session.ok(list, { what: 'resources' });
      expect(answer.note).toContain(said);
    });

    it('next says so first', async () => {
      const { answer } = await session.ok(next);
      expect(answer.body.startsWith(said)).toBe(true);
    });

    it('doctor warns of it', async () => {
      const { data, answer } = await session.ok(doctor, { handshake: false });
      expect(data['warnings']).toContainEqual(expect.stringContaining(said));
      expect(answer.note).toBe('It works; see the warnings above.');
    });
  },
);
