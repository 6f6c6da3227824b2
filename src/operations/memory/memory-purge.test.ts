import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { memorySession, type MemorySession } from '../../../tests/support/memory-session.ts';
import { memoryForget, memoryGet, memoryRestore, memoryStats, memoryUpdate } from './memory-operations.ts';
import { memoryPurge } from './memory-upkeep.ts';
import { toolCall } from '../unified/forms.ts';

async function forgotten(): Promise<{ session: MemorySession; id: string; kept: string }> {
  const session = await memorySession(afterAll);
  const id = await session.remember('decisions', 'dev', 'The xylophone is tuned at noon');
  await session.ok(memoryUpdate, { id, text: 'The xylophone is tuned at dawn' });
  await session.ok(memoryForget, { id });
  return { session, id, kept: await session.remember('decisions', 'dev', 'The drums stay as they are') };
}

const TOMORROW = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);

/** Forgotten ones count until they are removed, and so do those of the project's files. */
const totalOf = async (session: MemorySession): Promise<number> =>
  (await session.ok(memoryStats)).data['total'] as number;

describe('memory_purge', () => {
  it('only says what would go, unless told to', async () => {
    const { session, id } = await forgotten();
    for (const input of [{ ids: [id] }, { forgotten_before: TOMORROW }]) {
      const { data, answer } = await session.ok(memoryPurge, input);
      expect(data).toMatchObject({ applied: false, revisions: 1, memories: [{ id }] });
      expect(answer.body).toMatch(/^Would be removed for good: 1 memory, 1 earlier version\n/);
      expect(answer.steps).toEqual([
        { operation: 'memory_purge', args: { ...input, apply: true }, why: 'Remove them for good' },
      ]);
    }
    await session.ok(memoryRestore, { id });
  });

  it.each(['ids', 'forgotten_before'])('removes for good, chosen by %s', async (by) => {
    const { session, id, kept } = await forgotten();
    const before = await totalOf(session);
    const chosen = by === 'ids' ? { ids: [id, id.toUpperCase()] } : { forgotten_before: TOMORROW };
    const { answer } = await session.ok(memoryPurge, { ...chosen, apply: true });
    expect(answer.body).toMatch(/^Removed for good: 1 memory, 1 earlier version\n/);
    expect((await session.fail(memoryGet, { id })).code).toBe('not_found');
    expect((await session.fail(memoryRestore, { id })).code).toBe('not_found');
    expect(await totalOf(session)).toBe(before - 1);
    expect((await session.ok(memoryGet, { id: kept })).data).toMatchObject({ stored: true });
    for (const name of ['decisions-log.md', 'memories.json'])
      expect(await readFile(join(session.folder, '_bmad/_memory', name), 'utf8')).not.toContain('xylophone');
    expect(await session.recall('xylophone')).toEqual([]);
  });

  it('tells where people have written the same, which nothing hides any more', async () => {
    const session = await memorySession(afterAll);
    const [row] = await session.recall('PostgreSQL ACID');
    await session.ok(memoryForget, { id: row?.id });
    const { data } = await session.ok(memoryPurge, { ids: [row?.id], apply: true });
    expect(data['notes']).toEqual([
      'Also written in _bmad/_memory/decisions-log.md:7: remove it there, or answers will have it again.',
    ]);
    expect(await session.recall('PostgreSQL ACID')).toMatchObject([{ id: row?.id, stored: false }]);
  });

  it('leaves what was forgotten later, and other types', async () => {
    const { session } = await forgotten();
    expect(
      (await session.ok(memoryPurge, { forgotten_before: '2020-01-01', apply: true })).data['memories'],
    ).toEqual([]);
    const other = { forgotten_before: TOMORROW, type: 'stories', apply: true };
    expect((await session.ok(memoryPurge, other)).answer.body).toBe(
      'Removed for good: 0 memories, 0 earlier versions',
    );
  });

  it('refuses what is not forgotten, not there, or not said, and removes nothing then', async () => {
    const { session, id, kept } = await forgotten();
    const before = await totalOf(session);
    const unknown = '00000000-0000-5000-8000-00000000000f';
    for (const [input, code] of [
      [{ ids: [id, kept] }, 'forbidden'],
      [{ ids: [id, unknown] }, 'not_found'],
      [{ ids: [id, 'x'] }, 'invalid_input'],
      [{ ids: [] }, 'invalid_input'],
      [{}, 'invalid_input'],
      [{ ids: [id], forgotten_before: TOMORROW }, 'invalid_input'],
      [{ forgotten_before: 'last year' }, 'invalid_input'],
    ] as const) {
      const error = await session.fail(memoryPurge, { ...input, apply: true });
      expect(error.code, JSON.stringify(input)).toBe(code);
      expect(error.wayOut(toolCall)).toBeTruthy();
    }
    expect(await totalOf(session)).toBe(before);
  });

  it('is refused in read-only mode', async () => {
    const still = await memorySession(afterAll, { flags: { embedder: 'none', readOnly: 'true' } });
    expect((await still.fail(memoryPurge, { forgotten_before: TOMORROW })).code).toBe('forbidden');
  });
});
