import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { headline } from './memory-view.ts';
import { readResource } from '../client/resources.ts';

afterEach(() => void vi.unstubAllEnvs());

const SHOWN = { type: 'decisions', agent: 'architect', tags: ['db'] } as const;

describe('the headline of a memory', () => {
  it.each([
    ['Pacific/Kiritimati', '2026-11-15T12:30:00.000Z', '2026-11-16'],
    ['Pacific/Pago_Pago', '2026-11-15T08:30:00.000Z', '2026-11-14'],
    ['UTC', '2026-11-15T23:30:00.000Z', '2026-11-15'],
  ])('has the day where the user is: %s', (zone, updatedAt, day) => {
    vi.stubEnv('TZ', zone);
    expect(headline({ ...SHOWN, tags: ['db'], updatedAt })).toBe(`[decisions] architect, ${day}, #db`);
  });

  it('has no day where nobody wrote one down', () => {
    vi.stubEnv('TZ', 'Pacific/Pago_Pago');
    const updatedAt = '1970-01-01T00:00:00.000Z';
    expect(headline({ ...SHOWN, tags: [], updatedAt })).toBe('[decisions] architect');
  });
});

describe('the resource of a type', () => {
  it('says in English what it is, as all answers do', async () => {
    const session = await memorySession(onTestFinished, { files: {} });
    await session.remember('decisions', 'architect', 'Orders are kept in PostgreSQL');
    const { data } = await session.ok(readResource, { uri: 'bmad://memory/decisions' });
    expect(data['text']).toMatch(/\n> Exported: \d{4}-\d{2}-\d{2} \| Entries: 1\n/);
  });
});
