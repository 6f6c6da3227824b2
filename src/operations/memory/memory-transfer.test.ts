import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { embeddingServer } from '../../../tests/support/embedding-server.ts';
import { contextIn, testCall } from '../../../tests/support/app.ts';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { execute } from '../execute.ts';
import {
  memoryForget,
  memoryGet,
  memoryStats,
  memoryStatus,
  memorySupersede,
  memoryUpdate,
} from './memory-operations.ts';
import { memoryExport, memoryImport, memoryReindex } from './memory-upkeep.ts';
import { moveState } from '../project/state.ts';

const plain = { files: { 'package.json': '{}' } };

describe('memory_export and memory_import', () => {
  it('carry everything from one project to another', async () => {
    const from = await memorySession(afterAll);
    await from.remember('decisions', 'architect', 'PostgreSQL for orders\nand for carts', ['db', 'orders']);
    await from.remember('failures', 'dev', 'Run `npm test` before saying `done`');
    const markdown = (await from.ok(memoryExport)).answer;
    expect(markdown.body).toMatch(
      /^# decisions — bmad-corner-shop\n\n> Exported: \d{4}-\d{2}-\d{2} \| Entries: 1\n\n## architect\n\n- \[\d{4}-\d{2}-\d{2}\] PostgreSQL for orders and for carts `db` `orders`\n/,
    );
    const lines = (await from.ok(memoryExport, { format: 'jsonl' })).answer;
    expect(JSON.parse(lines.body.split('\n')[0] ?? '')).toMatchObject({
      text: 'PostgreSQL for orders\nand for carts',
      agent: 'architect',
      type: 'decisions',
      tags: ['db', 'orders'],
      project: 'bmad-corner-shop',
      created_at: expect.stringMatching(/\.\d{6}$/) as unknown,
    });
    for (const [format, text] of [
      ['markdown', 'PostgreSQL for orders and for carts'],
      ['jsonl', 'PostgreSQL for orders\nand for carts'],
    ] as const) {
      const to = await memorySession(afterAll, plain);
      await writeFile(join(to.folder, 'export'), (await from.ok(memoryExport, { format })).answer.body);
      expect((await to.ok(memoryImport, { file: 'export' })).data).toMatchObject({
        created: 2,
        refusedCount: 0,
      });
      expect((await to.ok(memoryImport, { file: 'export' })).data).toMatchObject({
        created: 0,
        unchanged: 2,
      });
      const [hit] = await to.recall('postgresql carts');
      expect((await to.ok(memoryGet, { id: hit?.id })).data['memory']).toMatchObject({
        text,
        tags: ['db', 'orders'],
        agent: 'architect',
      });
    }
  });

  it('bring a project back as it was: ids, earlier versions and marks', async () => {
    const from = await memorySession(afterAll);
    const kept = await from.remember('decisions', 'dev', 'Kept and then changed', ['first']);
    await from.ok(memoryUpdate, { id: kept, text: 'Now it says something else' });
    const gone = await from.remember('stories', 'dev', 'Forgotten before the export');
    await from.ok(memoryForget, { id: gone });
    const old = await from.remember('stories', 'dev', 'Superseded before the export');
    await from.ok(memorySupersede, { id: old, by: kept });
    const text = (await from.ok(memoryExport, { format: 'jsonl', all: true })).answer.body;
    const to = await memorySession(afterAll);
    // Of the project's own files.
    const before = (await to.ok(memoryStats)).data['live'] as number;
    await writeFile(join(to.folder, 'all.jsonl'), text);
    const first = (await to.ok(memoryImport, { file: 'all.jsonl' })).data;
    expect(first).toMatchObject({ created: 3, refusedCount: 0 });
    const again = (await to.ok(memoryImport, { file: 'all.jsonl' })).data;
    expect(again).toMatchObject({ created: 0, updated: 0, unchanged: 3 });
    expect((await to.ok(memoryExport, { format: 'jsonl', all: true })).answer.body).toBe(text);
    expect((await to.ok(memoryGet, { id: kept })).data).toMatchObject({
      memory: { text: 'Now it says something else', revision: 2 },
      revisions: [{ text: 'Kept and then changed' }],
    });
    expect((await to.ok(memoryStats)).data).toMatchObject({ live: before + 1, superseded: 1, forgotten: 1 });
    // What was said since the export stays.
    await to.ok(memoryUpdate, { id: kept, text: 'Said after the export' });
    await to.ok(memoryImport, { file: 'all.jsonl' });
    expect((await to.ok(memoryGet, { id: kept })).data).toMatchObject({
      memory: { text: 'Said after the export' },
    });
  });

  it('bring vectors back as those of what is remembered, though the embedder gives long ones', async () => {
    const { url } = await embeddingServer(afterAll);
    const embedding = { flags: { ollamaUrl: url } };
    const from = await memorySession(afterAll, embedding);
    await from.remember('decisions', 'dev', 'Postgres keeps the orders');
    await from.remember('stories', 'dev', 'Orders orders orders and the tale of how the orders came to be');
    const text = (await from.ok(memoryExport, { format: 'jsonl' })).answer.body;
    const to = await memorySession(afterAll, embedding);
    await writeFile(join(to.folder, 'all.jsonl'), text);
    expect((await to.ok(memoryImport, { file: 'all.jsonl' })).data).toMatchObject({ created: 2 });
    const meanings = async (session: typeof to): Promise<object[]> =>
      (await session.recall('which database has orders?')).map(({ id, meaning }) => ({ id, meaning }));
    expect(await meanings(to)).toEqual(await meanings(from));
    expect(await meanings(to)).not.toContainEqual({ id: expect.anything() as unknown, meaning: undefined });
  });

  it('give the reason of each refusal', async () => {
    const from = await memorySession(afterAll);
    const gone = await from.remember('stories', 'dev', 'Forgotten before the export');
    await from.ok(memoryForget, { id: gone });
    const text = (await from.ok(memoryExport, { format: 'jsonl', all: true })).answer.body;
    const to = await memorySession(afterAll, plain);
    await writeFile(join(to.folder, 'all.jsonl'), `${text}{"id":3}\n[broken\n{"text":"short"}\n`);
    const { body } = (await to.ok(memoryImport, { file: 'all.jsonl' })).answer;
    expect(body).toContain('4 refused');
    expect(body).toContain('It was forgotten in the project it came from.');
    expect(body).toContain('- "{"id":3}": It has no "text"');
    expect(body).toContain('- "[broken": It is not a JSON object.');
    expect(body).toMatch(/- "short": \S/);
  });

  it('take what the kit has written, and refuse what cannot be kept', async () => {
    const session = await memorySession(afterAll, plain);
    const files: Record<string, [string, object]> = {
      'memories.json': [
        JSON.stringify([
          {
            id: 1,
            memory: 'A memory of the old form',
            metadata: { agent: 'dev', timestamp: '2026-01-02T03:04:05' },
          },
          { id: 2, text: 'short', type: 'decisions' },
          { id: 3 },
        ]),
        { created: 1, refusedCount: 2 },
      ],
      'points.jsonl': [
        '{"id":"x","payload":{"text":"A point of a collection","agent":"pm","type":"stories","tags":["t"],"created_at":"2026-01-02T03:04:05.000001"}}\nnot json\n',
        { created: 1, refusedCount: 1 },
      ],
      'learnings.md': ['# Learnings — dev\n\n> x\n\n- [2026-01-01] Always run `npm test`\n', { created: 1 }],
    };
    for (const [file, [text, expected]] of Object.entries(files)) {
      await writeFile(join(session.folder, file), text);
      expect((await session.ok(memoryImport, { file })).data).toMatchObject(expected);
    }
    const [learning] = await session.recall('npm test');
    expect(learning).toMatchObject({
      agent: 'dev',
      type: 'agent-learnings',
      snippet: 'Always run `npm test`',
    });
    await session.ok(memoryForget, { id: learning?.id });
    await session.ok(memoryImport, { file: 'learnings.md' });
    expect(await session.recall('npm test')).toEqual([]);
    await writeFile(join(session.folder, 'empty.md'), 'Nothing.\n');
    expect((await session.fail(memoryImport, { file: 'empty.md' })).code).toBe('invalid_input');
    expect((await session.fail(memoryImport, { file: 'missing.md' })).code).toBe('not_found');
  });
});

describe('memory_move', () => {
  it('brings memories, their history and their marks into the project', async () => {
    const session = await memorySession(afterAll, plain);
    const kept = await session.remember('decisions', 'dev', 'Kept from before the move');
    await session.ok(memoryUpdate, { id: kept, text: 'Kept and changed before the move' });
    const gone = await session.remember('stories', 'dev', 'Forgotten before the move');
    await session.ok(memoryForget, { id: gone });
    const old = await session.remember('stories', 'dev', 'Superseded before the move');
    await session.ok(memorySupersede, { id: old, by: kept });
    const { data } = await session.ok(moveState, { apply: true });
    const [moved] = data['parts'] as { kept: string }[];
    expect(moved).toMatchObject({ part: 'memories', count: 2, to: '_bmad-output/.memory/.bmad-memory' });
    expect(await readdir(moved?.kept ?? '')).toEqual([expect.stringMatching(/^\d{4}-/)]);
    expect((await session.ok(memoryGet, { id: kept })).data['revisions']).toHaveLength(1);
    expect((await session.ok(memoryStats)).data).toMatchObject({
      live: 1,
      superseded: 1,
      forgotten: 1,
    });
    expect((await session.ok(memoryStatus)).data).toMatchObject({ owner: 'project', notes: [] });
    expect((await session.fail(moveState)).message).toContain('There is nothing to move');
  });

  it('is counted, and searched, when the project gets a folder of its own', async () => {
    const session = await memorySession(afterAll, plain);
    await session.remember('decisions', 'dev', 'Remembered without a folder');
    await mkdir(join(session.folder, '_bmad/_memory'), { recursive: true });
    const { data, answer } = await session.ok(memoryStatus);
    expect(data['notes']).toEqual(['On this machine only: 1 memory.']);
    expect(await session.recall('remembered folder')).toHaveLength(1);
    expect(data['steps']).toMatchObject([{ operation: 'move_state' }]);
    expect(answer.steps).toEqual(data['steps']);
    await session.ok(moveState, { apply: true });
    expect(await session.recall('remembered folder')).toHaveLength(1);
  });
});

describe('memory_reindex', () => {
  it('makes the vectors of another embedder, and tells how far it is', async () => {
    const server = await embeddingServer(afterAll);
    const session = await memorySession(afterAll, plain);
    for (let number = 0; number < 70; number++)
      await session.remember('stories', 'dev', `Story number ${number} about the orders`);
    const context = await contextIn(session.folder, { flags: { ollamaUrl: server.url }, patient: true });
    const told: string[] = [];
    const call = { ...testCall(), progress: (message: string) => void told.push(message) };
    const before = await execute(memoryStatus, {}, context, call);
    expect(before).toMatchObject({
      data: {
        embedder: 'ollama/nomic-embed-text',
        dim: 64,
        vectors: { done: 0, total: 70 },
        degraded: false,
      },
    });
    expect(await execute(memoryReindex, {}, context, call)).toMatchObject({ data: { done: 70, total: 70 } });
    expect(told).toEqual(['64 of 70 memories', '70 of 70 memories']);
  });
});
