import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { memoryForget, memoryStatus } from '../../src/operations/memory/memory-operations.ts';
import { moveState } from '../../src/operations/project/state.ts';
import { recallStructured } from '../../src/operations/memory/recall-structured.ts';
import { rememberStructured } from '../../src/operations/memory/remember.ts';
import { embeddingServer } from '../support/embedding-server.ts';
import { temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/kit-project.ts';
import { memorySession, type MemorySession } from '../support/memory-session.ts';
import { FakeQdrant } from './fake-qdrant.ts';

const git = (cwd: string, ...words: string[]): Promise<unknown> => promisify(execFile)('git', words, { cwd });

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
    expect([...fake.collections.keys()]).toContain('bmad-corner-shop-decisions');
    await session.ok(memoryForget, { id });
    expect((await session.recall('postgres orders')).map((found) => found.id)).not.toContain(id);
    expect((await session.fail(moveState)).code).toBe('not_found');
  });

  it('ask it at most six times in a recall, also beside files and under a filter (B-03, Q-E4)', async () => {
    const { fake, url } = await qdrant();
    for (const embedder of [{ ollamaUrl: (await embeddingServer(afterAll)).url }, { embedder: 'none' }]) {
      const session = await memorySession(afterAll, { flags: { qdrantUrl: url, ...embedder } });
      await session.ok(rememberStructured, given);
      const old = await session.remember('decisions', 'pm', 'Orders can be cancelled for one day');
      await session.ok(memoryForget, { id: old });
      await session.recall('orders');
      for (const [query, more] of [
        ['which database keeps the orders, and why?', {}],
        ['livré sans tests', {}],
        ['orders', { type: 'decisions' }],
        ['what did dev decide?', { agent: 'dev' }],
        ['what did dev decide?', { agent: 'Développeur' }],
      ] as const) {
        fake.requests.length = 0;
        expect(await session.recall(query, more), query).not.toEqual([]);
        expect(fake.requests.length, fake.requests.join('\n')).toBeLessThanOrEqual(6);
      }
      expect((await session.recall('cancelled orders')).map(({ id }) => id)).not.toContain(old);
    }
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

  it('leave a collection of other dimensions alone, and find what it has', async () => {
    const { fake, url } = await qdrant();
    const payload = {
      text: 'Pallets are counted by the night shift',
      agent: 'atlas',
      type: 'decisions',
      tags: [],
      project: 'bmad-corner-shop',
      created_at: '2026-02-03T04:05:06.000007',
    };
    const id = '728cfd79-2a3f-5f9a-ad84-d776ac131a77';
    const vector = Array.from({ length: 384 }, () => 0.05);
    const theirs = { config: { vectors: { size: 384 } }, indexes: {}, points: new Map() };
    theirs.points.set(id, { id, vector, payload });
    fake.collections.set('bmad-corner-shop-decisions', theirs);
    const embedder = await embeddingServer(afterAll);
    const session = await memorySession(afterAll, { flags: { qdrantUrl: url, ollamaUrl: embedder.url } });
    await session.ok(rememberStructured, given);
    const [hit] = await session.recall('pallets night shift', { type: 'decisions' });
    expect(hit).toMatchObject({ id, stored: true });
    // As it was: one point, its own vector, no index or payload of ours.
    expect(theirs).toEqual({
      config: { vectors: { size: 384 } },
      indexes: {},
      points: new Map([[id, { id, vector, payload }]]),
    });
    expect((await session.ok(memoryStatus)).data).toMatchObject({ dim: 64, memories: 2, degraded: false });
  });

  it('write nothing into a collection of ours that somebody has made with other dimensions', async () => {
    const { fake, url } = await qdrant();
    const embedder = await embeddingServer(afterAll);
    const flags = { qdrantUrl: url, ollamaUrl: embedder.url };
    const first = await memorySession(afterAll, { flags });
    await first.ok(rememberStructured, given);
    const strange = { config: { vectors: { size: 7 } }, indexes: {}, points: new Map() };
    fake.collections.set('bmad-corner-shop-decisions', strange);
    await (await memorySession(afterAll, { flags })).ok(rememberStructured, given);
    expect(strange.points.size).toBe(0);
    const beside = [...fake.collections.keys()].find((each) => each.includes('decisions--')) ?? '';
    fake.collections.set(beside, strange);
    const session = await memorySession(afterAll, { flags });
    const error = await session.fail(rememberStructured, given);
    expect(error.text).toMatch(/contains vectors from another embedder \(unknown, 7 dimensions\)/);
    expect(error.text).toMatch(/Rename or remove that collection/);
    expect(strange.points.size).toBe(0);
    const { answer } = await session.ok(recallStructured, { query: 'cache redis' });
    expect(answer.body).toContain('fullstack-dev.md:5');
    expect(answer.note).toMatch(/^DEGRADED.*7 dimensions.*Rename or remove/s);
    const status = await session.ok(memoryStatus);
    expect(String(status.data['notes'])).toMatch(/7 dimensions/);
  });

  it('tell that the server has gone away in the middle, and go on when it is back', async () => {
    const { fake, url } = await qdrant();
    const session = await memorySession(afterAll, { flags: { embedder: 'none', qdrantUrl: url } });
    await session.ok(rememberStructured, given);
    // More than any call tries again.
    fake.faults.push(...Array.from({ length: 200 }, () => 503));
    const error = await session.fail(rememberStructured, { ...given, text: 'Written while it is away' });
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(error.text).toContain(url);
    const { answer } = await session.ok(recallStructured, { query: 'cache redis' });
    expect(answer.note).toMatch(/^DEGRADED/);
    fake.faults.splice(0);
    expect(await session.recall('postgres orders', { type: 'decisions' })).toContainEqual(
      expect.objectContaining({ stored: true }),
    );
    await session.ok(rememberStructured, { ...given, text: 'Written when it is back again' });
  });

  it('keep projects apart that happen to have the same name, and join the worktrees of one (B-01, B-14)', async () => {
    const { url } = await qdrant();
    const env = { PATH: process.env['PATH'] ?? '' };
    const home = await temporaryFolder(afterAll);
    const at = (cwd: string) =>
      memorySession(afterAll, { cwd, home, env, files: {}, flags: { qdrantUrl: url, embedder: 'none' } });
    const folder = async (...path: string[]): Promise<string> => {
      const made = join(await temporaryFolder(afterAll), ...path);
      await mkdir(made, { recursive: true });
      return made;
    };
    const found = async (session: MemorySession): Promise<string[]> =>
      (await session.recall('orders')).map(({ snippet }) => snippet);
    // Without git, in folders of the same name.
    const plain = await folder('app');
    const [one, other] = [await at(plain), await at(await folder('app'))];
    await one.remember('decisions', 'dev', 'Orders are kept for a year');
    expect(await found(one)).toHaveLength(1);
    expect(await found(other)).toEqual([]);
    expect((await other.ok(memoryStatus)).answer.body).toContain('give the project that name');
    // Two that an installer has called the same, and a worktree of the first.
    const installed = { '_bmad/bmm/config.yaml': 'project_name: shop\n' };
    const [first, second] = [await folder('a'), await folder('b')];
    for (const root of [first, second]) {
      await writeFiles(root, { ...installed, 'README.md': root });
      await git(root, 'init', '-q');
      await git(root, 'add', '.');
      await git(root, '-c', 'user.name=A', '-c', 'user.email=a@example.org', 'commit', '-qm', 'Begin');
    }
    const tree = join(await temporaryFolder(afterAll), 'tree');
    await git(first, 'worktree', 'add', '-q', tree);
    await (await at(first)).remember('decisions', 'dev', 'Orders are paid before they are sent');
    expect(await found(await at(second))).toEqual([]);
    expect(await found(await at(tree))).toEqual(['Orders are paid before they are sent']);
    // A project that becomes a repository keeps its memories.
    await git(plain, 'init', '-q');
    await git(
      plain,
      '-c',
      'user.name=A',
      '-c',
      'user.email=a@example.org',
      'commit',
      '-qm',
      'x',
      '--allow-empty',
    );
    expect(await found(await at(plain))).toEqual(['Orders are kept for a year']);
  });
});
