import { afterAll, describe, expect, it } from 'vitest';
import { memoryForget } from '../../src/operations/memory-change.ts';
import { memoryMove } from '../../src/operations/memory-transfer.ts';
import { memoryStatus } from '../../src/operations/memory-status.ts';
import { recallStructured } from '../../src/operations/recall-structured.ts';
import { rememberStructured } from '../../src/operations/remember-structured.ts';
import { embeddingServer } from '../support/embedding-server.ts';
import { memorySession } from '../support/memory-session.ts';
import { FakeQdrant } from './fake-qdrant.ts';

async function qdrant(apiKey?: string): Promise<{ fake: FakeQdrant; url: string }> {
  const fake = new FakeQdrant(apiKey);
  const url = await fake.start();
  afterAll(() => fake.stop());
  return { fake, url };
}

const given = { type: 'decisions', agent: 'dev', text: 'Postgres is used for the orders', tags: ['db'] };

describe('the operations on Qdrant', () => {
  it('remember, recall and forget, with the ids and payloads of the kit', async () => {
    const { fake, url } = await qdrant('the-key-of-qdrant');
    const embedder = await embeddingServer(afterAll);
    const session = await memorySession(afterAll, {
      flags: { qdrantUrl: url, qdrantApiKey: 'the-key-of-qdrant', ollamaUrl: embedder.url },
    });
    const { data } = await session.ok(rememberStructured, given);
    expect(data['outcome']).toBe('created');
    const { id } = data['memory'] as { id: string };
    expect((await session.ok(rememberStructured, given)).data['outcome']).toBe('unchanged');
    const [hit] = await session.recall('database orders', { type: 'decisions' });
    expect(hit).toMatchObject({ id, stored: true });
    expect(hit?.meaning).toBeGreaterThan(0);
    expect((await session.ok(memoryStatus)).data).toMatchObject({ engine: 'qdrant', dim: 64, memories: 1 });
    expect([...fake.aliases.keys()]).toContain('bmad-corner-shop-decisions');
    await session.ok(memoryForget, { id });
    expect((await session.recall('postgres orders')).map((found) => found.id)).not.toContain(id);
    expect((await session.fail(memoryMove)).message).toContain('Qdrant');
  });

  it('say clearly what is wrong, and search the files of the project all the same', async () => {
    const { url } = await qdrant('right');
    for (const [flags, reason] of [
      [{ qdrantUrl: 'http://127.0.0.1:9' }, /127\.0\.0\.1:9/],
      [{ qdrantUrl: url, qdrantApiKey: 'wrong-key' }, /key/i],
    ] as const) {
      const session = await memorySession(afterAll, { flags: { embedder: 'none', ...flags } });
      const error = await session.fail(rememberStructured, given);
      expect(error.text).toMatch(reason);
      expect(error.text).not.toContain('wrong-key');
      const { answer } = await session.ok(recallStructured, { query: 'cache redis' });
      expect(answer.body).toContain('fullstack-dev.md:5');
      expect(answer.note).toMatch(/^DEGRADED/);
      expect((await session.ok(memoryStatus)).data).toMatchObject({ degraded: true });
    }
  });
});
