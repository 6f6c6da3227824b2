import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { writeTable } from '../../../tests/support/table-folder.ts';
import { memoryStatus } from '../memory/memory-status.ts';
import { embedderAdd } from './embedder-add.ts';
import { embedderRemove } from './embedder-remove.ts';
import { embedderTry } from './embedder-try.ts';

interface Trial {
  name: string;
  id?: string;
  hits: { text: string; score: number }[];
  problem?: string;
}

describe('embedders of the user', () => {
  it('are added, compared with the others on the memories of the project, and removed', async () => {
    const session = await memorySession(afterAll, {
      flags: { ollamaUrl: 'http://127.0.0.1:9', embedder: 'static' },
    });
    const folder = await writeTable(join(session.folder, 'models', 'kitchen'));
    await session.remember('decisions', 'dev', 'We bake on Fridays');
    await session.remember('decisions', 'dev', 'The ship leaves at noon');
    const added = await session.ok(embedderAdd, { folder: 'models/kitchen' });
    expect(added.data).toMatchObject({
      name: 'kitchen',
      folder,
      dim: 3,
      rows: 7,
      tokens: 'WordPiece',
      already: false,
    });
    expect(added.answer.body).toContain('set embedder = "table" and embedding_model = "kitchen"');
    expect((await session.ok(embedderAdd, { folder })).data).toMatchObject({ already: true });
    const other = await writeTable(join(session.folder, 'other'));
    expect(await session.fail(embedderAdd, { folder: other, name: 'kitchen' })).toMatchObject({
      code: 'conflict',
    });
    expect(await session.fail(embedderAdd, { folder: other, name: 'a b' })).toMatchObject({
      code: 'invalid_input',
    });

    const { data, answer } = await session.ok(embedderTry, { question: 'cake', limit: 1 });
    const trials = data['trials'] as Trial[];
    expect(trials.map(({ name }) => name)).toEqual(['built in', 'kitchen', 'ollama']);
    expect(trials[1]?.hits).toMatchObject([{ text: 'We bake on Fridays', score: 1 }]);
    expect(trials[2]?.problem).toMatch(/Ollama at http:\/\/127\.0\.0\.1:9 .* cannot be used/);
    expect(answer.body).toMatch(/kitchen: table\/kitchen@[0-9a-f]{12}, 3 dimensions, ready in /);

    expect((await session.ok(embedderRemove, { name: 'kitchen' })).data).toEqual({ name: 'kitchen', folder });
    expect(await session.fail(embedderRemove, { name: 'kitchen' })).toMatchObject({ code: 'not_found' });
  });

  it('serve the memory once the settings name them', async () => {
    const session = await memorySession(afterAll, { flags: { embedder: 'table' } });
    await session.ok(embedderAdd, { folder: await writeTable(join(session.folder, 'kitchen')) });
    expect((await session.ok(memoryStatus)).data).toMatchObject({
      embedder: expect.stringMatching(/^table\/kitchen@/) as string,
      dim: 3,
    });
    await session.remember('decisions', 'dev', 'We bake on Fridays');
    expect(await session.recall('cake')).toMatchObject([{ snippet: 'We bake on Fridays' }]);
  });

  it('are missed where the settings name one and none was added', async () => {
    const session = await memorySession(afterAll, { flags: { embedder: 'table' } });
    expect((await session.ok(memoryStatus)).data['notes']).toContainEqual(
      expect.stringContaining('The table embedder needs a table, and none was added'),
    );
  });

  it('have nothing to compare where nothing is remembered, and are not for others', async () => {
    const session = await openSession(afterAll);
    expect((await session.ok(embedderTry, { question: 'cake' })).answer.body).toContain(
      'no memories to compare',
    );
    const served = await openSession(afterAll, { forOthers: true });
    expect(await served.fail(embedderAdd, { folder: served.folder })).toMatchObject({ code: 'forbidden' });
  });
});
