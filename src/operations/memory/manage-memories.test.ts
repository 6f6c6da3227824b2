import { afterAll, describe, expect, it } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { manageMemories } from './memory-operations.ts';

const session = await memorySession(afterAll);
const id = await session.remember('decisions', 'dev', 'Something to be managed');

describe('manage_memories', () => {
  it.each([
    ['list', {}, 'Something to be managed'],
    ['get', { id }, 'Something to be managed'],
    ['count', { type: 'decisions' }, '5'],
    ['stats', {}, 'decisions 5'],
    ['status', {}, 'Index: sqlite'],
    ['update', { id, text: 'Something that was managed' }, 'Revision 2'],
    ['forget', { id }, 'Forgotten'],
    ['restore', { id }, 'Restored'],
    ['supersede', { id }, 'Superseded'],
  ])('does %s', async (action, args, said) => {
    const { answer } = await session.ok(manageMemories, { action, args });
    expect(answer.body).toContain(said);
  });

  it.each([
    ['at the top level', { action: 'list', all: true, limit: 5 }],
    ['at the top level, the rest empty', { action: 'list', all: true, id: '', by: null, text: '' }],
    ['as text', { action: 'list', args: '{"all":"true","limit":"5"}' }],
    ['in both places', { action: 'list', limit: 5, args: { all: true, type: 'decisions' } }],
  ])('takes arguments that were put %s', async (_where, input) => {
    expect((await session.ok(manageMemories, input)).answer.body).toContain('Something that was managed');
  });

  it('teaches the arguments of one action, and of all', async () => {
    const told = async (args: object): Promise<string> =>
      (await session.ok(manageMemories, { action: 'help', args })).answer.body;
    expect(await told({ action: 'supersede' })).toMatch(
      /^supersede: .*\n- id \(string, required\): Exact id/,
    );
    expect(await told({ action: 'memory_supersede' })).toBe(await told({ action: 'supersede' }));
    const all = await told({});
    for (const action of [
      'list',
      'get',
      'update',
      'forget',
      'restore',
      'supersede',
      'count',
      'stats',
      'status',
    ])
      expect(all).toContain(await told({ action }));
    const error = await session.fail(manageMemories, { action: 'help', args: { action: 'forgit' } });
    expect(error).toMatchObject({ code: 'invalid_input', suggestions: ['forget'] });
  });

  it.each([
    [{ action: 'destroy' }, 'action'],
    [{ action: 'get' }, 'id'],
    [{ action: 'list', id }, undefined],
    [{ action: 'list', limit: 1e12 }, 'limit'],
    [{ action: 'list', args: 7 }, 'args'],
    [{}, 'action'],
  ])('refuses %j', async (args, subject) => {
    const error = await session.fail(manageMemories, args);
    expect(error).toMatchObject({ code: 'invalid_input', ...(subject === undefined ? {} : { subject }) });
  });
});
