import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { embeddingServer } from '../../../tests/support/embedding-server.ts';
import { memorySession, type MemorySession } from '../../../tests/support/memory-session.ts';

const fileOf = ({ folder }: MemorySession): string => join(folder, '_bmad/_memory/activity.jsonl');

async function linesOf(session: MemorySession): Promise<Record<string, unknown>[]> {
  const text = await readFile(fileOf(session), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("a recall in the kit's log", () => {
  it('is a line as the kit writes it', async () => {
    const session = await memorySession(afterAll);
    await session.remember('decisions', 'dev', 'Zebras are counted every morning');
    const hits = await session.recall('zebras counted', { agent: 'dev' });
    await session.recall('nothing of the kind at all, quokka');
    const [, first, second] = await linesOf(session);
    expect(Object.keys(first ?? {})).toEqual(['ts', 'cmd', 'agent', 'mode', 'query', 'hits', 'top_score']);
    expect(first).toMatchObject({
      ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/) as string,
      cmd: 'recall',
      agent: 'dev',
      mode: 'local',
      query: 'zebras counted',
      hits: hits.length,
      top_score: hits[0]?.score,
    });
    expect(second).toMatchObject({ cmd: 'recall', agent: '', hits: 0, top_score: 0 });
  });

  it('says when meaning was compared, has no secrets, and is short', async () => {
    const { url } = await embeddingServer(afterAll);
    const session = await memorySession(afterAll, { flags: { ollamaUrl: url } });
    await session.recall(`password: hunter2hunter2\n${'and so on '.repeat(50)}`);
    const [line] = await linesOf(session);
    expect(line).toMatchObject({ mode: 'semantic' });
    expect(String(line?.['query'])).toMatch(/^password: \*\*\* and so on/);
    expect(String(line?.['query']).length).toBeLessThanOrEqual(80);
  });

  it('is left out where the project has no log, and in read-only mode', async () => {
    const session = await memorySession(afterAll);
    await rm(fileOf(session));
    await session.recall('cache redis');
    await expect(readFile(fileOf(session))).rejects.toThrow('ENOENT');
    const still = await memorySession(afterAll, { flags: { embedder: 'none', readOnly: 'true' } });
    await still.recall('cache redis');
    expect(await linesOf(still)).toEqual([]);
  });

  it('never makes a recall fail', async () => {
    const session = await memorySession(afterAll);
    await rm(fileOf(session));
    await mkdir(fileOf(session));
    expect(await session.recall('cache redis')).not.toEqual([]);
    const linked = await memorySession(afterAll);
    const outside = join(session.folder, 'outside.jsonl');
    await writeFile(outside, '');
    await rm(fileOf(linked));
    await symlink(outside, fileOf(linked));
    expect(await linked.recall('cache redis')).not.toEqual([]);
    expect(await readFile(outside, 'utf8')).toBe('');
    const locked = await memorySession(afterAll);
    await chmod(fileOf(locked), 0o400);
    expect(await locked.recall('cache redis')).not.toEqual([]);
  });
});
