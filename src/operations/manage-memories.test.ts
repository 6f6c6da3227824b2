import { afterAll, describe, expect, it } from 'vitest';
import { memorySession } from '../../tests/support/memory-session.ts';
import { manageMemories } from './manage-memories.ts';

const session = await memorySession(afterAll);
const id = await session.remember('decisions', 'dev', 'Something to be managed');

describe('manage_memories', () => {
  it.each([
    ['list', {}, 'Something to be managed'],
    ['get', { id }, 'Something to be managed'],
    ['count', { type: 'decisions' }, '1'],
    ['stats', {}, '1 memory'],
    ['status', {}, 'Engine: sqlite'],
    ['update', { id, text: 'Something that was managed' }, 'Revision 2'],
    ['forget', { id }, 'Forgotten'],
    ['restore', { id }, 'Restored'],
    ['supersede', { id }, 'Superseded'],
  ])('does %s', async (action, args, said) => {
    const { answer } = await session.ok(manageMemories, { action, ...args });
    expect(answer.body).toContain(said);
  });

  it.each([
    [{ action: 'destroy' }, 'action'],
    [{ action: 'get' }, 'id'],
    [{ action: 'list', id }, undefined],
    [{ action: 'list', limit: 1e12 }, 'limit'],
    [{}, 'action'],
  ])('refuses %j', async (args, subject) => {
    const error = await session.fail(manageMemories, args);
    expect(error).toMatchObject({ code: 'invalid_input', ...(subject === undefined ? {} : { subject }) });
  });
});
