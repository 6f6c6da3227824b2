import { afterAll, describe, expect, it } from 'vitest';
import { openSession } from '../../../tests/support/operations.ts';
import { queryRecords } from './records.ts';

const session = await openSession(afterAll);

describe('query_records', () => {
  it('takes names in any form, and tells what is offered from what is not', async () => {
    const records = async (input: object) =>
      (await session.ok(queryRecords, input)).data['records'] as { name: string; served: boolean }[];
    for (const name of ['architect', 'bmad-agent-architect', 'Winston'])
      expect(await records({ kind: 'agent', name })).toMatchObject([
        { name: 'bmad-agent-architect', served: true },
      ]);
    const old = await records({ served: false });
    expect(old.length).toBeGreaterThan(0);
    expect(old.every(({ served }) => !served)).toBe(true);
    expect(await records({ module: 'nowhere' })).toEqual([]);
  });
});
