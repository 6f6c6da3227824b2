import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { embeddingServer } from '../../../tests/support/embedding-server.ts';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { memoryStatus } from './memory-status.ts';
import { recallStructured } from './recall-structured.ts';
import { rememberStructured } from './remember-structured.ts';

const plain = { files: { 'package.json': '{}' } };

describe('memory_status', () => {
  it('tells engine, place, embedder and counts', async () => {
    const session = await memorySession(afterAll);
    await session.remember('decisions', 'dev', 'Something to be counted');
    const { data, answer } = await session.ok(memoryStatus);
    expect(data).toMatchObject({
      project: 'bmad-corner-shop',
      owner: 'project',
      engine: 'sqlite',
      embedder: 'none',
      memories: 1,
      degraded: false,
      notes: [],
    });
    expect(answer.body).toContain('Meaning: not compared, words only');
    expect(answer.body).toMatch(/Degraded: no$/);
  });

  it('names the engine that was asked for', async () => {
    const session = await memorySession(afterAll, {
      ...plain,
      flags: { embedder: 'none', memoryEngine: 'jsonl' },
    });
    expect((await session.ok(memoryStatus)).data).toMatchObject({ engine: 'jsonl', owner: 'user' });
  });

  it('writes without a log where a setting says that the folder does not bear one', async () => {
    const session = await memorySession(afterAll, {
      ...plain,
      flags: { embedder: 'none', memoryJournal: 'delete' },
    });
    await session.remember('stories', 'dev', 'Written without a log');
    expect((await session.ok(memoryStatus)).data).toMatchObject({
      details: { journal: 'delete' },
      degraded: false,
    });
  });

  it('says that an embedder does not answer, and why', async () => {
    const session = await memorySession(afterAll, { ...plain, flags: { ollamaUrl: 'http://127.0.0.1:9' } });
    const { data } = await session.ok(memoryStatus);
    expect(data).toMatchObject({ embedder: 'none', degraded: true });
    expect(String(data['notes'])).toMatch(/Words only.*127\.0\.0\.1:9.*cannot be reached.*ollama pull/);
    await session.remember('stories', 'dev', 'Remembered all the same');
    expect(await session.recall('remembered same')).toHaveLength(1);
  });

  it('takes the dimension that a server really has', async () => {
    const server = await embeddingServer(afterAll);
    server.dim = 17;
    const flags = { embedder: 'openai', openaiUrl: `${server.url}/v1`, openaiApiKey: 'key-of-the-server' };
    const session = await memorySession(afterAll, { ...plain, flags });
    expect((await session.ok(memoryStatus)).data).toMatchObject({
      embedder: 'openai/text-embedding-3-small',
      dim: 17,
    });
  });

  it('says that a damaged store was left as it is, and what to do', async () => {
    const session = await memorySession(afterAll);
    const folder = join(session.folder, '_bmad/_memory/.bmad-memory');
    await mkdir(folder);
    await writeFile(
      join(folder, '.bmad-memory.db'),
      'this is no database, whatever its name says '.repeat(100),
    );
    const { data, failed } = await session.ok(memoryStatus);
    expect(failed).toBe(true);
    expect(data).toMatchObject({ engine: 'none', degraded: true });
    expect(String(data['notes'])).toMatch(/is damaged\. It was left unchanged\..*import/);
    const given = { type: 'stories', agent: 'dev', text: 'A text that is long enough' };
    expect((await session.fail(rememberStructured, given)).code).toBe('unavailable');
    const recalled = await session.ok(recallStructured, { query: 'cache redis' });
    expect(recalled.answer.body).toContain('fullstack-dev.md:5');
    expect(recalled.answer.note).toMatch(/^DEGRADED.*is damaged.*Move it elsewhere/);
  });

  it('wants an address for Qdrant, and a folder for transformers', async () => {
    const qdrant = await memorySession(afterAll, {
      ...plain,
      flags: { embedder: 'none', memoryEngine: 'qdrant' },
    });
    expect(String((await qdrant.ok(memoryStatus)).data['notes'])).toContain('BMAD_QDRANT_URL');
    const model = await memorySession(afterAll, { ...plain, flags: { embedder: 'transformers' } });
    expect(String((await model.ok(memoryStatus)).data['notes'])).toContain('BMAD_MODEL_FOLDER');
    const missing = await memorySession(afterAll, {
      ...plain,
      flags: { embedder: 'transformers', modelFolder: '/nowhere' },
    });
    expect(String((await missing.ok(memoryStatus)).data['notes'])).toContain('there is no folder /nowhere');
  });
});
