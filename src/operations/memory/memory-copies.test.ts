import { afterAll, describe, expect, it } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { memoryCopies } from './memory-copies.ts';

/** What copies hold, and restoring one: tests/memory/daily-copies.test.ts. */
describe('memory_copies', () => {
  it('says that there is none before anything was kept', async () => {
    const session = await memorySession(afterAll, { files: {} });
    const { data, answer } = await session.ok(memoryCopies);
    expect(data).toEqual({ copies: [] });
    expect(answer.body).toContain('There is no copy yet.');
  });

  it('refuses a day of which there is none', async () => {
    const session = await memorySession(afterAll, { files: {} });
    const error = await session.fail(memoryCopies, { restore: '2026-01-01', apply: true });
    expect(error.message).toContain('2026-01-01');
  });
});
