import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { homeBeside } from '../../../tests/support/app.ts';
import { embeddingServer } from '../../../tests/support/embedding-server.ts';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { memoryStatus } from './memory-operations.ts';
import { recallStructured } from './recall-structured.ts';

const plain = { files: { 'package.json': '{}' } };

describe('memory_status', () => {
  it('tells where the lines and the index are, embedder and counts', async () => {
    const session = await memorySession(afterAll);
    await session.remember('decisions', 'dev', 'Something to be counted');
    const { data, answer } = await session.ok(memoryStatus);
    expect(data).toMatchObject({
      project: 'bmad-corner-shop',
      owner: 'project',
      place: expect.stringMatching(/_bmad[\\/]_memory[\\/]\.bmad-memory$/) as unknown,
      files: 1,
      engine: 'sqlite',
      index: expect.stringMatching(/\.cache[\\/].*[\\/]memories[\\/][^\\/]+\.db$/) as unknown,
      embedder: 'none',
      memories: 1,
      degraded: false,
      notes: [],
    });
    expect(answer.body).toMatch(/^Lines: 1 file in .+ \(the project's own; private, git ignores them\)$/m);
    expect(answer.body).toContain('it can be deleted at any time');
    expect(answer.body).toContain('Meaning: not compared, words only');
    expect(answer.body).toMatch(/Degraded: no$/);
  });

  it('names the engine that was asked for', async () => {
    const session = await memorySession(afterAll, {
      ...plain,
      flags: { embedder: 'none', memoryEngine: 'memory' },
    });
    const { data, answer } = await session.ok(memoryStatus);
    expect(data).toMatchObject({ engine: 'memory', owner: 'user', files: 0 });
    expect(answer.body).toContain('Index: in the memory of this process, made from the lines');
  });

  it('writes without a log where a setting says that the folder does not bear one', async () => {
    const session = await memorySession(afterAll, {
      ...plain,
      flags: { embedder: 'none', memoryJournal: 'delete' },
    });
    await session.remember('stories', 'dev', 'Written without a log');
    expect((await session.ok(memoryStatus)).data).toMatchObject({ engine: 'sqlite', degraded: false });
    const cache = join(homeBeside(session.folder), '.cache/bmad-mcp-server/memories');
    expect((await readdir(cache)).map((name) => name.replace(/^.*\.db/, '.db'))).toEqual(['.db']);
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

  it('says that a damaged store of an earlier version was left as it is, and what to do', async () => {
    const session = await memorySession(afterAll);
    const folder = join(session.folder, '_bmad/_memory/.bmad-memory');
    await mkdir(folder);
    await writeFile(
      join(folder, '.bmad-memory.db'),
      'this is no database, whatever its name says '.repeat(100),
    );
    const { data } = await session.ok(memoryStatus);
    expect(data).toMatchObject({ engine: 'sqlite', degraded: true });
    expect(String(data['notes'])).toMatch(/cannot be read\. It was left unchanged\..*import/);
    await session.remember('stories', 'dev', 'Remembered all the same');
    const recalled = await session.ok(recallStructured, { query: 'cache redis' });
    expect(recalled.answer.body).toContain('fullstack-dev.md:5');
    expect(recalled.answer.note).toMatch(/cannot be read.*Move it elsewhere/);
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
