import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { writeTable } from '../../../tests/support/table-folder.ts';
import { memoryStatus } from '../memory/memory-status.ts';
import { embedderAdd } from './embedder-add.ts';
import { embedderTry } from './embedder-try.ts';

interface Trial {
  name: string;
  id?: string;
  hits: { text: string; score: number }[];
  problem?: string;
}

describe('embedders of the user', () => {
  it('are compared with the others on the memories of the project', async () => {
    const session = await memorySession(afterAll, {
      flags: { ollamaUrl: 'http://127.0.0.1:9', embedder: 'static' },
    });
    const folder = await writeTable(join(session.folder, 'models', 'kitchen'));
    await session.remember('decisions', 'dev', 'We bake on Fridays');
    await session.remember('decisions', 'dev', 'The ship leaves at noon');
    await session.ok(embedderAdd, { folder });

    const { data, answer } = await session.ok(embedderTry, { question: 'cake', limit: 1 });
    const trials = data['trials'] as Trial[];
    expect(trials.map(({ name }) => name)).toEqual(['built in', 'kitchen', 'ollama']);
    expect(trials[1]?.hits).toMatchObject([{ text: 'We bake on Fridays', score: 1 }]);
    expect(trials[2]?.problem).toMatch(/Ollama at http:\/\/127\.0\.0\.1:9 .* cannot be used/);
    expect(answer.body).toMatch(/kitchen: table\/kitchen@[0-9a-f]{12}, 3 dimensions, ready in /);
  });

  it('serve the memory once the settings name them', async () => {
    const session = await memorySession(afterAll, { flags: { embedder: 'table' } });
    await session.ok(embedderAdd, { folder: await writeTable(join(session.folder, 'kitchen')) });
    expect((await session.ok(memoryStatus)).data).toMatchObject({
      embedder: expect.stringMatching(/^table\/kitchen@/) as string,
      dim: 3,
    });
    await session.remember('decisions', 'dev', 'We bake on Fridays');
    expect((await session.recall('cake'))[0]).toMatchObject({ snippet: 'We bake on Fridays' });
  });

  it('are missed where the settings name one and none was added', async () => {
    const session = await memorySession(afterAll, { flags: { embedder: 'table' } });
    expect((await session.ok(memoryStatus)).data['notes']).toContainEqual(
      expect.stringContaining('The table embedder needs a table, and none was added'),
    );
  });

  it('have nothing to compare where nothing is remembered', async () => {
    const session = await openSession(afterAll);
    expect((await session.ok(embedderTry, { question: 'cake' })).answer.body).toContain(
      'no memories to compare',
    );
  });
});
